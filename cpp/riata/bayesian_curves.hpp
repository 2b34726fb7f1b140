// The update of an example's features as curves.
//
// Under one column, what an example does to a feature depends on its value x and its variance v through
// q = pi/8 x^2 v / (1 + pi/8 sigma_t^2) alone, but for factors: with r and z as they would be for q = 0,
//
//   the mean moves by         y weight r  x v  F(q)
//   the precision grows by    weight r^2  x^2  G(q)
//
// and F and G are smooth. The q of all features add up to less than one, so at most 16 of them are above
// 1/16. For the others two polynomials of degree 7 through eight points do: they are off by 2e-14 at most,
// and by 5e-13 of F and G wherever these matter (|z| below 20), for weights of up to one.
#pragma once

#include "riata/vector_math.hpp"

namespace riata {
namespace {

inline constexpr double kEighthOfPi = 0.39269908169872414;  // eq. 8
inline constexpr double kLargestShare = 1.0 / 16;           // of q for which the curves hold
inline constexpr double kLargestCurved = 1;                 // weight of an example

// At the eight points, q = (1 + cos((2 n + 1) pi / 16)) / 32: 1 / sqrt(1 - q), and q / (1 - q) / (pi / 8).
inline constexpr double kRootAt[8] = {1.0324649698335064, 1.0299067672703177, 1.025229436395022,
                                      1.0192131522100885, 1.0128190595688962, 1.0070173957585988,
                                      1.002643734471572,  1.000300365268464};
inline constexpr double kPowerAt[8] = {0.16802665707256698,  0.1545915233786338,   0.13011336066748047,
                                       0.09879180126982944,  0.06570539282752594,  0.035864701540697055,
                                       0.013482227287615707, 0.0015299774922410039};
// The coefficients of the even powers from sums of opposite points, of the odd ones from their differences.
inline constexpr double kEven[4][4] = {
    {-0.02486404592245725, 0.08352232973991236, -0.18707572033318612, 0.628417436515731},
    {0.7698016495254523, -2.5519026177451503, 5.380329742491341, -3.5982287742716426},
    {-3.1779876260079822, 9.672340827762346, -12.500767952508536, 6.006414750754172},
    {3.0614674589207183, -7.391036260090294, 7.391036260090294, -3.0614674589207183}};
inline constexpr double kOdd[4][4] = {
    {-0.025351161379823003, 0.10045145186799834, -0.3367274004519704, 3.2211615113525687},
    {0.7848829554303298, -3.069147182274407, 9.684337681751762, -18.443912220177555},
    {-3.2402480843731825, 11.632825402935941, -22.500787856406752, 30.787866300500635},
    {3.1214451522580524, -8.889123728313635, 13.303513796840724, -15.692564486451687}};

RIATA_INLINE Eight tilt(const Eight& z) noexcept {
  return quick_exp_of_minus(least(size_of(z), eight(kExpLimit)));
}

// What an example is to eight cells.
struct Example {
  Eight spread;  // sigma_t^2
  Eight margin;  // y mu_t
  Eight pull;    // y times the example's weight
  double weight;
};

struct Curves {
  Eight steep;             // u = steep x^2 v - 1, from -1 to below 1 where the curves hold
  Eight move[8], gain[8];  // coefficients of powers of u
};

// Eight cells on their curves; x is eight values or one for all.
template <class X>
struct Curved {
  X x;
  Eight xv, u;

  RIATA_INLINE Curved(const Curves& c, const X& value, const Eight& variance) noexcept
      : x(value), xv(value * variance), u(c.steep * (value * xv) - 1) {}
  RIATA_INLINE Eight move(const Curves& c) const noexcept { return xv * at(c.move); }
  RIATA_INLINE Eight gain(const Curves& c) const noexcept { return x * x * at(c.gain); }

 private:
  RIATA_INLINE Eight at(const Eight (&c)[8]) const noexcept {
    const Eight u2 = u * u, u4 = u2 * u2;
    return ((c[0] + c[1] * u) + (c[2] + c[3] * u) * u2) + ((c[4] + c[5] * u) + (c[6] + c[7] * u) * u2) * u4;
  }
};

// From values at the eight points.
template <class T>
RIATA_INLINE void fit(const T (&f)[8], const T& scale, T (&out)[8]) noexcept {
  T sums[4], differences[4];
  for (int n = 0; n < 4; ++n) {
    sums[n] = (f[n] + f[7 - n]) * scale;
    differences[n] = (f[n] - f[7 - n]) * scale;
  }
  for (int j = 0; j < 4; ++j) {
    out[2 * j] =
        (kEven[j][0] * sums[0] + kEven[j][1] * sums[1]) + (kEven[j][2] * sums[2] + kEven[j][3] * sums[3]);
    out[2 * j + 1] = (kOdd[j][0] * differences[0] + kOdd[j][1] * differences[1]) +
                     (kOdd[j][2] * differences[2] + kOdd[j][3] * differences[3]);
  }
}

// Each of the eight cells is a column.
RIATA_INLINE Curves curves_of_columns(const Example& e) noexcept {
  Curves out;
  const Eight d = 1 + kEighthOfPi * e.spread, r = 1 / root(d), z = e.margin * r;
  out.steep = (2 * kEighthOfPi / kLargestShare) / d;
  Eight tilts[8], margins[8], f[8];
  for (int n = 0; n < 8; ++n) tilts[n] = tilt(z * kRootAt[n]);
  for (int n = 0; n < 8; ++n) {
    const Eight t = tilts[n], u = 1 + t;
    const double b = e.weight * kPowerAt[n];
    const Eight s = if_positive(e.margin, t, eight(1.0)) * u / (u * u + b * t);
    f[n] = kRootAt[n] * s;
    margins[n] = z * kRootAt[n] + b * s;
  }
  fit(f, e.pull * r, out.move);
  for (int n = 0; n < 8; ++n) {
    const Eight t = tilt(margins[n]), u = 1 + t;
    f[n] = (kRootAt[n] * kRootAt[n]) * t / (u * u);
  }
  fit(f, e.weight * (r * r), out.gain);
  return out;
}

// All eight cells are of one column: each takes a point.
RIATA_INLINE Curves curves_of_one(const Example& e) noexcept {
  Curves out;
  const Eight d = 1 + kEighthOfPi * e.spread, r = 1 / root(d), roots = eight(kRootAt),
              z = e.margin * r * roots;
  out.steep = (2 * kEighthOfPi / kLargestShare) / d;
  const Eight b = e.weight * eight(kPowerAt), t = tilt(z), u = 1 + t;
  const Eight s = if_positive(e.margin, t, eight(1.0)) * u / (u * u + b * t);
  const Eight t2 = tilt(z + b * s), u2 = 1 + t2;
  const auto fitted = [](const Eight& at_points, const Eight& scale, Eight(&c)[8]) {
    double f[8], scales[8], numbers[8];
    store(f, at_points);
    store(scales, scale);
    fit(f, scales[0], numbers);
    for (int j = 0; j < 8; ++j) c[j] = eight(numbers[j]);
  };
  fitted(roots * s, e.pull * r, out.move);
  fitted((roots * roots) * t2 / (u2 * u2), e.weight * (r * r), out.gain);
  return out;
}

}  // namespace
}  // namespace riata
