// The loops over the rows of an example for many settings side by side, with a schedule. adagrad_columns.hpp has those of
// AdaGrad.
#pragma once

#include <cstdint>

#include "riata/linear/decay.hpp"
#include "riata/simd/instructions.hpp"

namespace riata {

inline constexpr double kLargestBankScore = 1e150;  // as for one model

// Up to eight columns of one group: which they are of all and of the group, how many there are, and what weights are brought
// current by.
struct BankPart {
  int at, first, have;
  const double* now;    // the running scalar of each of all columns
  const double* theta;  // of truncate and round
};

// The cells of the features of an example, of each the running scalars that its group had at the last touch, and the values
// as the group sees them.
struct BankEntries {
  double* const* cells;
  const double* const* marks;
  const float* x;
  std::int64_t n;
};

// Columns of the log loss, and the example that they have just scored: scale * factor * dot + intercept + offset.
struct LogLossColumns {
  int n;
  const double *scales, *dot, *intercept;
  double factor, offset, low, high;  // scores are cut off at both
  double y, weight;                  // y: -1 or 1
  double *scores, *slopes;           // out; slopes times the weight
};

struct BankKernels {
  // The sums of weights, brought current, times x go to `dot`, and the weights to `current`, eight for each feature.
  void (*gather)(const BankPart&, const BankEntries&, double* current, double* dot) noexcept;
  // Moves the weights by -gradient * x from `current`.
  void (*push)(const BankPart&, const BankEntries&, const double* gradient, const double* current) noexcept;
  // The same where the running scalars have changed since: brings weights current once more.
  void (*push_anew)(const BankPart&, const BankEntries&, const double* gradient) noexcept;
};

struct AllBankKernels {
  BankKernels shrink, truncate, round;
  // False: a slope is zero, or a score or slope leaves the range that a model may have. All are written even so.
  bool (*log_loss)(const LogLossColumns&) noexcept;

  const BankKernels& of(DecayKind kind) const noexcept {
    if (kind == DecayKind::truncate) return truncate;
    return kind == DecayKind::round ? round : shrink;
  }
};

RIATA_DECLARE_KERNELS(AllBankKernels, bank_kernels)

}  // namespace riata
