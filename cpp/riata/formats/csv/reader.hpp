// Text in columns, comma or tab separated (RFC 4180), to rows of named features.
//
// Records without quotes, whose cells are short numbers and texts, are read by unquoted.hpp; every other one
// is read here.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "riata/formats/csv/cells.hpp"
#include "riata/formats/csv/unquoted.hpp"

namespace riata {

namespace csv {

// Bit i is set where p[i] is one of the three, i < 16.
inline std::uint32_t matches16(const char* p, char a, char b, char c) noexcept {
#if defined(__SSE2__)
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i ab = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(a)), _mm_cmpeq_epi8(x, _mm_set1_epi8(b)));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(ab, _mm_cmpeq_epi8(x, _mm_set1_epi8(c)))));
#else
  std::uint32_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= static_cast<std::uint32_t>(p[i] == a || p[i] == b || p[i] == c) << i;
  return bits;
#endif
}

class Reader {
 public:
  Reader(const char* begin, const char* end, const Format& format, const Plan& plan, NamedRows& rows) noexcept
      : p_(begin),
        end_(end),
        format_(format),
        rows_(rows),
        cells_(format, rows),
        unquoted_(begin, end, format, plan, cells_, rows) {}

  ParseError read(bool skip_header) noexcept {
    line_ = p_;
    ErrorKind kind = cells_.prepare(static_cast<std::size_t>(end_ - p_)) ? nullptr : "no_memory";
    if (kind == nullptr && skip_header) kind = skip_record();
    while (kind == nullptr && p_ < end_) {
      if (!unquoted_.read(p_)) kind = "no_memory";
      line_ = p_;
      if (kind != nullptr || p_ == end_) break;
      kind = read_record();
      if (kind == nullptr) next_line();
    }
    if (kind != nullptr) cells_.row().drop_row();
    cells_.row().finish();
    return {kind, line_, where_, where_end_, detail_};
  }

 private:
  void next_line() noexcept {
    rows_.n_lines += 1 + inner_lines_;
    inner_lines_ = 0;
    line_ = ++p_;
  }

  // The header, and empty lines before it.
  ErrorKind skip_record() noexcept {
    while (p_ < end_ && is_empty_line()) next_line();
    while (p_ < end_) {
      std::string_view text;
      if (const ErrorKind kind = read_field(text)) return kind;
      if (*p_ == '\n') {
        next_line();
        break;
      }
      ++p_;
    }
    return nullptr;
  }

  // Leaves p_ at the newline that ends the record.
  ErrorKind read_record() noexcept {
    where_ = p_;
    where_end_ = nullptr;
    if (is_empty_line()) return nullptr;
    Target target;
    const std::size_t count = format_.columns.size();
    for (std::size_t c = 0;; ++c) {
      where_ = p_;
      where_end_ = nullptr;
      std::string_view text;
      if (const ErrorKind kind = read_field(text)) return kind;
      if (c == count) return where_end_ = p_, "fields_many";
      if (const ErrorKind kind = cells_.read(format_.columns[c], text, target)) {
        where_end_ = p_;
        detail_ = format_.columns[c].name.c_str();
        return kind;
      }
      if (*p_ == '\n') {
        if (c + 1 < count) return where_ = where_end_ = p_, "fields_few";
        return kind_of(cells_.row().end_row(target));
      }
      ++p_;
    }
  }

  // A line of nothing but blanks.
  bool is_empty_line() noexcept {
    const char* q = p_;
    while (*q == ' ' || *q == '\r') ++q;
    if (*q == '\n') p_ = q;
    return *q == '\n';
  }

  // The next field without its quotes, leaving p_ at the delimiter or newline behind it.
  ErrorKind read_field(std::string_view& text) noexcept {
    if (format_.quote != 0 && *p_ == format_.quote) return read_quoted(text);
    const char* const start = p_;
    const char third = format_.quote != 0 ? format_.quote : '\n';
    std::uint32_t marks = matches16(p_, format_.delimiter, '\n', third);
    while (marks == 0) marks = matches16(p_ += 16, format_.delimiter, '\n', third);
    p_ += std::countr_zero(marks);
    if (*p_ != format_.delimiter && *p_ != '\n') return where_ = start, "quote_inside";
    text = {start, static_cast<std::size_t>(p_ - start)};
    if (*p_ == '\n' && !text.empty() && text.back() == '\r') text.remove_suffix(1);
    return nullptr;
  }

  // Two quotes within quotes are one. A newline may be among them.
  ErrorKind read_quoted(std::string_view& text) noexcept {
    const char quote = format_.quote;
    const char* const open = p_++;
    unescaped_.set_size(0);
    const char* from = p_;
    std::int64_t lines = 0;
    for (;;) {
      while (*p_ != quote) {
        if (*p_ == '\n') {
          ++lines;
          if (p_ + 1 >= end_) return where_ = open, p_ = open, "quote_open";
        }
        ++p_;
      }
      if (p_[1] != quote) break;
      if (!unescaped_.append(from, static_cast<std::size_t>(p_ + 1 - from))) return "no_memory";
      p_ += 2;
      from = p_;
    }
    inner_lines_ += lines;
    text = {from, static_cast<std::size_t>(p_ - from)};
    if (unescaped_.size() > 0) {
      // A newline and readable bytes behind it, as numbers want them.
      if (!unescaped_.append(from, text.size()) || !unescaped_.reserve(unescaped_.size() + kPadding)) {
        return "no_memory";
      }
      std::memset(unescaped_.data() + unescaped_.size(), '\n', kPadding);
      text = {unescaped_.data(), unescaped_.size()};
    }
    ++p_;
    if (*p_ == '\r' && p_[1] == '\n') ++p_;
    if (*p_ != format_.delimiter && *p_ != '\n') return where_ = open, "quote_text";
    return nullptr;
  }

  const char* p_;
  const char* const end_;
  const Format& format_;
  NamedRows& rows_;
  Cells cells_;
  UnquotedReader unquoted_;
  const char* line_ = nullptr;  // where the record starts
  const char* where_ = nullptr;
  const char* where_end_ = nullptr;
  const char* detail_ = "";
  std::int64_t inner_lines_ = 0;  // newlines within quotes of the record
  Array<char> unescaped_;
};

}  // namespace csv

struct CsvReader {
  const csv::Format& format;
  const csv::Plan& plan;  // made of the format; an empty one: every record is read here
  bool skip_header = false;

  using Rows = NamedRows;
  ParseError read(const char* begin, const char* end, NamedRows& rows) const noexcept {
    return csv::Reader(begin, end, format, plan, rows).read(skip_header);
  }
};

}  // namespace riata
