// exp() as plain arithmetic: no table, no branch, no call, so that loops around it become vector code. The
// same operations in the same order on every machine and at every vector width, so the same bits.
#pragma once

#include <bit>
#include <cstdint>

namespace riata {

// For |x| up to kExpLimit; beyond it, the value there. Within 2 units in the last place of the exact one.
inline constexpr double kExpLimit = 700;

inline double clamped(double x, double limit) noexcept {  // a NaN becomes -limit
  x = x < limit ? x : limit;
  return x > -limit ? x : -limit;
}

inline double plain_exp(double x) noexcept {
  constexpr double kLog2E = 1.4426950408889634, kLn2High = 0x1.62e42fefa3800p-1,
                   kLn2Low = 0x1.ef35793c76730p-45;
  constexpr double kRound = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  x = clamped(x, kExpLimit);
  const double shifted = x * kLog2E + kRound;
  const double n = shifted - kRound;
  const double f = (x - n * kLn2High) - n * kLn2Low;  // |f| <= ln(2) / 2
  // Taylor's series to f^13: the next term is below 1e-17 of the sum.
  const double f2 = f * f, f4 = f2 * f2, f8 = f4 * f4;
  const double a = (1 + f) + f2 * (1.0 / 2 + f * (1.0 / 6));
  const double b = (1.0 / 24 + f * (1.0 / 120)) + f2 * (1.0 / 720 + f * (1.0 / 5040));
  const double c = (1.0 / 40320 + f * (1.0 / 362880)) + f2 * (1.0 / 3628800 + f * (1.0 / 39916800));
  const double d = 1.0 / 479001600 + f * (1.0 / 6227020800);
  const double sum = a + f4 * b + f8 * (c + f4 * d);
  const auto exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023) << 52;
  return sum * std::bit_cast<double>(exponent);
}

}  // namespace riata
