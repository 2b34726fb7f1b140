// The standard normal distribution as arithmetic, so that its bits do not depend on the C library's erfc. Within four units
// in the last place of the exact value; tests/learners/test_exp.py compares it with mpmath.
#pragma once

#include <cmath>
#include <iterator>

#include "riata/simd/exp.hpp"

namespace riata {

inline constexpr double kInverseRootTwoPi = 0.3989422804014327;  // the density at 0

// 1 / (x + 2 / (x + 3 / ...)), for x >= 10: 24 levels are enough there. With Q(x) the probability of more than x and phi
// the density, phi(x) / Q(x) is x plus this.
inline double normal_fraction(double x) noexcept {
  double f = x;
  for (int k = 24; k >= 2; --k) f = x + k / f;
  return 1 / f;
}

// Q(x) / exp(-x^2 / 2) for x >= 0, which falls slowly from 1/2. Up to 10, (x + 1) times it is a polynomial in a variable that
// goes from -1 to 1: the Chebyshev series of degree 19, which leaves out less than 2e-17.
inline double normal_tail_ratio(double x) noexcept {
  if (x > 10) return kInverseRootTwoPi / (x + normal_fraction(x));
  static constexpr double kEven[] = {0.499907177150316,      -0.01578896027749887,   -0.01649756215526607,
                                     -0.0003708089311085515, 3.945008431889267e-05,  -2.6223316197358725e-06,
                                     1.4926425673371803e-07, -4.978240452793679e-09, -3.249961904359292e-10,
                                     5.746123473088004e-11};
  static constexpr double kOdd[] = {-0.06717316314029026,    0.02996713024219048,     0.004663373580648322,
                                    -0.00017845639697293829, 8.511295765875699e-06,   -6.319264743281569e-07,
                                    5.8825579213567084e-08,  -5.2826416221215285e-09, 3.7501592460233443e-10,
                                    -1.51976480888441e-11};
  const double u = (1.8 * x - 4) / (x + 4), u2 = u * u;
  double even = 0, odd = 0;
  for (std::size_t i = std::size(kEven); i-- > 0;) {
    even = even * u2 + kEven[i];
    odd = odd * u2 + kOdd[i];
  }
  return (even + u * odd) / (x + 1);
}

// exp(-x^2 / 2). The rounding of the square would cost as many units in the last place as it is large: x = high + low, and
// what was lost is made up for.
inline double exp_of_minus_half_square(double x) noexcept {
  if (std::fabs(x) > 39) return 0;  // less than any number
  const double scaled = 134217729 * x, high = scaled - (scaled - x), low = x - high, square = x * x;
  const double lost = ((high * high - square) + 2 * high * low) + low * low;
  return riata::exp(-0.5 * square) * (1 - 0.5 * lost);
}

// Q(x) for x >= 0.
inline double normal_tail(double x) noexcept { return exp_of_minus_half_square(x) * normal_tail_ratio(x); }

// The probability of less than z.
inline double normal_cdf(double z) noexcept { return z > 0 ? 1 - normal_tail(z) : normal_tail(-z); }

}  // namespace riata
