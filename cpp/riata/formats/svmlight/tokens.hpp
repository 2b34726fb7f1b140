// The words of a line of svmlight text: its label and its features. What each may look like, and what is
// wrong if it does not.
//
// Most features are read many at a time by `read_many_features` where the processor has the instructions for
// it, else by `read_plain_features`: one 32-byte look finds the colon, the point and the end at once. Neither
// ever complains: whatever they do not recognise they leave to `read_feature`, which knows every rule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>

#include "riata/text/index_value.hpp"
#include "riata/text/number.hpp"

namespace riata {

enum class SvmlightError : std::uint8_t {
  none,
  label_missing,
  label_syntax,
  label_several,
  label_not_finite,
  label_too_large,
  qid_syntax,
  feature_syntax,
  index_zero,
  index_negative,
  index_duplicate,
  index_descending,
  index_too_large,
  value_missing,
  value_syntax,
  value_not_finite,
  value_too_large,
  no_memory,
};

inline const char* name_of(SvmlightError error) noexcept {
  constexpr const char* names[] = {
      "none",
      "label_missing",
      "label_syntax",
      "label_several",
      "label_not_finite",
      "label_too_large",
      "qid_syntax",
      "feature_syntax",
      "index_zero",
      "index_negative",
      "index_duplicate",
      "index_descending",
      "index_too_large",
      "value_missing",
      "value_syntax",
      "value_not_finite",
      "value_too_large",
      "no_memory",
  };
  static_assert(std::size(names) == static_cast<std::size_t>(SvmlightError::no_memory) + 1);
  return names[static_cast<std::size_t>(error)];
}

namespace detail {

inline bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }
inline bool ends_token(char c) noexcept {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '#';
}

// Where the features of the current row go, and the last index as written.
template <class Index>
struct Sink {
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
inline const char* read_plain_features(const char* p, std::int64_t base, Sink<Index>& sink) noexcept {
  Index* const indices = sink.indices;
  float* const values = sink.values;
  const std::size_t capacity = sink.capacity;
  std::size_t size = sink.size;
  std::int64_t last = sink.last;
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
        m = m * kIntegerPowers[static_cast<std::size_t>(head)] + read_digits8(p + point + 1, head);
        if (rest > 0) {
          m = m * kIntegerPowers[static_cast<std::size_t>(rest)] + read_digits8(p + point + 9, rest);
        }
      } else {
        break;
      }
    }
    const char after = p[end];
    float value;
    if (!ends_token(after) || !quick(m, -fraction, value)) break;
    indices[size] = static_cast<Index>(index - base);
    values[size] = negative ? -value : value;
    size += m != 0;  // as good as value != 0 with so few digits, and known before the division is done
    last = index;
    p += end;
    if (after != ' ') break;
    ++p;
  }
  sink.size = size;
  sink.last = last;
  return p;
}

#if defined(RIATA_HAS_WIDE)

// What to do with pairs that are not all regular, one by one. Returns how many are done with: the next one is
// for read_feature.
template <class Index>
inline int keep_irregular(const Pairs& pairs, std::int64_t base, Sink<Index>& sink) noexcept {
  for (int i = 0; i < pairs.count; ++i) {
    const std::int32_t index = pairs.keys[i];
    if (index <= sink.last || pairs.in_doubt(i)) return i;
    sink.indices[sink.size] = static_cast<Index>(index - base);
    sink.values[sink.size] = pairs.values[i];
    sink.size += pairs.values[i] != 0;
    sink.last = index;
  }
  return pairs.count;
}

// The same as read_plain_features, and of any length and form of value, many at a time. `begin` is where the
// text begins; the marks go along with p.
template <class Index>
RIATA_FOR_AVX2 inline const char* read_many_features(const char* p, const char* begin, const char* end,
                                                     Instructions instructions, std::int64_t base,
                                                     Marks& marks, Sink<Index>& sink) noexcept {
  if (p - begin < Pairs::kReach) return read_plain_features(p, base, sink);
  Pairs pairs;
  marks.skip_to(p);
  while (sink.size + Pairs::kMost + Pairs::kSlack <= sink.capacity) {
    if (marks.next + 2 > marks.count) {
      mark_window(instructions, marks, p, end);
      if (marks.count < 2) break;
    }
    // An index of 8 digits is below 10^9, so a larger one before is as good as 10^9.
    const auto last = static_cast<std::int32_t>(std::min<std::int64_t>(sink.last, 1'000'000'000));
    read_pairs(marks, last, pairs);
    if (pairs.count == 0) break;
    const char* stop = marks.origin + *marks.at(marks.next + 2 * pairs.count - 1);
    if (!ends_token(*stop) && --pairs.count == 0) break;
    int done = pairs.count;
    if (pairs.regular) [[likely]] {
      for (int i = 0; i < pairs.count; ++i) {
        sink.indices[sink.size + i] = static_cast<Index>(pairs.keys[i] - base);
        sink.values[sink.size + i] = pairs.values[i];
      }
      sink.size += static_cast<std::size_t>(done);
      sink.last = pairs.keys[done - 1];
    } else {
      done = keep_irregular(pairs, base, sink);
      if (done == 0) break;
    }
    marks.next += 2 * done;
    p = marks.origin + *marks.at(marks.next - 1);
    if (*p != ' ') break;
    ++p;
    if (done < Pairs::kMost && marks.next + 2 <= marks.count) break;
  }
  return p;
}

#endif

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
inline SvmlightError read_feature(const char*& p, std::int64_t base, Sink<Index>& sink,
                                  bool& too_wide) noexcept {
  if (std::memcmp(p, "qid:", 4) == 0) {
    const char* q = p + 4 + (p[4] == '-');
    if (!is_digit(*q)) return SvmlightError::qid_syntax;
    while (is_digit(*q)) ++q;
    if (!ends_token(*q)) return SvmlightError::qid_syntax;
    p = q;
    return SvmlightError::none;
  }
  if (*p == '-' && is_digit(p[1])) return SvmlightError::index_negative;
  if (!is_digit(*p)) return SvmlightError::feature_syntax;
  const char* q = p;
  std::int64_t index = 0;
  // The number of features, one more than the largest index from 0, must be an int64 too.
  const bool fits = read_index(q, std::numeric_limits<std::int64_t>::max() - 1 + base, index);
  if (*q != ':') return SvmlightError::feature_syntax;
  if (!fits) return SvmlightError::index_too_large;
  if (index < base) return SvmlightError::index_zero;
  if (index == sink.last) return SvmlightError::index_duplicate;
  if (index < sink.last) return SvmlightError::index_descending;
  if (index - base > std::numeric_limits<Index>::max()) {
    too_wide = true;
    return SvmlightError::none;
  }
  ++q;
  if (ends_token(*q)) return SvmlightError::value_missing;
  const Number<float> number = read_number<float>(q);
  if (number.error != NumberError::none || !ends_token(*number.end)) {
    p = q;
    if (number.error == NumberError::not_finite) return SvmlightError::value_not_finite;
    if (number.error == NumberError::too_large && ends_token(*number.end))
      return SvmlightError::value_too_large;
    return SvmlightError::value_syntax;
  }
  sink.indices[sink.size] = static_cast<Index>(index - base);
  sink.values[sink.size] = number.value;
  sink.size += number.value != 0;
  sink.last = index;
  p = number.end;
  return SvmlightError::none;
}

// The label at p, which moves behind it.
inline SvmlightError read_label(const char*& p, bool labelled, double& label) noexcept {
  const bool negative = *p == '-';
  if (is_digit(p[negative]) && p[negative + 1] == ' ') {  // 1, 0 or -1: most are
    const double digit = p[negative] - '0';
    label = negative ? -digit : digit;
    p += negative + 1;
    return SvmlightError::none;
  }
  const Number<double> number = read_number<double>(p);
  if (number.error == NumberError::none && ends_token(*number.end)) {
    label = number.value;
    p = number.end;
    return SvmlightError::none;
  }
  const char* q = p;
  while (is_digit(*q)) ++q;
  if ((*q == ':' && q > p) || std::memcmp(p, "qid:", 4) == 0) {
    label = std::numeric_limits<double>::quiet_NaN();
    return labelled ? SvmlightError::label_missing : SvmlightError::none;
  }
  if (number.error == NumberError::not_finite) return SvmlightError::label_not_finite;
  if (number.error == NumberError::too_large && ends_token(*number.end))
    return SvmlightError::label_too_large;
  return number.error == NumberError::none && *number.end == ',' ? SvmlightError::label_several
                                                                 : SvmlightError::label_syntax;
}

}  // namespace detail

}  // namespace riata
