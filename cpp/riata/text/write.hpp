// Rows to text: svmlight, or Vowpal Wabbit's. Numbers are written as short as they can be without losing a
// bit.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "riata/base/array.hpp"

namespace riata {

// Rows that were checked to lie inside their arrays.
struct RowsToWrite {
  std::int64_t rows = 0;
  const std::int64_t* indptr = nullptr;
  const std::int64_t* indices = nullptr;
  const float* values = nullptr;
  const double* labels = nullptr;       // null or NaN: no label is written
  const double* weights = nullptr;      // null: none is written
  const std::uint8_t* names = nullptr;  // null: features are numbers...
  const std::int64_t* name_offsets = nullptr;
  std::int64_t base = 1;            // ...and this is that of index 0
  const double* offsets = nullptr;  // null: none is written
};

class TextWriter {
 public:
  explicit TextWriter(Array<char>& out) noexcept : out_(out) {}

  std::int64_t escaped() const noexcept { return escaped_; }  // names that could not be written as they are

  bool svmlight(const RowsToWrite& rows) noexcept {
    for (std::int64_t row = 0; row < rows.rows; ++row) {
      bool first = true;
      if (rows.labels != nullptr && !std::isnan(rows.labels[row])) {
        if (!number(rows.labels[row])) return false;
        first = false;
      }
      for (std::int64_t k = rows.indptr[row]; k < rows.indptr[row + 1]; ++k) {
        if ((!first && !put(' ')) || !number(rows.indices[k] + rows.base) || !put(':') ||
            !number(rows.values[k])) {
          return false;
        }
        first = false;
      }
      if (!put('\n')) return false;
    }
    return true;
  }

  bool vw(const RowsToWrite& rows) noexcept {
    for (std::int64_t row = 0; row < rows.rows; ++row) {
      if (rows.labels != nullptr && !std::isnan(rows.labels[row])) {
        if (!number(rows.labels[row]) || !put(' ')) return false;
        // what stands before another number must be there
        const bool has_offset = rows.offsets != nullptr && rows.offsets[row] != 0;
        const double weight = rows.weights == nullptr ? 1 : rows.weights[row];
        if ((rows.weights != nullptr || has_offset) && (!number(weight) || !put(' '))) return false;
        if (has_offset && (!number(rows.offsets[row]) || !put(' '))) return false;
      }
      if (!put('|')) return false;
      std::string_view group;
      for (std::int64_t k = rows.indptr[row]; k < rows.indptr[row + 1]; ++k) {
        if (!vw_feature(rows, k, group)) return false;
      }
      if (!put('\n')) return false;
    }
    return true;
  }

 private:
  bool vw_feature(const RowsToWrite& rows, std::int64_t k, std::string_view& group) noexcept {
    if (rows.names == nullptr) {
      if (!put(' ') || !number(rows.indices[k] + rows.base)) return false;
    } else {
      std::string_view name(reinterpret_cast<const char*>(rows.names) + rows.name_offsets[k],
                            static_cast<std::size_t>(rows.name_offsets[k + 1] - rows.name_offsets[k]));
      // `namespace^feature`, as the reader puts them together
      const std::size_t caret = name.find('^');
      const bool grouped = caret != std::string_view::npos && caret > 0 && caret + 1 < name.size();
      const std::string_view own = grouped ? name.substr(0, caret) : std::string_view();
      if (own != group) {
        if ((out_.back() != '|' && (!put(' ') || !put('|'))) || !word(own)) return false;
        group = own;
      }
      if (grouped) name.remove_prefix(caret + 1);
      if (!put(' ') || !(name.empty() ? no_name() : word(name))) return false;
    }
    return rows.values[k] == 1 || (put(':') && number(rows.values[k]));
  }

  // A word, with what would end it written as %20 and the like, so that different ones stay different.
  bool word(std::string_view text) noexcept {
    constexpr char digits[] = "0123456789ABCDEF";
    bool changed = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      const bool like_escape =
          c == '%' && at + 2 < text.size() && is_hex(text[at + 1]) && is_hex(text[at + 2]);
      if (c == ' ' || c == ':' || c == '|' || (c >= 0 && c < 32) || like_escape) {
        if (!put('%') || !put(digits[c >> 4]) || !put(digits[c & 15])) return false;
        changed = true;
      } else if (!put(c)) {
        return false;
      }
    }
    escaped_ += changed;
    return true;
  }

  // Nothing at all would be no feature.
  bool no_name() noexcept {
    ++escaped_;
    for (const char c : std::string_view("%empty")) {
      if (!put(c)) return false;
    }
    return true;
  }

  static bool is_hex(char c) noexcept {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
  }

  template <class Number>
  bool number(Number value) noexcept {
    if (out_.capacity() - out_.size() < 32 && !out_.reserve(2 * out_.capacity() + 64)) return false;
    char* const end = out_.data() + out_.size();
    const auto written = std::to_chars(end, end + 32, value);
    out_.set_size(out_.size() + static_cast<std::size_t>(written.ptr - end));
    return true;
  }

  bool put(char c) noexcept { return out_.push_back(c); }

  Array<char>& out_;
  std::int64_t escaped_ = 0;
};

}  // namespace riata
