// Blanks, and words that are numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "riata/text/number.hpp"
#include "riata/text/parse_error.hpp"

namespace riata {

inline bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

// Without the blanks around it.
inline std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The number that a word is, all of it; or what is wrong with it, in the words of the caller. A byte that
// cannot be part of a number stands behind the word.
template <class Float>
ErrorKind read_word(std::string_view word, Float& value, ErrorKind syntax, ErrorKind not_finite,
                    ErrorKind too_large) noexcept {
  const Number<Float> number = read_number<Float>(word.data());
  if (number.error == NumberError::not_finite) return not_finite;
  if (number.error == NumberError::syntax || number.end != word.data() + word.size()) return syntax;
  if (number.error == NumberError::too_large) return too_large;
  value = number.value;
  return nullptr;
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
  if (!detail::round_directly(m, exponent, value)) return read_number<float>(begin);
  return {negative ? -value : value, p + end, NumberError::none};
}

}  // namespace riata
