// The columns of a row eight at a time, also where fewer are left: what is behind them is neither read nor written.
#pragma once

#include "riata/simd/vector.hpp"

namespace riata::RIATA_TARGET {

// The first `have` numbers of a vector, none if that is not above zero; the others are `rest`, and are neither read
// nor stored.
RIATA_INLINE void load_first(Double2& v, const double* p, int have, double rest) noexcept {
  v = Double2{have > 0 ? p[0] : rest, have > 1 ? p[1] : rest};
}
RIATA_INLINE void store_first(double* p, int have, const Double2& v) noexcept {
  if (have > 0) p[0] = v[0];
  if (have > 1) p[1] = v[1];
}
#if defined(__AVX2__) && !defined(__AVX512VL__)
RIATA_INLINE __m256i first_lanes(int have) noexcept {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(have), _mm256_set_epi64x(3, 2, 1, 0));
}
RIATA_INLINE void load_first(Double4& v, const double* p, int have, double rest) noexcept {
  const __m256i lanes = first_lanes(have);
  v = _mm256_blendv_pd(all<Double4>(rest), _mm256_maskload_pd(p, lanes), _mm256_castsi256_pd(lanes));
}
RIATA_INLINE void store_first(double* p, int have, const Double4& v) noexcept {
  _mm256_maskstore_pd(p, first_lanes(have), v);
}
#endif
#ifdef __AVX512F__
RIATA_INLINE __mmask8 first_of_eight(int have) noexcept { return static_cast<__mmask8>((1U << have) - 1); }
RIATA_INLINE void load_first(Double8& v, const double* p, int have, double rest) noexcept {
  v = _mm512_mask_loadu_pd(all<Double8>(rest), first_of_eight(have), p);
}
RIATA_INLINE void store_first(double* p, int have, const Double8& v) noexcept {
  _mm512_mask_storeu_pd(p, first_of_eight(have), v);
}
#endif
#ifdef __AVX512VL__
RIATA_INLINE void load_first(Double4& v, const double* p, int have, double rest) noexcept {
  v = _mm256_mask_loadu_pd(all<Double4>(rest), first_of_eight(have), p);
}
RIATA_INLINE void store_first(double* p, int have, const Double4& v) noexcept {
  _mm256_mask_storeu_pd(p, first_of_eight(have), v);
}
#endif
template <class H>
RIATA_INLINE void load_first(Two<H>& v, const double* p, int have, double rest) noexcept {
  load_first(v.low, p, have, rest), load_first(v.high, p + kSize<H>, have - kSize<H>, rest);
}
template <class H>
RIATA_INLINE void store_first(double* p, int have, const Two<H>& v) noexcept {
  store_first(p, have, v.low), store_first(p + kSize<H>, have - kSize<H>, v.high);
}
template <class V = Eight>
RIATA_INLINE V load_first(const double* p, int have, double rest) noexcept {
  V v;
  load_first(v, p, have, rest);
  return v;
}

// Of the columns of a row, up to eight beginning with the first-th, or up to four where V is Four. kWhole: all are there.
struct Columns {
  int first, have;
};
template <bool kWhole, class V = Eight>
RIATA_INLINE V get(const Columns& c, const double* p, double rest = 0) noexcept {
  return kWhole ? loaded<V>(p + c.first) : load_first<V>(p + c.first, c.have, rest);
}
template <bool kWhole, class V>
RIATA_INLINE void put(const Columns& c, double* p, const V& v) noexcept {
  if (kWhole)
    store(p + c.first, v);
  else
    store_first(p + c.first, c.have, v);
}

}  // namespace riata::RIATA_TARGET
