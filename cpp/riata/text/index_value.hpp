// Words such as 123:4, 123:-4.5 and 123:0.25, many at a time: a whole number of up to 8 digits, a colon, a
// decimal number, a blank.
//
// In three steps, each a short loop without surprises: the scan (delimiters.hpp) says where the parts of the
// words end, one kernel joins their digits and one rounds.
//
// A float is as number.hpp would have read it: the double before the last rounding has an error below 8 units
// in the last place (the digits above 2^53, their power of ten, the quotient), and where that is too much to
// be sure of the float, the word is left to others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "riata/text/delimiters.hpp"
#include "riata/text/index_value_kernels.hpp"
#include "riata/text/number.hpp"

namespace riata {

inline constexpr Delimiters kIndexValueDelimiters{{' ', ':'}, {'\n', '\n'}, ' '};

namespace detail {

// Word i, where its decimal number is long, has an exponent or is written in another odd way. False if it is
// no such word.
inline bool read_odd(const char* text, const std::uint32_t* places, int i, Pairs& pairs) noexcept {
  const char* const p = text + static_cast<std::uint32_t>(places[2 * i - 1] + 1);
  const char *const colon = text + places[2 * i], *const end = text + places[2 * i + 1];
  if (*colon != ':' || colon - p < 1 || colon - p > 8) return false;
  for (const char* q = p; q < colon; ++q) {
    if (!is_digit(*q)) return false;
  }
  const Number<float> number = read_number<float>(colon + 1);
  if (number.error != NumberError::none || number.end != end) return false;
  const auto key = static_cast<std::int32_t>(read_digits8(p, static_cast<int>(colon - p)));
  pairs.digits[1 + i] = {0, key, 0, number.value != 0};
  pairs.odd_places[pairs.n_odd] = i;
  pairs.odd_values[pairs.n_odd++] = number.value;
  pairs.power[i] = 1;
  return true;
}

}  // namespace detail

// The words behind the delimiter before the next one, at most kMost of them, as far as the scan goes, which
// stays where it is. Stops behind a word that ends in anything but a blank, before one that it cannot read.
inline void read_pairs(const IndexValueKernels& kernels, const char* text, DelimiterScan& scan,
                       std::int32_t last, Pairs& pairs) noexcept {
  const int most = static_cast<int>(std::min<std::size_t>(scan.count() / 2, Pairs::kMost));
  const std::uint32_t* const places = scan.places();
  pairs.n_odd = 0;
  int n = 0;
  for (bool more = true; more;) {
    n = kernels.join(text, places, n, most, pairs);
    more = n < most && (n == 0 || text[places[2 * n - 1]] == ' ') && detail::read_odd(text, places, n, pairs);
    n += more;
    more = more && text[places[2 * n - 1]] == ' ';
  }
  pairs.count = n;
  kernels.round(last, pairs);
}

}  // namespace riata
