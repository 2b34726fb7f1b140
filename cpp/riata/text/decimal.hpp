// Numbers of which it is known where they end.
//
// Most are whole numbers of a few digits or start with "0.": their digits are taken all at once, from behind.
#pragma once

#include <cstdint>
#include <cstring>

#include "riata/text/number.hpp"
#include "riata/text/scan.hpp"

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
      detail::round_directly(m, point ? -static_cast<std::int64_t>(n) : 0, value)) {
    return true;
  }
#endif
  return read_any_until(begin, end, value);
}

}  // namespace riata
