// Log odds put right by how they did so far. With p the predicted probability, the corrected log odds are
//
//   a ln(p) - b ln(1 - p) + c,
//
// beta calibration (Kull, Silva Filho & Flach 2017): what is too sure of one class need not be too sure of
// the other, and with a = b = 1 and c = 0 nothing changes. a, b and c are the weights of a Bayesian logistic
// regression with its whole covariance, updated example by example (appendix D.1).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "riata/losses/loss.hpp"

namespace riata {

// What nine numbers an output hold: the precision matrix (aa, ab, ac, bb, bc, cc) and precision times mean
// (a, b, c), both less the prior's, so that zeros are nothing learned, and two of them can be added. The
// prior has a variance of 0.1 for each.
class Recalibration {
 public:
  static constexpr int kWidth = 9;

  // What is made of a score.
  struct Seen {
    double yes, no;  // ln(p) and -ln(1 - p)
    explicit Seen(double s) noexcept {
      s = clamped(s, kLargestScore);
      const double rest = riata::log1p(bounded_exp(-std::fabs(s)));
      yes = std::min(s, 0.0) - rest;
      no = std::max(s, 0.0) + rest;
    }
  };

  explicit Recalibration(const double* state) noexcept {
    // The precision is L D L', D at least the prior's, whatever rounding says.
    const double r0 = 1 / (kPrior + state[0]), l10 = state[1] * r0, l20 = state[2] * r0;
    const double r1 = 1 / std::max(kPrior + state[3] - l10 * state[1], kPrior);
    const double rest = state[4] - l10 * state[2], l21 = rest * r1;
    const double r2 = 1 / std::max(kPrior + state[5] - l20 * state[2] - l21 * rest, kPrior);
    const double h0 = kPrior + state[6], h1 = kPrior + state[7] - l10 * h0,
                 h2 = state[8] - l20 * h0 - l21 * h1;
    mean_[2] = h2 * r2;
    mean_[1] = h1 * r1 - l21 * mean_[2];
    mean_[0] = h0 * r0 - l10 * mean_[1] - l20 * mean_[2];
  }

  // Of ln(p), of -ln(1 - p), and the offset. Never negative: a higher score stays higher.
  double a() const noexcept { return std::max(mean_[0], 0.0); }
  double b() const noexcept { return std::max(mean_[1], 0.0); }
  double c() const noexcept { return mean_[2]; }

  // The corrected log odds at the mean of a, b and c: integrating over them as well would shrink large scores
  // more than small ones, and could turn their order.
  double score(const Seen& x) const noexcept { return a() * x.yes + b() * x.no + c(); }

  // y is -1 or +1; `keep` of the evidence so far is left.
  void learn(const Seen& x, double y, double weight, double keep, double* state) const noexcept {
    weight = std::min(weight, kLargestWeight);
    const double z = mean_[0] * x.yes + mean_[1] * x.no + mean_[2];
    const LinkDerivatives at = Logit::at(y * z);
    // Precision times mean gains what it takes for the mean to move by y weight slope / (1 + curvature
    // spread) times the covariance with x.
    const double curvature = weight * at.curvature, pull = curvature * z + y * weight * at.slope;
    const double gains[kWidth] = {curvature * x.yes * x.yes,
                                  curvature * x.yes * x.no,
                                  curvature * x.yes,
                                  curvature * x.no * x.no,
                                  curvature * x.no,
                                  curvature,
                                  pull * x.yes,
                                  pull * x.no,
                                  pull};
    for (int i = 0; i < kWidth; ++i) state[i] = keep * (state[i] + gains[i]);
  }

 private:
  static constexpr double kPrior = 10, kLargestScore = 100, kLargestWeight = 1e10;

  double mean_[3];
};

}  // namespace riata
