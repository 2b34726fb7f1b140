// Decimal text to float and double, correctly rounded.
//
// Contract: the text is followed, somewhere, by a byte that cannot be part of a number (readers put a newline
// there), and at least `kPadding` bytes after that are readable. What they hold does not matter.
//
// A float is never reached by rounding twice. With m the digits as an integer and k the power of ten:
//   - m < 2^24 and |k| <= 10: m and 10^|k| are exact floats, so one division rounds once;
//   - else m * 10^k is computed in double with an error below 8 units in the last place; a double further
//     than that from the midpoint of two floats rounds to the same float as the exact value;
//   - else std::from_chars, which always gets it right and takes its time.
#pragma once

#include <array>
#include <bit>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// libc++ reads floating-point numbers since version 20, on macOS only where the system is as new: there the C
// library does it, in the C locale. It rounds correctly too.
#if !defined(RIATA_STRTOD) && (defined(__APPLE__) || (defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000))
#define RIATA_STRTOD 1
#endif
#if defined(RIATA_STRTOD)
#include <cerrno>
#include <clocale>
#include <cstdlib>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

namespace riata {

static_assert(std::endian::native == std::endian::little, "eight digits are read as one little-endian word");
static_assert(FLT_EVAL_METHOD == 0, "float arithmetic must round to float");

inline constexpr std::size_t kPadding = 64;

enum class NumberError : std::uint8_t { none, syntax, not_finite, too_large };

template <class Float>
struct Number {
  Float value = 0;
  const char* end = nullptr;  // one past the last byte read
  NumberError error = NumberError::none;
};

inline bool is_digit(char c) noexcept { return static_cast<unsigned char>(c - '0') < 10; }

inline std::uint64_t load8(const char* p) noexcept {
  std::uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// How many of the eight bytes at p are digits before the first that is not. Bytes behind that one may be
// marked wrongly, because a carry leaks upwards; only the lowest mark is looked at.
inline int count_digits8(const char* p) noexcept {
  const std::uint64_t x = load8(p) ^ 0x3030303030303030u;
  const std::uint64_t marks = ((x + 0x7676767676767676u) | x) & 0x8080808080808080u;
  return std::countr_zero(marks) >> 3;
}

// The number that eight digits spell, each the value of a byte, the first in the lowest: neighbours are
// joined to pairs, quadruples and all eight.
inline std::uint64_t join_digits8(std::uint64_t x) noexcept {
  x = (x * 10 + (x >> 8)) & 0x00FF00FF00FF00FFu;
  x = (x * 100 + (x >> 16)) & 0x0000FFFF0000FFFFu;
  return (x * 10000 + (x >> 32)) & 0xFFFFFFFFu;
}

// The number that the n digits at p spell, 1 <= n <= 8: zeros are shifted in front.
inline std::uint64_t read_digits8(const char* p, int n) noexcept {
  return join_digits8((load8(p) ^ 0x3030303030303030u) << (64 - 8 * n));
}

// The same for n bytes of which the one at `point`, not the first, is no digit and is passed over: the digits
// before it move up.
inline std::uint64_t read_decimal8(const char* p, int n, int point) noexcept {
  const std::uint64_t x = load8(p) ^ 0x3030303030303030u;
  const std::uint64_t before = (std::uint64_t{1} << (8 * point)) - 1;
  const std::uint64_t moved = (x & before) << 8 | (x & ~(before << 8 | 0xFFu));
  return join_digits8(moved << (64 - 8 * n));
}

// Bit i is set where p[i] is not a digit, i < 32.
inline std::uint32_t non_digits32(const char* p) noexcept {
#if defined(__SSE2__)
  const __m128i low = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9);
  const __m128i a = _mm_sub_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)), low);
  const __m128i b = _mm_sub_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16)), low);
  const int digits_a = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(a, nine), a));
  const int digits_b = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(b, nine), b));
  return ~(static_cast<std::uint32_t>(digits_a) | static_cast<std::uint32_t>(digits_b) << 16);
#else
  std::uint32_t bits = 0;
  for (int i = 0; i < 32; ++i) bits |= static_cast<std::uint32_t>(!is_digit(p[i])) << i;
  return bits;
#endif
}

namespace detail {

inline constexpr int kLargestPower = 64;

inline constexpr std::array<double, kLargestPower + 1> kPowers = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31, 1e32, 1e33,
    1e34, 1e35, 1e36, 1e37, 1e38, 1e39, 1e40, 1e41, 1e42, 1e43, 1e44, 1e45, 1e46, 1e47, 1e48, 1e49, 1e50,
    1e51, 1e52, 1e53, 1e54, 1e55, 1e56, 1e57, 1e58, 1e59, 1e60, 1e61, 1e62, 1e63, 1e64};

inline constexpr std::array<float, 11> kFloatPowers = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f,
                                                       1e6f, 1e7f, 1e8f, 1e9f, 1e10f};

inline constexpr std::array<std::uint64_t, 20> kIntegerPowers = [] {
  std::array<std::uint64_t, 20> powers{};
  std::uint64_t p = 1;
  for (auto& entry : powers) entry = p, p *= 10;
  return powers;
}();

// m * 10^k where one or two operations are known to round correctly; false where they are not.
inline bool round_directly(std::uint64_t m, std::int64_t k, double& value) noexcept {
  if (m > (std::uint64_t{1} << 53) || k < -22 || k > 22) return false;
  const double d = static_cast<double>(m);  // exact, as is the power of ten: one rounding
  value = k < 0 ? d / kPowers[static_cast<std::size_t>(-k)] : d * kPowers[static_cast<std::size_t>(k)];
  return true;
}

inline bool round_directly(std::uint64_t m, std::int64_t k, float& value) noexcept {
  if (m < (1u << 24) && k <= 0 && k >= -10) {
    // The cast goes through a signed 32-bit integer, which is one instruction; m has 24 bits.
    value = static_cast<float>(static_cast<std::int32_t>(m)) / kFloatPowers[static_cast<std::size_t>(-k)];
    return true;
  }
  if (m == 0) return value = 0, true;
  if (k < -kLargestPower || k > kLargestPower) return false;
  // Three roundings at most (m, the power, the product): below 4 units in the last place.
  const double d = static_cast<double>(m);
  const double product =
      k < 0 ? d / kPowers[static_cast<std::size_t>(-k)] : d * kPowers[static_cast<std::size_t>(k)];
  constexpr std::uint64_t dropped = (std::uint64_t{1} << 29) - 1, half = std::uint64_t{1} << 28;
  const std::uint64_t tail = std::bit_cast<std::uint64_t>(product) & dropped;
  const bool near_midpoint = tail - (half - 8) <= 16;
  if (near_midpoint || product < 2.0 * std::numeric_limits<float>::min() ||
      product > 0.5 * static_cast<double>(std::numeric_limits<float>::max()))
    return false;
  value = static_cast<float>(product);
  return true;
}

inline bool starts_with_word(const char* p, const char* word) noexcept {
  for (; *word != 0; ++p, ++word) {
    if ((*p | 0x20) != *word) return false;
  }
  return true;
}

// All digits at p, joined to m (modulo 2^64). Returns one past the last.
inline const char* read_run(const char* p, std::uint64_t& m) noexcept {
  for (int n = 8; n == 8; p += n) {
    n = count_digits8(p);
    if (n > 0) m = m * kIntegerPowers[static_cast<std::size_t>(n)] + read_digits8(p, n);
  }
  return p;
}

#if defined(RIATA_STRTOD)
// As std::from_chars, for text that some byte ends which cannot be part of a number, and that begins with a
// digit or a point; a hexadecimal number, which the C library would read, never comes here.
template <class Float>
std::from_chars_result from_chars(const char* start, const char*, Float& value) noexcept {
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  char* stop = nullptr;
  const int before = errno;
  errno = 0;
  if constexpr (sizeof(Float) == sizeof(float)) {
    value = strtof_l(start, &stop, c_locale);
  } else {
    value = strtod_l(start, &stop, c_locale);
  }
  // Numbers below the smallest normal one are out of range for some C libraries: only zero is, here.
  const bool outside = errno == ERANGE && (value == 0 || std::isinf(value));
  errno = before;
  return {stop, outside ? std::errc::result_out_of_range : std::errc()};
}
#else
using std::from_chars;
#endif

// `start` is the first digit or point, `whole_end` where the digits before the point end, `end` one past the
// last byte of the number, `given` the exponent as written.
template <class Float>
Number<Float> with_from_chars(const char* start, const char* whole_end, const char* end,
                              std::int64_t given) noexcept {
  Number<Float> number{0, end, NumberError::none};
  const std::from_chars_result result = from_chars(start, end, number.value);
  if (result.ec == std::errc::result_out_of_range) {
    // Too large or too small? The first digit that counts is worth 10^(place - 1) and the exponent.
    const char* first = start;
    while (*first == '0' || *first == '.') ++first;
    const std::int64_t place = whole_end - first + (first > whole_end);
    number.value = 0;
    if (place + given > 0) number.error = NumberError::too_large;
  } else if (std::isinf(number.value)) {
    number.error = NumberError::too_large;
  } else if (result.ec != std::errc() || result.ptr != end) {
    number.error = NumberError::syntax;
  }
  return number;
}

}  // namespace detail

// [+-] digits [. digits] [e [+-] digits], with a digit before or after the point. "nan", "inf" and "infinity"
// are recognised and are errors. A number too small for Float becomes zero, as rounding wants it.
template <class Float>
Number<Float> read_number(const char* p) noexcept {
  const char* const begin = p;
  const bool negative = *p == '-';
  p += (*p == '-') | (*p == '+');
  const char* const start = p;

  std::uint64_t m = 0;
  p = detail::read_run(p, m);
  const char* const whole_end = p;
  std::int64_t digits = p - start, exponent = 0, given = 0;
  if (*p == '.') {
    const char* const after = ++p;
    p = detail::read_run(p, m);
    exponent = after - p;
    digits -= exponent;
  }
  if (digits == 0) {
    const bool word = detail::starts_with_word(start, "nan") || detail::starts_with_word(start, "inf");
    return {0, begin, word ? NumberError::not_finite : NumberError::syntax};
  }
  if ((*p | 0x20) == 'e') {
    const char* q = p + 1;
    const bool down = *q == '-';
    q += (*q == '-') | (*q == '+');
    if (is_digit(*q)) {
      for (; is_digit(*q); ++q) given = given < (1 << 30) ? 10 * given + (*q - '0') : given;
      if (down) given = -given;
      exponent += given;
      p = q;
    }
  }
  Number<Float> number{0, p, NumberError::none};
  if (digits > 19 || !detail::round_directly(m, exponent, number.value)) {
    number = detail::with_from_chars<Float>(start, whole_end, p, given);
  }
  if (negative) number.value = -number.value;
  return number;
}

}  // namespace riata
