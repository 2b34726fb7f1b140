// The loops over the rows of an example for many settings of AdaGrad side by side, up to eight columns at a time.
#pragma once

#include <cstdint>

#include "riata/linear/adagrad_kernels.hpp"
#include "riata/linear/rules/adagrad_step.hpp"
#include "riata/simd/instructions.hpp"

namespace riata {

// The numbers of all columns, and where in the cells of a feature their roots begin.
struct AdaGradColumns {
  const double *rates, *l1, *l2, *gravity, *theta;
  double period, first;
  int roots;
};

// Up to eight columns of one group, and the example that it learns.
struct AdaGradPart {
  int at, have;      // the first column, and how many there are
  bool ends_period;  // there is a penalty after this example
};

// The cells of its features, of each how many penalties the group has missed there, and the values as the group sees them.
struct AdaGradEntries {
  double* const* cells;
  const double* missed;
  const float* x;
  std::int64_t n;
};

// The same for the log loss: weight times the slope after the step, from scores before it and from how far these move for
// a slope of one.
struct ImplicitColumns {
  int n;
  double y, weight;  // y: -1 or 1
  const double *scores, *strengths;
  double* slopes;  // out
};

struct BankAdaGradKernels {
  // The sums of weights, brought current, times x go to `dot`, and the weights to `current`, eight for each feature.
  void (*gather)(const AdaGradColumns&, const AdaGradPart&, const AdaGradEntries&, double* current,
                 double* dot) noexcept;
  // Adds this example's gradients, slopes times factor * x, to the roots. Rates go to `rates`, eight for each feature, and
  // how far scores move for a slope of one is added to `strengths`.
  void (*prepare)(const AdaGradColumns&, const AdaGradPart&, const AdaGradEntries&, const double* slopes,
                  double factor, double* rates, double* strengths) noexcept;
  // Moves every weight by -rate * slope * x, with its penalty where one is due.
  void (*push)(const AdaGradColumns&, const AdaGradPart&, const AdaGradEntries&, const double* slopes,
               const double* current, const double* rates) noexcept;
};

struct AllBankAdaGradKernels : OfPenalties<BankAdaGradKernels> {
  void (*implicit)(const ImplicitColumns&) noexcept;
};

RIATA_DECLARE_KERNELS(AllBankAdaGradKernels, bank_adagrad_kernels)

}  // namespace riata
