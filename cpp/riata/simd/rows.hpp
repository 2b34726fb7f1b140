// Vectors from rows that lie anywhere, and back.
#pragma once

#include "riata/simd/vector.hpp"

namespace riata::RIATA_TARGET {

// Eight as two of Four.
#ifdef __AVX512F__
RIATA_INLINE Four low_half(const Eight& v) noexcept { return _mm512_castpd512_pd256(v); }
RIATA_INLINE Four high_half(const Eight& v) noexcept { return _mm512_extractf64x4_pd(v, 1); }
RIATA_INLINE Eight joined(const Four& low, const Four& high) noexcept {
  return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
}
#else
RIATA_INLINE Four low_half(const Eight& v) noexcept { return v.low; }
RIATA_INLINE Four high_half(const Eight& v) noexcept { return v.high; }
RIATA_INLINE Eight joined(const Four& low, const Four& high) noexcept { return {low, high}; }
#endif

// of(0), of(1), ... side by side.
template <class Of>
RIATA_INLINE void collect(double& v, const Of& of) noexcept {
  v = of(0);
}
template <class Of>
RIATA_INLINE void collect(Double2& v, const Of& of) noexcept {
  v = Double2{of(0), of(1)};
}
#ifdef __AVX2__
template <class Of>
RIATA_INLINE void collect(Double4& v, const Of& of) noexcept {
  v = Double4{of(0), of(1), of(2), of(3)};
}
#endif
#ifdef __AVX512F__
template <class Of>
RIATA_INLINE void collect(Double8& v, const Of& of) noexcept {
  v = Double8{of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)};
}
#endif
template <class H, class Of>
RIATA_INLINE void collect(Two<H>& v, const Of& of) noexcept {
  collect(v.low, of), collect(v.high, [&](int i) { return of(i + kSize<H>); });
}

// Rows of two doubles that lie anywhere: the first ones side by side, and the second ones. row(k) is where the
// k-th begins.
template <class RowOf>
RIATA_INLINE void load_rows(RowOf row, Double2& first, Double2& second) noexcept {
  const auto a = loaded<Double2>(row(0)), b = loaded<Double2>(row(1));
  first = __builtin_shufflevector(a, b, 0, 2);
  second = __builtin_shufflevector(a, b, 1, 3);
}
template <class RowOf>
RIATA_INLINE void store_rows(RowOf row, Double2 first, Double2 second) noexcept {
  store(row(0), __builtin_shufflevector(first, second, 0, 2));
  store(row(1), __builtin_shufflevector(first, second, 1, 3));
}
#ifdef __AVX2__
template <class RowOf>
RIATA_INLINE void load_rows(RowOf row, Double4& first, Double4& second) noexcept {
  const auto both = [](const double* low, const double* high) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(low)), _mm_loadu_pd(high), 1);
  };
  const __m256d even = both(row(0), row(2)), odd = both(row(1), row(3));
  first = _mm256_unpacklo_pd(even, odd);
  second = _mm256_unpackhi_pd(even, odd);
}
template <class RowOf>
RIATA_INLINE void store_rows(RowOf row, Double4 first, Double4 second) noexcept {
  const __m256d even = _mm256_unpacklo_pd(first, second), odd = _mm256_unpackhi_pd(first, second);
  _mm_storeu_pd(row(0), _mm256_castpd256_pd128(even));
  _mm_storeu_pd(row(1), _mm256_castpd256_pd128(odd));
  _mm_storeu_pd(row(2), _mm256_extractf128_pd(even, 1));
  _mm_storeu_pd(row(3), _mm256_extractf128_pd(odd, 1));
}
#endif
#ifdef __AVX512F__
template <class RowOf>
RIATA_INLINE void load_rows(RowOf row, Double8& first, Double8& second) noexcept {
  const auto two = [&](int k) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(row(k))), _mm_loadu_pd(row(k + 2)), 1);
  };
  const auto four = [&](int k) { return _mm512_insertf64x4(_mm512_castpd256_pd512(two(k)), two(k + 4), 1); };
  const __m512d even = four(0), odd = four(1);
  first = _mm512_unpacklo_pd(even, odd);
  second = _mm512_unpackhi_pd(even, odd);
}
template <class RowOf>
RIATA_INLINE void store_rows(RowOf row, Double8 first, Double8 second) noexcept {
  store_rows(row, _mm512_castpd512_pd256(first), _mm512_castpd512_pd256(second));
  store_rows([&](int k) { return row(k + 4); }, _mm512_extractf64x4_pd(first, 1),
             _mm512_extractf64x4_pd(second, 1));
}
#endif
template <class RowOf>
RIATA_INLINE void load_rows(RowOf row, double& first, double& second) noexcept {
  first = row(0)[0], second = row(0)[1];
}
template <class RowOf>
RIATA_INLINE void store_rows(RowOf row, double first, double second) noexcept {
  row(0)[0] = first, row(0)[1] = second;
}
template <class RowOf, class H>
RIATA_INLINE void load_rows(RowOf row, Two<H>& first, Two<H>& second) noexcept {
  load_rows(row, first.low, second.low);
  load_rows([&](int k) { return row(k + kSize<H>); }, first.high, second.high);
}
template <class RowOf, class H>
RIATA_INLINE void store_rows(RowOf row, const Two<H>& first, const Two<H>& second) noexcept {
  store_rows(row, first.low, second.low);
  store_rows([&](int k) { return row(k + kSize<H>); }, first.high, second.high);
}

}  // namespace riata::RIATA_TARGET
