// The words of a line of svmlight text: its label and its features. What each may look like, and what is
// wrong if it does not.
//
// Most features are read many at a time by `read_many_features` where the processor has the instructions for
// it, else by `read_short_features`: one 32-byte look finds the colon, the point and the end at once. Neither
// ever complains: whatever they do not recognise they leave to `read_feature`, which knows every rule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "riata/text/index_value.hpp"
#include "riata/text/scan.hpp"

namespace riata {

namespace svmlight {

inline bool ends_token(char c) noexcept {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '#';
}

// Where the features of the current row go, and the last index as written.
template <class Index>
struct Output {
  Index* indices;
  float* values;
  std::size_t size;
  std::size_t capacity;
  std::int64_t last;
};

// Features of the form 123:4, 123:-4.5 and the like, one blank between them, as many as there are. Returns
// where it stopped: at the end of the line or at the start of something else. Index up to 8 digits, value up
// to 8 before the point and 19 in all.
template <class Index>
inline const char* read_short_features(const char* p, std::int64_t base, Output<Index>& out) noexcept {
  Index* const indices = out.indices;
  float* const values = out.values;
  const std::size_t capacity = out.capacity;
  std::size_t size = out.size;
  std::int64_t last = out.last;
  while (size < capacity) {
    // Bits 32 and up end every search; a search that gets there found digits only, and what follows is looked
    // at like any other byte.
    std::uint64_t gaps = non_digits32(p) | std::uint64_t{15} << 32;
    const int colon = std::countr_zero(gaps);
    gaps &= gaps - 1;
    int point = std::countr_zero(gaps);
    if (p[colon] != ':' || static_cast<unsigned>(colon - 1) >= 8) break;
    const auto index = static_cast<std::int64_t>(read_digits8(p, colon));
    int first = colon + 1;
    const bool negative = point == first && p[point] == '-';
    if (negative) {
      ++first;
      gaps &= gaps - 1;
      point = std::countr_zero(gaps);
    }
    const int whole = point - first;
    if (static_cast<unsigned>(whole - 1) >= 8 || index <= last) break;
    std::uint64_t m;
    int end = point, fraction = 0;
    if (p[point] != '.') {
      m = read_digits8(p + first, whole);
    } else {
      gaps &= gaps - 1;
      end = std::countr_zero(gaps);
      fraction = end - point - 1;
      if (end - first <= 8) {
        m = read_decimal8(p + first, end - first, whole);
      } else if (fraction > 0 && fraction <= 16 && whole + fraction <= 19) {
        m = read_digits8(p + first, whole);
        const int head = std::min(fraction, 8), rest = fraction - head;
        m = m * detail::kIntegerPowers[static_cast<std::size_t>(head)] + read_digits8(p + point + 1, head);
        if (rest > 0) {
          m = m * detail::kIntegerPowers[static_cast<std::size_t>(rest)] + read_digits8(p + point + 9, rest);
        }
      } else {
        break;
      }
    }
    const char after = p[end];
    float value;
    if (!ends_token(after) || !detail::round_directly(m, -fraction, value)) break;
    indices[size] = static_cast<Index>(index - base);
    values[size] = negative ? -value : value;
    size += m != 0;  // as good as value != 0 with so few digits, and known before the division is done
    last = index;
    p += end;
    if (after != ' ') break;
    ++p;
  }
  out.size = size;
  out.last = last;
  return p;
}

// What to do with pairs that are not all regular, one by one. Returns how many are done with: the next one is
// for read_feature.
template <class Index>
inline int keep_irregular(const Pairs& pairs, std::int64_t base, Output<Index>& out) noexcept {
  for (int i = 0; i < pairs.count; ++i) {
    const std::int32_t index = pairs.keys[i];
    if (index <= out.last || pairs.doubts[i] != 0) return i;
    out.indices[out.size] = static_cast<Index>(index - base);
    out.values[out.size] = pairs.values[i];
    out.size += pairs.values[i] != 0;
    out.last = index;
  }
  return pairs.count;
}

// The same as read_short_features, and of any length and form of value, many at a time. `text` is where the
// text begins; the scan goes along with p.
template <class Index>
inline const char* read_many_features(const IndexValueKernels& kernels, const char* p, const char* text,
                                      std::int64_t base, DelimiterScan& scan, Output<Index>& out) noexcept {
  if (p - text < Pairs::kReach) return read_short_features(p, base, out);
  Pairs pairs;
  scan.pass_to(static_cast<std::size_t>(p - text));
  while (out.size + Pairs::kMost + Pairs::kSlack <= out.capacity && scan.need(2)) {
    // An index of 8 digits is below 10^9, so a larger one before is as good as 10^9.
    const auto last = static_cast<std::int32_t>(std::min<std::int64_t>(out.last, 1'000'000'000));
    read_pairs(kernels, text, scan, last, pairs);
    if (pairs.count == 0) break;
    const std::uint32_t* const places = scan.places();
    if (!ends_token(text[places[2 * pairs.count - 1]]) && --pairs.count == 0) break;
    int done = pairs.count;
    if (pairs.regular) [[likely]] {
      for (int i = 0; i < done; ++i) {
        out.indices[out.size + i] = static_cast<Index>(pairs.keys[i] - base);
        out.values[out.size + i] = pairs.values[i];
      }
      out.size += static_cast<std::size_t>(done);
      out.last = pairs.keys[done - 1];
    } else {
      done = keep_irregular(pairs, base, out);
      if (done == 0) break;
    }
    p = text + places[2 * done - 1];
    scan.pass(static_cast<std::size_t>(2 * done));
    if (*p != ' ') break;
    ++p;
    if (done < Pairs::kMost && scan.count() >= 2) break;
  }
  return p;
}

// The digits at p as an index; false if it is beyond `largest`.
inline bool read_index(const char*& p, std::int64_t largest, std::int64_t& index) noexcept {
  std::uint64_t n = 0;
  bool fits = true;
  for (; is_digit(*p); ++p) {
    const auto digit = static_cast<std::uint64_t>(*p - '0');
    fits = fits && n <= (static_cast<std::uint64_t>(largest) - digit) / 10;
    if (fits) n = 10 * n + digit;
  }
  index = static_cast<std::int64_t>(n);
  return fits;
}

// Any feature, or `qid:n`, at p, which moves behind it. Returns what is wrong with it, p staying where that
// is.
template <class Index>
inline ErrorKind read_feature(const char*& p, std::int64_t base, Output<Index>& out,
                              bool& too_wide) noexcept {
  if (std::memcmp(p, "qid:", 4) == 0) {
    const char* q = p + 4 + (p[4] == '-');
    if (!is_digit(*q)) return "qid_syntax";
    while (is_digit(*q)) ++q;
    if (!ends_token(*q)) return "qid_syntax";
    p = q;
    return nullptr;
  }
  if (*p == '-' && is_digit(p[1])) return "index_negative";
  if (!is_digit(*p)) return "feature_syntax";
  const char* q = p;
  std::int64_t index = 0;
  // The number of features, one more than the largest index from 0, must be an int64 too.
  const bool fits = read_index(q, std::numeric_limits<std::int64_t>::max() - 1 + base, index);
  if (*q != ':') return "feature_syntax";
  if (!fits) return "index_too_large";
  if (index < base) return "index_zero";
  if (index == out.last) return "index_duplicate";
  if (index < out.last) return "index_descending";
  if (index - base > std::numeric_limits<Index>::max()) {
    too_wide = true;
    return nullptr;
  }
  ++q;
  if (ends_token(*q)) return "value_missing";
  const Number<float> number = read_number<float>(q);
  if (number.error != NumberError::none || !ends_token(*number.end)) {
    p = q;
    if (number.error == NumberError::not_finite) return "value_not_finite";
    if (number.error == NumberError::too_large && ends_token(*number.end)) return "value_too_large";
    return "value_syntax";
  }
  out.indices[out.size] = static_cast<Index>(index - base);
  out.values[out.size] = number.value;
  out.size += number.value != 0;
  out.last = index;
  p = number.end;
  return nullptr;
}

// The label at p, which moves behind it.
inline ErrorKind read_label(const char*& p, bool labelled, double& label) noexcept {
  const bool negative = *p == '-';
  if (is_digit(p[negative]) && p[negative + 1] == ' ') {  // 1, 0 or -1: most are
    const double digit = p[negative] - '0';
    label = negative ? -digit : digit;
    p += negative + 1;
    return nullptr;
  }
  const Number<double> number = read_number<double>(p);
  if (number.error == NumberError::none && ends_token(*number.end)) {
    label = number.value;
    p = number.end;
    return nullptr;
  }
  const char* q = p;
  while (is_digit(*q)) ++q;
  if ((*q == ':' && q > p) || std::memcmp(p, "qid:", 4) == 0) {
    label = std::numeric_limits<double>::quiet_NaN();
    return labelled ? "label_missing" : nullptr;
  }
  if (number.error == NumberError::not_finite) return "label_not_finite";
  if (number.error == NumberError::too_large && ends_token(*number.end)) return "label_too_large";
  return number.error == NumberError::none && *number.end == ',' ? "label_several" : "label_syntax";
}

}  // namespace svmlight

}  // namespace riata
