// One linear model that stands for many members, and what it would have lost.
//
// Scores that are linear in the values, averaged with the weights of the moment, are linear again. `a` times such an
// average plus `c` is a linear model too; both are the weights of a Bayesian logistic regression, learned example by
// example (appendix D.1 of the Bayesian paper), so that the average, too sure or not sure enough, is put right.
// correction_kernels.cpp learns them.
#pragma once

#include "riata/portfolio/kernels.hpp"

namespace riata {

// What its state says.
class Single {
 public:
  static constexpr int kWidth = kSingleWidth;

  explicit Single(const double* state) noexcept {
    double copy[kWidth];
    for (int i = 0; i < kWidth; ++i) copy[i] = state[i];
    double* const states = copy;
    best_correction_kernels().read(1, &states, &a_, &c_);
  }

  double a() const noexcept { return a_; }
  double c() const noexcept { return c_; }

 private:
  double a_, c_;
};

}  // namespace riata
