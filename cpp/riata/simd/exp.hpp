// exp, log and log1p as arithmetic: no table, no call, so that their bits do not depend on the C library, and they
// work on a vector as on a number. The same operations in the same order on every machine and at every vector width.
// Within one unit in the last place of the exact value; tests/learners/test_exp.py compares them with mpmath.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "riata/simd/vector.hpp"

namespace riata::RIATA_TARGET {

inline constexpr double kLn2 = 0.6931471805599453, kLog2E = 1.4426950408889634;
inline constexpr double kLn2High = 0x1.62e42fefa3800p-1,
                        kLn2Low = 0x1.ef35793c76730p-45;  // their sum is ln 2
inline constexpr double kRound = 0x1.8p52;  // adding it leaves the nearest integer in the low bits

// exp(-a) = mantissa 2^n, with n in the low bits of `shifted`.
template <class T>
struct ExpParts {
  T mantissa, shifted, n;
};
// exp(-g) - 1 + g for |g| <= ln(2) / 2: g^2 p(g), with the p of degree 9 whose largest relative error is smallest, 4e-18.
template <class T>
RIATA_INLINE T exp_beyond_linear(const T& g) noexcept {
  const T g2 = g * g, g4 = g2 * g2;
  const T p0 =
      (0.5000000000000011 - g * 0.16666666666666413) + g2 * (0.04166666666653016 - g * 0.008333333333494442);
  const T p4 = (0.0013888888943628863 - g * 0.00019841269506613166) +
               g2 * (2.4801493100016028e-05 - g * 2.755758634989994e-06);
  const T p8 = 2.7630248045296527e-07 - g * 2.5000067326263877e-08;
  return g2 * ((p0 + g4 * p4) + (g4 * g4) * p8);
}
template <class T>
RIATA_INLINE ExpParts<T> exp_parts(const T& a) noexcept {
  const T shifted = kRound - a * kLog2E;
  const T n = shifted - kRound;
  const T high = a + n * kLn2High, low = n * kLn2Low;
  const T g = high + low, first = 1 - g;                  // |g| <= ln(2) / 2
  const T lost = ((1 - first) - g) - ((high - g) + low);  // what the rounding of both lost
  return {first + (exp_beyond_linear(g) + lost), shifted, n};
}

// exp(-a) for |a| <= 708, where nothing under- or overflows.
inline constexpr double kExpLimit = 700;  // of sums and products with it
template <class T>
RIATA_INLINE T exp_of_minus(const T& a) noexcept {
  const ExpParts<T> parts = exp_parts(a);
  return scaled(parts.mantissa, parts.shifted);
}
RIATA_INLINE double clamped(double x, double limit) noexcept {  // a NaN becomes -limit
  x = x < limit ? x : limit;
  return x > -limit ? x : -limit;
}
// exp(x), and beyond kExpLimit its value there: never zero, never infinite.
RIATA_INLINE double bounded_exp(double x) noexcept { return exp_of_minus(-clamped(x, kExpLimit)); }

// exp(x) for every x; in two steps, the second of which may under- or overflow.
template <class T>
RIATA_INLINE T exp(const T& x) noexcept {
  const ExpParts<T> parts = exp_parts(min(all<T>(746), max(all<T>(-710), 0 - x)));  // a NaN passes
  const T half = parts.n * 0.5 + kRound, other = (parts.n - (half - kRound)) + kRound;
  return select(x != x, x, scaled(parts.mantissa, half) * scaled(all<T>(1), other));
}

// 1 - exp(-a) for 0 <= a <= 708, within three units in the last place also where a is small.
template <class T>
RIATA_INLINE T one_minus_exp_of_minus(const T& a) noexcept {
  const T shifted = kRound - a * kLog2E;
  const T n = shifted - kRound, g = (a + n * kLn2High) + n * kLn2Low;
  const T power = scaled(all<T>(1), shifted);  // exp(-a) = power exp(-g)
  return (1 - power) + power * (g - exp_beyond_linear(g));
}

// exp(-a) to 13 digits, in fewer operations: a relative error of 2e-14, and 1e-16 more for every unit of a.
template <class T>
RIATA_INLINE T quick_exp_of_minus(const T& a) noexcept {
  const T shifted = kRound - a * kLog2E;
  const T g = a + (shifted - kRound) * kLn2;
  const T g2 = g * g, g4 = g2 * g2;
  const T low = (0.49999999999663264 - g * 0.16666666667267455) +
                g2 * (0.041666666962934494 - g * 0.008333333094370827);
  const T high = (0.001388881102294967 - g * 0.00019841539722322457) +
                 g2 * (2.4880871930135744e-05 - g * 2.749291824325511e-06);
  return scaled(1 - (g - g2 * (low + g4 * high)), shifted);
}

// k ln 2 + ln(1 + f), for -0.3 <= f <= 0.5. With s = f / (2 + f), ln(1 + f) is 2 artanh(s) = 2 s + s r(s^2), and as
// 2 s = f - s f, nearly all of it is f itself, which is exact.
template <class T>
RIATA_INLINE T log_from(const T& k, const T& f) noexcept {
  const T s = f / (2 + f), z = s * s, z2 = z * z, half = 0.5 * f * f;
  // r(z) / z, whose error is less than 3e-19 of ln(1 + f).
  const T low =
      (0.666666666666666 + z * 0.4000000000005694) + z2 * (0.2857142855577071 + z * 0.22222224302587235);
  const T high =
      (0.18181665525733234 + z * 0.15391122982874186) + z2 * (0.13173418758851987 + z * 0.13844235702353225);
  const T r = z * (low + (z2 * z2) * high);
  return k * kLn2High - ((half - (s * (half + r) + k * kLn2Low)) - f);
}

// ln(1 + t) for 0 <= t <= 1. Above a half: ln 2 + ln((1 + t) / 2), where (1 + t) / 2 - 1 is exact.
template <class T>
RIATA_INLINE T log_of_one_and(const T& t) noexcept {
  const auto upper = t > 0.5;
  return log_from(select(upper, all<T>(1), all<T>(0)), select(upper, 0.5 * (t - 1), t));
}

// ln(1 + t) for t >= -1, within three units in the last place; where 1 + t is less than 1e-300, as if it were that.
template <class T>
RIATA_INLINE T wide_log1p(const T& t) noexcept {
  T k, mantissa;
  split(max(1 + t, all<T>(1e-300)), k, mantissa);
  const auto small = abs(t) <= 0.29;
  return log_from(select(small, all<T>(0), k), select(small, t, mantissa - 1));
}

// ln(x) of positive, normal numbers, with the bits of log(double).
RIATA_INLINE Eight log_of_normal(const Eight& x) noexcept {
  Eight k, mantissa;
  split(x, k, mantissa);
  return log_from(k, mantissa - 1);
}

// ln(x); -infinity for 0, NaN for negative numbers.
inline double log(double x) noexcept {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!(x > 0 && x < kInfinity))
    return x == 0 ? -kInfinity : x < 0 ? std::numeric_limits<double>::quiet_NaN() : x;
  const bool subnormal = x < 0x1p-1022;
  const auto bits = std::bit_cast<std::uint64_t>(subnormal ? x * 0x1p54 : x);
  // x = 2^k (1 + f) with 1 + f from sqrt(1/2) to sqrt(2).
  const std::uint64_t above = bits - std::bit_cast<std::uint64_t>(0.7071067811865476);
  const double k = static_cast<double>(static_cast<std::int64_t>(above) >> 52) - (subnormal ? 54 : 0);
  return log_from(k, std::bit_cast<double>(bits - (above & 0xFFF0000000000000)) - 1);
}

// ln(1 + t) for t > -1.
inline double log1p(double t) noexcept {
  if (t >= 0 && t <= 1) return log_of_one_and(t);
  if (t > -0.29 && t < 0) return log_from(0.0, t);
  if (t >= -0.5 && t < 0) return log_from(-1.0, 2 * t + 1);
  if (t < 0) return log(1 + t);  // the sum is exact
  if (!(t < 0x1p60)) return log(t);
  const double u = 1 + t;
  return log(u) + (t - (u - 1)) / u;  // what the rounding of u lost is made up for
}

}  // namespace riata::RIATA_TARGET
