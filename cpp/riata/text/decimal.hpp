// Numbers of which it is known where they end.
//
// Most are whole numbers of a few digits or start with "0.": their digits are taken all at once, from behind.
#pragma once

#include <cstdint>
#include <cstring>

#include "riata/simd/instructions.hpp"
#include "riata/text/number.hpp"
#include "riata/text/scan.hpp"

#if defined(RIATA_HAS_WIDE)
#include <immintrin.h>
#endif

namespace riata {

namespace detail {

#if defined(__SSE2__)
// Sixteen digits, of which those in front count as zero but for the last n, to a number; false if one of the
// last n is none.
inline bool join_digits16(const char* end, std::size_t n, std::uint64_t& joined) noexcept {
  alignas(32) static constexpr std::uint8_t kTail[32] = {
      0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
      255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(end - 16));
  const __m128i tail = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kTail + n));
  const __m128i digits = _mm_and_si128(_mm_sub_epi8(bytes, _mm_set1_epi8('0')), tail);
  const __m128i good = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
  const __m128i none = _mm_setzero_si128();
  const __m128i tens = _mm_set1_epi32(1 << 16 | 10), hundreds = _mm_set1_epi32(1 << 16 | 100),
                thousands = _mm_set1_epi32(1 << 16 | 10000);
  const __m128i twos = _mm_packs_epi32(_mm_madd_epi16(_mm_unpacklo_epi8(digits, none), tens),
                                       _mm_madd_epi16(_mm_unpackhi_epi8(digits, none), tens));
  const __m128i fours = _mm_madd_epi16(twos, hundreds);
  const __m128i eights = _mm_madd_epi16(_mm_packs_epi32(fours, fours), thousands);
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  joined = (both & 0xFFFFFFFFu) * 100000000u + (both >> 32);
  return _mm_movemask_epi8(good) == 0xFFFF;
}
#endif

}  // namespace detail

// Any number, if it ends there.
[[gnu::noinline]] inline bool read_any_until(const char* begin, const char* end, float& value) noexcept {
  const Number<float> number = read_short_number(begin);
  value = number.value;
  return number.error == NumberError::none && number.end == end;
}

// The number in [begin, end), before which bytes from `text` on are readable; false if it is none or too
// large. The contract is that of read_number.
inline bool read_until([[maybe_unused]] const char* text, const char* begin, const char* end,
                       float& value) noexcept {
#if defined(__SSE2__)
  const bool point = begin[0] == '0' && begin[1] == '.';
  const auto n = static_cast<std::size_t>(end - begin) - (point ? 2 : 0);
  std::uint64_t m = 0;
  if (n - 1 < 16 && end - text >= 16 && detail::join_digits16(end, n, m) &&
      detail::quick(m, point ? -static_cast<std::int64_t>(n) : 0, value)) {
    return true;
  }
#endif
  return read_any_until(begin, end, value);
}

#if defined(RIATA_HAS_WIDE)
namespace detail {

RIATA_FOR_AVX512 inline __m128i before16(const char* end) noexcept {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(end - 16));
}

}  // namespace detail

// Sixteen numbers such as 0.0371, in the text before ends[0] to ends[15], and how many digits each has behind
// its point: 1 to 10, or kNoFraction where there is none to be read, which gives 0. False if one of them
// looks different after all or has a digit too many for a float; sixteen bytes before each end are readable.
inline constexpr int kNoFraction = 0x80;
RIATA_FOR_AVX512 inline bool read_fractions16(const char* text, const std::uint32_t* ends, __m512i counts,
                                              __m512& values) noexcept {
  // Of the sixteen bytes before an end, how many follow each; every 16 bytes are for themselves throughout.
  const __m512i behind = _mm512_maskz_broadcast_i32x4(
      0xFFFF, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  const __m512i zero = _mm512_set1_epi8('0'), tens = _mm512_set1_epi16(1 << 8 | 10),
                hundreds = _mm512_set1_epi32(1 << 16 | 100), thousands = _mm512_set1_epi32(1 << 16 | 10000);
  __m512i fours[4];  // digits of numbers k, k + 4, k + 8, k + 12
  std::uint64_t wrong = 0;
  for (int k = 0; k < 4; ++k) {
    __m512i x = _mm512_zextsi128_si512(detail::before16(text + ends[k]));
    x = _mm512_inserti32x4(x, detail::before16(text + ends[k + 4]), 1);
    x = _mm512_inserti32x4(x, detail::before16(text + ends[k + 8]), 2);
    x = _mm512_inserti32x4(x, detail::before16(text + ends[k + 12]), 3);
    const __m512i count = _mm512_shuffle_epi8(counts, _mm512_set1_epi8(static_cast<char>(4 * k)));
    const __m512i place = _mm512_sub_epi8(behind, count);
    const __m512i digits = _mm512_maskz_sub_epi8(_mm512_cmplt_epi8_mask(behind, count), x, zero);
    wrong |= _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9));
    wrong |= _mm512_mask_cmpneq_epi8_mask(_mm512_cmpeq_epi8_mask(behind, count), x, _mm512_set1_epi8('.'));
    wrong |= _mm512_mask_cmpneq_epi8_mask(_mm512_cmpeq_epi8_mask(place, _mm512_set1_epi8(1)), x, zero);
    fours[k] = _mm512_madd_epi16(_mm512_maddubs_epi16(digits, tens), hundreds);
  }
  const __m512i front = _mm512_madd_epi16(_mm512_packus_epi32(fours[0], fours[1]), thousands);
  const __m512i back = _mm512_madd_epi16(_mm512_packus_epi32(fours[2], fours[3]), thousands);
  const __m512 front_eights = _mm512_castsi512_ps(front), back_eights = _mm512_castsi512_ps(back);
  const __m512i high = _mm512_castps_si512(_mm512_shuffle_ps(front_eights, back_eights, 0x88));
  const __m512i low = _mm512_castps_si512(_mm512_shuffle_ps(front_eights, back_eights, 0xDD));
  const __m512i beyond = _mm512_or_si512(high, _mm512_maskz_srli_epi32(0xFFFF, low, 24));
  if ((wrong | _mm512_test_epi32_mask(beyond, beyond)) != 0) return false;
  // Below 2^24, so exact, as is the power of ten: one rounding.
  alignas(64) static constexpr float kPowers[16] = {1e0f, 1e1f, 1e2f,  1e3f, 1e4f, 1e5f, 1e6f, 1e7f,
                                                    1e8f, 1e9f, 1e10f, 1e0f, 1e0f, 1e0f, 1e0f, 1e0f};
  const __m512 powers = _mm512_maskz_permutexvar_ps(0xFFFF, counts, _mm512_load_ps(kPowers));
  values = _mm512_div_ps(_mm512_maskz_cvtepi32_ps(0xFFFF, low), powers);
  return true;
}
#endif

}  // namespace riata
