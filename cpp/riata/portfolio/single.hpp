// One linear model that stands for many members, and what it would have lost.
//
// Scores that are linear in the values, averaged with the weights of the moment, are linear again. `a` times such an
// average plus `c` is a linear model too; both are the weights of a Bayesian logistic regression, learned example by
// example (appendix D.1 of the Bayesian paper), so that the average, too sure or not sure enough, is put right.
#pragma once

#include <algorithm>
#include <cmath>

#include "riata/losses/loss.hpp"

namespace riata {

// Six numbers an output: the precision (aa, ac, cc) and precision times mean (a, c), both less the prior's, which has
// a = 1 and c = 0 with a variance of 0.1 each; and the loss so far.
class Single {
 public:
  static constexpr int kWidth = 6;

  explicit Single(const double* state) noexcept {
    const double rest = state[1] / (kPrior + state[0]), first = kPrior + state[3];
    c_ = (state[4] - rest * first) / std::max(kPrior + state[2] - rest * state[1], kPrior);
    a_ = (first - state[1] * c_) / (kPrior + state[0]);
  }

  double a() const noexcept { return std::max(a_, 0.0); }
  double c() const noexcept { return c_; }

  void learn(double average, double offset, double y, double weight, double* state) const noexcept {
    weight = std::min(weight, kLargestWeight);
    state[5] += weight * softplus(-y * (a() * average + c_ + offset));
    const double x = clamped(average, kLargestScore), z = a_ * x + c_;
    const LinkDerivatives at = Logit::at(y * (z + offset));
    const double curvature = weight * at.curvature, pull = curvature * z + y * weight * at.slope;
    const double gains[kWidth - 1] = {curvature * x * x, curvature * x, curvature, pull * x, pull};
    for (int i = 0; i < kWidth - 1; ++i) state[i] += gains[i];
  }

 private:
  static constexpr double kPrior = 10, kLargestScore = 100, kLargestWeight = 1e10;

  double a_, c_;
};

}  // namespace riata
