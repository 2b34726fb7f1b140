// Log odds put right by how they did so far: their scale and their offset are the two weights of a Bayesian
// logistic regression on the score alone, with its whole covariance, updated example by example (appendix
// D.1).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "riata/tilt.hpp"

namespace riata {

// What five numbers an output hold: the precision matrix (00, 01, 11) and precision times mean (0, 1), both
// less the prior's, so that zeros are nothing learned, and two of them can be added. The prior: scale 1 and
// offset 0, each with a variance of 0.1.
class Recalibration {
 public:
  static constexpr int kWidth = 5;

  explicit Recalibration(const double* state) noexcept
      : l00_(kPrior + state[0]),
        l01_(state[1]),
        l11_(kPrior + state[2]),
        h0_(kPrior + state[3]),
        h1_(state[4]) {
    // At least the prior's, whatever rounding says.
    const double rest = std::max(l11_ - l01_ * (l01_ / l00_), kPrior);
    offset_ = (h1_ - l01_ / l00_ * h0_) / rest;
    scale_ = (h0_ - l01_ * offset_) / l00_;
    c11_ = 1 / rest;
    c01_ = -l01_ / l00_ * c11_;
    c00_ = 1 / l00_ - l01_ / l00_ * c01_;
  }

  double scale() const noexcept { return scale_; }
  double offset() const noexcept { return offset_; }

  // The corrected log odds, eq. 8.
  double score(double s) const noexcept {
    s = clamped(s, kLargestScore);
    return (scale_ * s + offset_) / std::sqrt(1 + LogitTilt::kShrink * spread(s));
  }

  // y is -1 or +1; `keep` of the evidence so far is left.
  void learn(double s, double y, double weight, double keep, double* state) const noexcept {
    s = clamped(s, kLargestScore);
    weight = std::min(weight, kLargestWeight);
    const Tilt at = LogitTilt::tilt(y * (scale_ * s + offset_));
    const double bend = weight * at.bend, pull = y * weight * at.slope / (1 + bend * spread(s));
    const double a = scale_ + pull * (c00_ * s + c01_), c = offset_ + pull * (c01_ * s + c11_);
    const double l00 = l00_ + bend * s * s, l01 = l01_ + bend * s, l11 = l11_ + bend;
    state[0] = keep * (l00 - kPrior);
    state[1] = keep * l01;
    state[2] = keep * (l11 - kPrior);
    state[3] = keep * (l00 * a + l01 * c - kPrior);
    state[4] = keep * (l01 * a + l11 * c);
  }

 private:
  static constexpr double kPrior = 10, kLargestScore = 100, kLargestWeight = 1e10;

  double spread(double s) const noexcept { return std::max(0.0, (c00_ * s + 2 * c01_) * s + c11_); }

  double l00_, l01_, l11_, h0_, h1_;
  double scale_, offset_, c00_, c01_, c11_;
};

}  // namespace riata
