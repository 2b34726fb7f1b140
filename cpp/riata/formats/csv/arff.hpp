// The rows of an ARFF file, dense (`5.1,red,?`) or sparse (`{0 5.1, 1 red}`), to rows of named features.
//
// Values stand between commas, may be in single or double quotes with backslash escapes, and blanks around
// them do not count; ? is missing; % starts a comment line. What a sparse row leaves out is zero, which for a
// nominal attribute is the first of its values.
#pragma once

#include "riata/block/read_lines.hpp"
#include "riata/formats/csv/reader.hpp"

namespace riata::arff {

class Reader {
 public:
  Reader(const char* begin, const char* end, const csv::Format& format, NamedRows& rows) noexcept
      : p_(begin), end_(end), format_(format), rows_(rows), cells_(format, rows) {}

  ParseError read() noexcept {
    where_ = p_;
    const bool ready = cells_.prepare(static_cast<std::size_t>(end_ - p_));
    ParseError error = read_lines(ready, p_, end_, rows_, cells_.row(), [this] { return read_line(); });
    error.where = where_;
    error.where_end = where_end_ > where_ ? where_end_ : nullptr;
    error.detail = detail_;
    return error;
  }

 private:
  // Leaves p_ at the newline.
  ErrorKind read_line() noexcept {
    where_end_ = nullptr;
    detail_ = "";
    skip_blanks();
    if (*p_ == '%') p_ = static_cast<const char*>(std::memchr(p_, '\n', static_cast<std::size_t>(end_ - p_)));
    if (*p_ == '\n') return nullptr;
    Target target;
    if (const ErrorKind kind = *p_ == '{' ? read_sparse(target) : read_dense(target)) return kind;
    return kind_of(cells_.row().end_row(target));
  }

  ErrorKind read_dense(Target& target) noexcept {
    const std::size_t count = format_.columns.size();
    for (std::size_t c = 0;; ++c) {
      skip_blanks();
      where_ = p_;
      if (*p_ == '{') return "instance_weight";
      std::string_view text;
      if (const ErrorKind kind = read_value(text, false)) return kind;
      if (c == count) return "fields_many";
      if (const ErrorKind kind = take(c, text, target)) return kind;
      if (*p_ == '\n') return c + 1 < count ? (where_ = p_, "fields_few") : nullptr;
      ++p_;
    }
  }

  ErrorKind read_sparse(Target& target) noexcept {
    ++p_;
    skip_blanks();
    std::size_t next = 0;  // the attribute behind the last one given
    while (*p_ != '}') {
      where_ = p_;
      std::size_t index = 0;
      if (!is_digit(*p_)) return "sparse_index";
      for (; is_digit(*p_); ++p_)
        index = index < (std::size_t{1} << 40) ? 10 * index + static_cast<std::size_t>(*p_ - '0') : index;
      if (!is_blank(*p_)) return "sparse_index";
      if (index >= format_.columns.size()) return "sparse_range";
      if (index < next) return "sparse_order";
      if (const ErrorKind kind = take_omitted(next, index, target)) return kind;
      skip_blanks();
      where_ = p_;
      std::string_view text;
      if (const ErrorKind kind = read_value(text, true)) return kind;
      if (text.empty() && where_end_ == where_) return "sparse_value";
      if (const ErrorKind kind = take(index, text, target)) return kind;
      next = index + 1;
      if (*p_ == ',') {
        ++p_;
        skip_blanks();
        if (*p_ == '}') return where_ = p_, "sparse_index";
      } else if (*p_ != '}') {
        return where_ = p_, "sparse_end";
      }
    }
    if (const ErrorKind kind = take_omitted(next, format_.columns.size(), target)) return kind;
    ++p_;
    skip_blanks();
    where_ = p_;
    if (*p_ == ',') return "instance_weight";
    return *p_ == '\n' ? nullptr : "sparse_end";
  }

  // Attributes that a sparse row passes over.
  ErrorKind take_omitted(std::size_t from, std::size_t to, Target& target) noexcept {
    for (std::size_t c = from; c < to; ++c) {
      const csv::Column& column = format_.columns[c];
      if (column.role == csv::Role::label) {
        target.label = 0;
        if (column.omitted.empty()) continue;
        if (const ErrorKind kind = take_padded(c, column.omitted, target)) return kind;
        continue;
      }
      if (column.role == csv::Role::weight) target.weight = 0;
      if (!is_feature(column.role)) continue;
      if (const ErrorKind kind = cells_.read_omitted(column)) return kind;
    }
    return nullptr;
  }

  // The label that a sparse row leaves out: the first of the declared ones, which may be a number.
  ErrorKind take_padded(std::size_t c, const std::string& text, Target& target) noexcept {
    unescaped_.set_size(0);
    if (!unescaped_.append(text.data(), text.size()) || !pad()) return "no_memory";
    return take(c, {unescaped_.data(), unescaped_.size()}, target);
  }

  // A newline and readable bytes behind it, as numbers want them.
  bool pad() noexcept {
    if (!unescaped_.reserve(unescaped_.size() + kPadding)) return false;
    std::memset(unescaped_.data() + unescaped_.size(), '\n', kPadding);
    return true;
  }

  ErrorKind take(std::size_t c, std::string_view text, Target& target) noexcept {
    detail_ = format_.columns[c].name.c_str();
    return cells_.read(format_.columns[c], text, target);
  }

  // The value at p_, which moves to the comma, brace or newline behind it.
  ErrorKind read_value(std::string_view& text, bool sparse) noexcept {
    if (*p_ == '\'' || *p_ == '"') return read_quoted(text, sparse);
    const char* const start = p_;
    while (*p_ != ',' && *p_ != '\n' && !(sparse && *p_ == '}')) {
      if (*p_ == '\'' || *p_ == '"') return where_end_ = p_, "quote_inside";
      ++p_;
    }
    text = trimmed({start, static_cast<std::size_t>(p_ - start)});
    where_end_ = text.data() + text.size();
    return nullptr;
  }

  ErrorKind read_quoted(std::string_view& text, bool sparse) noexcept {
    const char quote = *p_++;
    unescaped_.set_size(0);
    for (; *p_ != quote; ++p_) {
      if (*p_ == '\\' && p_[1] != '\n') ++p_;
      if (*p_ == '\n') return where_end_ = p_, "quote_open";
      if (!unescaped_.push_back(*p_)) return "no_memory";
    }
    if (!pad()) return "no_memory";
    text = {unescaped_.data(), unescaped_.size()};
    where_end_ = ++p_;
    skip_blanks();
    return *p_ == ',' || *p_ == '\n' || (sparse && *p_ == '}') ? nullptr : "quote_text";
  }

  void skip_blanks() noexcept {
    while (is_blank(*p_)) ++p_;
  }

  const char* p_;
  const char* const end_;
  const csv::Format& format_;
  NamedRows& rows_;
  csv::Cells cells_;
  const char* where_ = nullptr;
  const char* where_end_ = nullptr;
  const char* detail_ = "";
  Array<char> unescaped_;
};

}  // namespace riata::arff

namespace riata {

using ArffReader = NamedReader<arff::Reader, csv::Format>;

}  // namespace riata
