// The loops over the rows of an example for AdaGrad with one column. A row begins with the weight, the root of the sum of
// squared gradients, and how many penalties it has had.
#pragma once

#include <cstdint>

#include "riata/linear/rules/adagrad_step.hpp"
#include "riata/simd/instructions.hpp"

namespace riata {

struct AdaGradNow {
  AdaGradPenalty penalty;
  double rate;       // of a root of 1
  double first;      // what roots start with
  double penalties;  // so many there have been
  bool ends_period;  // there is one after this example
};

// Room for what is known of each row between two of the loops.
struct AdaGradScratch {
  double *current, *roots, *rates;
};

struct AdaGradKernels {
  // The sum of weights, brought current, times x. The weights go to scratch.current, unless that is null.
  double (*gather)(const AdaGradNow&, double* const* rows, const float* x, std::int64_t n,
                   const AdaGradScratch& scratch) noexcept;
  // Roots and rates with this example's gradient, the slope times factor * x, and how far the score moves for a slope of
  // one: the sum of rates times (factor * x)^2.
  double (*prepare)(const AdaGradNow&, double* const* rows, const float* x, std::int64_t n, double slope,
                    double factor, const AdaGradScratch& scratch) noexcept;
  // Moves every weight by -rate * slope * x, with its penalty where one is due.
  void (*push)(const AdaGradNow&, double* const* rows, const float* x, std::int64_t n, double slope,
               const AdaGradScratch& scratch) noexcept;
  // The same where rows may be the same.
  double (*prepare_shared)(const AdaGradNow&, double* const* rows, const float* x, std::int64_t n,
                           double slope, double factor, const AdaGradScratch& scratch) noexcept;
  void (*push_shared)(const AdaGradNow&, double* const* rows, const float* x, std::int64_t n, double slope,
                      const AdaGradScratch& scratch) noexcept;
};

// A kernel's functions for each kind of penalty.
template <class Kernels>
struct OfPenalties {
  Kernels fobos, sgd, truncate, round;

  const Kernels& of(PenaltyKind kind) const noexcept {
    if (kind == PenaltyKind::fobos) return fobos;
    if (kind == PenaltyKind::sgd) return sgd;
    return kind == PenaltyKind::truncate ? truncate : round;
  }
};

using AllAdaGradKernels = OfPenalties<AdaGradKernels>;

RIATA_DECLARE_KERNELS(AllAdaGradKernels, adagrad_kernels)

}  // namespace riata
