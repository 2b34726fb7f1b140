// The update of an example's features as curves.
//
// Under one column, what an example does to a feature depends on its value x and its variance v through
// q = pi/8 x^2 v / (1 + pi/8 sigma_t^2) alone, but for factors: with r and z as they would be for q = 0,
//
//   the mean moves by         y weight r  x v  F(q)
//   the precision grows by    weight r^2  x^2  G(q)
//
// and F and G are smooth. The q of all features add up to less than one, so at most 16 of them are above
// 1/16. For the others two polynomials of degree 6 through seven points do: they are off by 1e-12 at most,
// and by 2e-11 of F and G wherever these matter (|z| below 20), for weights of up to one; this is where q is
// near 1/16, and less by a power of seven below.
#pragma once

#include "riata/simd/exp.hpp"

namespace riata::RIATA_TARGET {
namespace {

inline constexpr double kEighthOfPi = 0.39269908169872414;  // eq. 8
inline constexpr double kLargestShare = 1.0 / 16;           // of q for which the curves hold
inline constexpr double kLargestCurved = 1;                 // weight of an example

inline constexpr int kPoints = 7;
// At the points, q = (1 + cos((2 n + 1) pi / 14)) / 32: 1 / sqrt(1 - q), and q / (1 - q) / (pi / 8). The
// eighth fills a register.
inline constexpr double kRootAt[8] = {
    1.0323642569616622, 1.0290605270800164, 1.0231866353225159, 1.016001016001524,
    1.0089646901485274, 1.0034264134388888, 1.000391981726273,  1};
inline constexpr double kPowerAt[8] = {
    0.16749710431578685, 0.15015458691456574, 0.1194576022426269,    0.08214448675710727,
    0.04586144151040039, 0.0174804767995315,  0.0019967378044979407, 0};
// The coefficients of the even powers from sums of opposite points and the one in the middle, which is that
// of the power 0; of the odd ones from differences.
inline constexpr double kEven[3][4] = {
    {0.23411318061389408, -1.0200067492357776, 4.7858935686218835, -8.0},
    {-1.626596118580921, 6.491359870285673, -12.864763751704752, 16.0},
    {2.0344771104577317, -5.700478188422706, 8.237429649393546, -9.142857142857142}};
inline constexpr double kOdd[3][3] = {{0.22824347439014994, -0.7974733888824039, 2.0765213965723364},
                                      {-1.5858139578511552, 5.0751495106189255, -5.581811799453683},
                                      {1.9834685216802657, -4.456813312831193, 3.5740867769967077}};

RIATA_INLINE Eight exp_of_minus_size(const Eight& z) noexcept {
  return quick_exp_of_minus(min(abs(z), eight(kExpLimit)));
}

// What an example is to eight cells.
struct Example {
  Eight spread;  // sigma_t^2
  Eight margin;  // y mu_t
  Eight pull;    // y times the example's weight
  double weight;
};

struct Curves {
  Eight steep;                         // u = steep x^2 v - 1, from -1 to below 1 where the curves hold
  Eight move[kPoints], gain[kPoints];  // coefficients of powers of u
};

// kSide times eight cells on their curves, side by side, so that each can wait for its own; X is eight values
// or one for all eight.
template <int kSide, class X>
struct Curved {
  X x[kSide];
  Eight xv[kSide], u[kSide];

  RIATA_INLINE void take(const Curves& c, int n, const X& value, const Eight& variance) noexcept {
    x[n] = value;
    xv[n] = value * variance;
    u[n] = c.steep * (value * xv[n]) - 1;
  }
  RIATA_INLINE void follow(const Curves& c, Eight (&move)[kSide], Eight (&gain)[kSide]) const noexcept {
    for (int n = 0; n < kSide; ++n) move[n] = c.move[kPoints - 1], gain[n] = c.gain[kPoints - 1];
    for (int j = kPoints - 2; j >= 0; --j)
      for (int n = 0; n < kSide; ++n) {
        move[n] = c.move[j] + move[n] * u[n];
        gain[n] = c.gain[j] + gain[n] * u[n];
        keep_order(move[n]);
        keep_order(gain[n]);
      }
    for (int n = 0; n < kSide; ++n) {
      move[n] = xv[n] * move[n];
      gain[n] = x[n] * x[n] * gain[n];
    }
  }
};

// From values at the points.
template <class T>
RIATA_INLINE void fit(const T (&f)[8], const T& scale, T (&out)[kPoints]) noexcept {
  T sums[3], differences[3];
  for (int n = 0; n < 3; ++n) {
    sums[n] = (f[n] + f[6 - n]) * scale;
    differences[n] = (f[n] - f[6 - n]) * scale;
  }
  out[0] = f[3] * scale;
  for (int j = 0; j < 3; ++j) {
    out[2 * j + 1] =
        (kOdd[j][0] * differences[0] + kOdd[j][1] * differences[1]) + kOdd[j][2] * differences[2];
    out[2 * j + 2] =
        (kEven[j][0] * sums[0] + kEven[j][1] * sums[1]) + (kEven[j][2] * sums[2] + kEven[j][3] * out[0]);
  }
}

// Each of the eight cells is a column.
RIATA_INLINE Curves curves_of_columns(const Example& e) noexcept {
  Curves out;
  const Eight d = 1 + kEighthOfPi * e.spread, r = 1 / sqrt(d), z = e.margin * r;
  out.steep = (2 * kEighthOfPi / kLargestShare) / d;
  Eight exps[kPoints], margins[kPoints], f[8];
  for (int n = 0; n < kPoints; ++n) exps[n] = exp_of_minus_size(z * kRootAt[n]);
  for (int n = 0; n < kPoints; ++n) {
    const Eight t = exps[n], u = 1 + t;
    const double b = e.weight * kPowerAt[n];
    const Eight s = select(e.margin > 0, t, eight(1.0)) * u / (u * u + b * t);
    f[n] = kRootAt[n] * s;
    margins[n] = z * kRootAt[n] + b * s;
  }
  fit(f, e.pull * r, out.move);
  for (int n = 0; n < kPoints; ++n) {
    const Eight t = exp_of_minus_size(margins[n]), u = 1 + t;
    f[n] = (kRootAt[n] * kRootAt[n]) * t / (u * u);
  }
  fit(f, e.weight * (r * r), out.gain);
  return out;
}

// All eight cells are of one column: each takes a point.
RIATA_INLINE Curves curves_of_one(const Example& e) noexcept {
  Curves out;
  const Eight d = 1 + kEighthOfPi * e.spread, r = 1 / sqrt(d), roots = eight(kRootAt),
              z = e.margin * r * roots;
  out.steep = (2 * kEighthOfPi / kLargestShare) / d;
  const Eight b = e.weight * eight(kPowerAt), t = exp_of_minus_size(z), u = 1 + t;
  const Eight s = select(e.margin > 0, t, eight(1.0)) * u / (u * u + b * t);
  const Eight t2 = exp_of_minus_size(z + b * s), u2 = 1 + t2;
  const auto fitted = [](const Eight& at_points, const Eight& scale, Eight(&c)[kPoints]) {
    double f[8], scales[8], numbers[kPoints];
    store(f, at_points);
    store(scales, scale);
    fit(f, scales[0], numbers);
    for (int j = 0; j < kPoints; ++j) c[j] = eight(numbers[j]);
  };
  fitted(roots * s, e.pull * r, out.move);
  fitted((roots * roots) * t2 / (u2 * u2), e.weight * (r * r), out.gain);
  return out;
}

}  // namespace
}  // namespace riata::RIATA_TARGET
