// Two doubles side by side: what every x86-64 (and ARM) processor computes at once. The same operations in
// the same order as one by one, so the same bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace riata {

using Pair = double __attribute__((vector_size(16)));
using PairBits = std::int64_t __attribute__((vector_size(16)));

inline Pair pair_of(double x) noexcept { return Pair{x, x}; }
inline Pair load_pair(const double* from) noexcept {
  Pair p;
  std::memcpy(&p, from, sizeof p);
  return p;
}
inline void store_pair(double* to, Pair p) noexcept { std::memcpy(to, &p, sizeof p); }
inline Pair widen_pair(const float* from) noexcept {
#ifdef __SSE2__
  double both;  // one load and one conversion, which compilers do not find by themselves
  std::memcpy(&both, from, sizeof both);
  return _mm_cvtps_pd(_mm_castpd_ps(_mm_set_sd(both)));
#else
  return Pair{static_cast<double>(from[0]), static_cast<double>(from[1])};
#endif
}
inline Pair firsts(Pair a, Pair b) noexcept { return __builtin_shufflevector(a, b, 0, 2); }
inline Pair seconds(Pair a, Pair b) noexcept { return __builtin_shufflevector(a, b, 1, 3); }

// Two weights that were marked at the same time or not: what holds for double holds for Pair.
inline double magnitude(double v) noexcept { return std::fabs(v); }
inline Pair magnitude(Pair v) noexcept { return (Pair)((PairBits)v & PairBits{INT64_MAX, INT64_MAX}); }
inline double choose(bool which, double yes, double no) noexcept { return which ? yes : no; }
inline Pair choose(PairBits which, Pair yes, Pair no) noexcept {
  return (Pair)((which & (PairBits)yes) | (~which & (PairBits)no));
}

// Towards zero, by >= 0. No branch: whether a weight survives cannot be predicted.
inline Pair shrink(Pair v, Pair by) noexcept {
  const PairBits sign = {INT64_MIN, INT64_MIN};
  const Pair a = magnitude(v) - by;
  return (Pair)(((PairBits)a & (a > 0)) | ((PairBits)v & sign));
}
inline double shrink(double v, double by) noexcept { return shrink(pair_of(v), pair_of(by))[0]; }

}  // namespace riata
