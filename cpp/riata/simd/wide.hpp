// Several doubles side by side: as many as the processor we compile for computes at once, two on every x86-64
// (and ARM), four with AVX2. The same operations in the same order as one by one, so the same bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace riata {

#ifdef RIATA_WIDE_AVX2
inline constexpr int kWide = 4;
#else
inline constexpr int kWide = 2;
#endif

using Wide = double __attribute__((vector_size(8 * kWide)));
using WideBits = std::int64_t __attribute__((vector_size(8 * kWide)));

inline Wide wide_of(double x) noexcept { return Wide{} + x; }
inline Wide load_wide(const double* from) noexcept {
  Wide w;
  std::memcpy(&w, from, sizeof w);
  return w;
}
inline void store_wide(double* to, Wide w) noexcept { std::memcpy(to, &w, sizeof w); }

// kWide floats as doubles: one load and one conversion, which compilers do not find by themselves.
inline Wide widen(const float* from) noexcept {
#if defined(RIATA_WIDE_AVX2)
  return _mm256_cvtps_pd(_mm_loadu_ps(from));
#elif defined(__SSE2__)
  double both;
  std::memcpy(&both, from, sizeof both);
  return _mm_cvtps_pd(_mm_castpd_ps(_mm_set_sd(both)));
#else
  return Wide{static_cast<double>(from[0]), static_cast<double>(from[1])};
#endif
}

// kWide rows of two doubles each: the first ones side by side, and the second ones.
struct Columns {
  Wide firsts, seconds;
};
template <class RowOf>  // row(k): where the k-th begins
[[gnu::always_inline]] inline Columns load_rows(RowOf row) noexcept {
#ifdef RIATA_WIDE_AVX2
  const auto both = [](const double* low, const double* high) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(low)), _mm_loadu_pd(high), 1);
  };
  const Wide even = both(row(0), row(2)), odd = both(row(1), row(3));
  return {_mm256_unpacklo_pd(even, odd), _mm256_unpackhi_pd(even, odd)};
#else
  const Wide a = load_wide(row(0)), b = load_wide(row(1));
  return {__builtin_shufflevector(a, b, 0, 2), __builtin_shufflevector(a, b, 1, 3)};
#endif
}
template <class RowOf>
[[gnu::always_inline]] inline void store_rows(RowOf row, Columns c) noexcept {
#ifdef RIATA_WIDE_AVX2
  const __m256d even = _mm256_unpacklo_pd(c.firsts, c.seconds), odd = _mm256_unpackhi_pd(c.firsts, c.seconds);
  _mm_storeu_pd(row(0), _mm256_castpd256_pd128(even));
  _mm_storeu_pd(row(1), _mm256_castpd256_pd128(odd));
  _mm_storeu_pd(row(2), _mm256_extractf128_pd(even, 1));
  _mm_storeu_pd(row(3), _mm256_extractf128_pd(odd, 1));
#else
  store_wide(row(0), __builtin_shufflevector(c.firsts, c.seconds, 0, 2));
  store_wide(row(1), __builtin_shufflevector(c.firsts, c.seconds, 1, 3));
#endif
}
// No two of kWide rows are one.
template <class RowOf>
[[gnu::always_inline]] inline bool distinct(RowOf row) noexcept {
  bool different = true;
  for (int i = 1; i < kWide; ++i)
    for (int j = 0; j < i; ++j) different &= row(i) != row(j);
  return different;
}

// What holds for double holds for Wide.
inline double magnitude(double v) noexcept { return std::fabs(v); }
inline Wide magnitude(Wide v) noexcept { return (Wide)((WideBits)v & (WideBits{} + INT64_MAX)); }
inline double choose(bool which, double yes, double no) noexcept { return which ? yes : no; }
inline Wide choose(WideBits which, Wide yes, Wide no) noexcept {
  return (Wide)((which & (WideBits)yes) | (~which & (WideBits)no));
}

// Which are not zero: a bit each.
inline std::uint32_t nonzero(Wide v) noexcept {
#if defined(RIATA_WIDE_AVX2)
  return static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_cmp_pd(v, Wide{}, _CMP_NEQ_UQ)));
#else
  std::uint32_t bits = 0;
  for (int i = 0; i < kWide; ++i) bits |= std::uint32_t{v[i] != 0} << i;
  return bits;
#endif
}

// Towards zero, by >= 0. No branch: whether a weight survives cannot be predicted.
inline Wide shrink(Wide v, Wide by) noexcept {
  const Wide a = magnitude(v) - by;
#if defined(RIATA_WIDE_AVX2)
  const Wide left = _mm256_max_pd(a, Wide{});  // the second one where the first is not a number
#elif defined(__SSE2__)
  const Wide left = _mm_max_pd(a, Wide{});
#else
  const Wide left = (Wide)((WideBits)a & (a > 0));
#endif
  return (Wide)((WideBits)left | ((WideBits)v & (WideBits{} + INT64_MIN)));
}
inline double shrink(double v, double by) noexcept {
  const double a = std::fabs(v) - by;
  return std::copysign(a > 0 ? a : 0, v);
}

}  // namespace riata
