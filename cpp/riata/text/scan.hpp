// What text readers look for: where a word ends, and the numbers that most words are.
#pragma once

#include <bit>
#include <cstdint>

#include "riata/text/number.hpp"

namespace riata {

// Bit i is set where p[i] is a blank, a control character, or one of the two bytes given, i < 16.
inline std::uint32_t stops16(const char* p, char one, char other) noexcept {
#if defined(__SSE2__)
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(' ')), x);
  const __m128i marks =
      _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(one)), _mm_cmpeq_epi8(x, _mm_set1_epi8(other)));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(low, marks)));
#else
  std::uint32_t bits = 0;
  for (int i = 0; i < 16; ++i) {
    const bool stop = static_cast<unsigned char>(p[i]) <= ' ' || p[i] == one || p[i] == other;
    bits |= static_cast<std::uint32_t>(stop) << i;
  }
  return bits;
#endif
}

// Numbers such as 4, -4.5 and 3.9656971e-02, up to 8 digits before the point and 19 in all, read in one look.
// Anything else is left to read_number. The contract is that of read_number.
inline Number<float> read_short_number(const char* p) noexcept {
  const char* const begin = p;
  const bool negative = *p == '-';
  p += negative;
  std::uint64_t gaps = non_digits32(p) | std::uint64_t{7} << 32;
  const int whole = std::countr_zero(gaps);
  if (static_cast<unsigned>(whole - 1) >= 8) return read_number<float>(begin);
  std::uint64_t m = 0;
  int end = whole, fraction = 0;
  if (p[whole] != '.') {
    m = read_digits8(p, whole);
  } else {
    gaps &= gaps - 1;
    end = std::countr_zero(gaps);
    fraction = end - whole - 1;
    if (end <= 8) {
      m = read_decimal8(p, end, whole);
    } else if (fraction > 0 && fraction <= 16 && whole + fraction <= 19) {
      const int head = fraction < 8 ? fraction : 8, rest = fraction - head;
      m = read_digits8(p, whole) * detail::kIntegerPowers[static_cast<std::size_t>(head)] +
          read_digits8(p + whole + 1, head);
      if (rest > 0) {
        m = m * detail::kIntegerPowers[static_cast<std::size_t>(rest)] + read_digits8(p + whole + 9, rest);
      }
    } else {
      return read_number<float>(begin);
    }
  }
  int exponent = -fraction;
  if ((p[end] | 0x20) == 'e') {
    const char* const sign = p + end + 1;
    const bool down = *sign == '-';
    const char* const digits = sign + (down || *sign == '+');
    if (!is_digit(digits[0]) || !is_digit(digits[1]) || is_digit(digits[2])) return read_number<float>(begin);
    const int given = 10 * (digits[0] - '0') + (digits[1] - '0');
    exponent += down ? -given : given;
    end = static_cast<int>(digits + 2 - p);
  }
  float value = 0;
  if (!detail::quick(m, exponent, value)) return read_number<float>(begin);
  return {negative ? -value : value, p + end, NumberError::none};
}

}  // namespace riata
