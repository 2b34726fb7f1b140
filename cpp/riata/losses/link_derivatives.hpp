// Links: F(z), the probability of a label whose margin is z. What the Bayesian updates need of ln F:
//
//   log_value   ln F(z)
//   slope       d/dz ln F(z)      logit: 1 - F(z)      probit: phi(z) / Phi(z)
//   curvature        -d2/dz2 ln F(z)   logit: F (1 - F)     probit: slope * (z + slope)
//   kShrink     the factor of the variance in eq. 8 (pi / 8) and eq. 24 (1)
#pragma once

#include <algorithm>
#include <cmath>

#include "riata/simd/exp.hpp"

namespace riata {

struct LinkDerivatives {
  double slope, curvature;
};

struct LogitDerivatives {
  static constexpr double kShrink = 0.39269908169872414;  // pi / 8
  static LinkDerivatives at(double z) noexcept {
    const double e = plain_exp(z);
    const double q = 1 / (1 + e);
    return {q, e * q * q};
  }
  static double log_value(double z) noexcept {
    return std::fmin(z, 0.0) - std::log1p(std::exp(-std::fabs(z)));
  }
  static double log_odds(double z) noexcept { return z; }
};

struct ProbitDerivatives {
  static constexpr double kShrink = 1;
  static constexpr double kFar =
      -10;  // beyond it: the continued fraction, which needs 24 levels there and fewer farther out

  // With x = -z: phi / Phi = x + 1 / (x + 2 / (x + 3 / ...)). The fraction itself is z + slope, without
  // cancellation.
  static double fraction(double x) noexcept {
    double f = x;
    for (int k = 24; k >= 2; --k) f = x + k / f;
    return 1 / f;
  }
  static LinkDerivatives at(double z) noexcept {
    if (z < kFar) {
      const double rest = fraction(-z);
      const double slope = rest - z;
      return {slope, slope * rest};
    }
    const double slope = density(z) / (0.5 * std::erfc(-z * kSqrtHalf));
    return {slope, std::max(0.0, slope * (z + slope))};
  }
  static double log_value(double z) noexcept {
    if (z < kFar) return -0.5 * z * z - kLogSqrt2Pi - std::log(fraction(-z) - z);
    if (z > 0) return std::log1p(-0.5 * std::erfc(z * kSqrtHalf));
    return std::log(0.5 * std::erfc(-z * kSqrtHalf));
  }
  static double log_odds(double z) noexcept { return log_value(z) - log_value(-z); }

 private:
  static constexpr double kSqrtHalf = 0.7071067811865476, kLogSqrt2Pi = 0.9189385332046728;
  static double density(double z) noexcept { return 0.3989422804014327 * std::exp(-0.5 * z * z); }
};

}  // namespace riata
