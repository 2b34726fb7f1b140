// What becomes of a cell of text in columns: a number is a feature with the name of its column, a text is
// `column=text` with the value 1, a missing value is nothing or `column=?`.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "riata/block/schema_column.hpp"
#include "riata/text/scan.hpp"
#include "riata/text/truths.hpp"
#include "riata/words/text_columns.hpp"

namespace riata {

namespace csv {

using Role = ColumnRole;
using Column = SchemaColumn;

struct Format {
  std::vector<Column> columns;
  std::vector<std::string> label_names;  // the label is the place of its text here; empty: a number
  std::vector<std::string> absent;       // texts that mean a missing value, beside the empty one
  char delimiter = ',';
  char quote = '"';  // 0: none
  bool labelled = true;
  bool keep_names = true;
  bool decimal_comma = false;  // numbers have a comma where others have a point, and no point
  Crosses crosses;
};

// What becomes of one cell, whatever the file looks like around it.
class Cells {
 public:
  Cells(const Format& format, NamedRows& rows) noexcept
      : format_(format), row_(rows, format.crosses, format.keep_names), texts_(row_, true) {}

  RowBuilder& row() noexcept { return row_; }
  bool prepare(std::size_t bytes) noexcept { return words::prepare_rows(row_, format_.columns, bytes); }

  // A byte that cannot be part of a number stands behind the text, and 16 readable ones.
  ErrorKind read(const Column& column, std::string_view text, Target& target) noexcept {
    switch (column.role) {
      case Role::ignored:
        return nullptr;
      case Role::label:
        return read_label_cell(text, target.label);
      case Role::weight:
        return read_weight(text, target.weight);
      case Role::offset:
        return read_offset(text, target.offset);
      default:
        break;
    }
    if (crossing()) row_.set_group(column.group);
    if (column.role == Role::category) {
      if (is_absent(text)) return add_absent(column);
      text = as_category(text);
      const std::size_t size = column.prefix.size() + text.size();
      if (size > 16) return add(column.prefix, text, 1);
      const ShortName name = column.short_prefix | first_bytes(text.data(), text.size())
                                                       << (8 * column.prefix.size());
      return kind_of(row_.add_short(name, size, 1));
    }
    if (column.role == Role::text) {
      if (is_absent(text) || words::is_no_text(column.text, text)) return add_absent(column);
      return texts_.add(column.text, column.name, text);
    }
    return read_number_cell(column, text);
  }

  // The value that a sparse row means by passing over an attribute.
  ErrorKind read_omitted(const Column& column) noexcept {
    if (crossing()) row_.set_group(column.group);
    if (is_number(column.role)) return add_value(column, truth_of(column.omitted) == 1 ? 1 : 0);
    return column.omitted.empty() ? nullptr : add(column.prefix, as_category(column.omitted), 1);
  }

  bool is_absent(std::string_view text) const noexcept {
    if (text.empty()) return true;
    for (const std::string& absent : format_.absent) {
      if (text == absent) return true;
    }
    return false;
  }

 private:
  bool crossing() const noexcept { return !format_.crosses.products.empty(); }

  ErrorKind read_label_cell(std::string_view text, double& label) const noexcept {
    PointedNumber pointed;
    std::string_view word = trimmed(text);
    if (is_absent(word)) return format_.labelled ? "label_missing" : nullptr;
    if (format_.label_names.empty()) word = with_point(word, pointed);
    return read_label(word, format_.label_names, format_.labelled, label);
  }

  struct PointedNumber {
    char text[80];  // what stands behind it must be readable
  };
  // A number as all others are written; nothing where it cannot be one.
  std::string_view with_point(std::string_view word, PointedNumber& pointed) const noexcept {
    if (!format_.decimal_comma) return word;
    std::memset(pointed.text, '\n', sizeof pointed.text);
    if (word.size() > 48 || word.find('.') != word.npos) return {pointed.text, 0};
    std::memcpy(pointed.text, word.data(), word.size());
    for (std::size_t i = 0; i < word.size(); ++i)
      if (word[i] == ',') pointed.text[i] = '.';
    return {pointed.text, word.size()};
  }

  struct NumberErrors {
    ErrorKind missing, syntax, not_finite, too_large;
  };
  ErrorKind read_number(std::string_view text, double& number, const NumberErrors& errors) const noexcept {
    PointedNumber pointed;
    const std::string_view word = trimmed(text);
    if (is_absent(word)) return errors.missing;
    return read_word(with_point(word, pointed), number, errors.syntax, errors.not_finite, errors.too_large);
  }

  ErrorKind read_weight(std::string_view text, double& weight) const noexcept {
    const ErrorKind kind = read_number(
        text, weight, {"weight_missing", "weight_syntax", "weight_not_finite", "weight_not_finite"});
    return kind != nullptr ? kind : check_weight(weight);
  }

  ErrorKind read_offset(std::string_view text, double& offset) const noexcept {
    const ErrorKind kind = read_number(
        text, offset, {"offset_missing", "offset_syntax", "offset_not_finite", "offset_too_large"});
    return kind != nullptr ? kind : check_offset(offset);
  }

  ErrorKind read_number_cell(const Column& column, std::string_view text) noexcept {
    PointedNumber pointed;
    const std::string_view word = trimmed(text), digits = with_point(word, pointed);
    if (is_absent(word)) return add_absent(column);
    const Number<float> number = read_short_number(digits.data());
    if (number.error != NumberError::none || number.end != digits.data() + word.size()) {
      if (means_missing(word)) return add_absent(column);
      if (const int truth = truth_of(word); truth >= 0) return add_value(column, static_cast<float>(truth));
      if (number.error == NumberError::not_finite) return "value_not_finite";
      return number.error == NumberError::too_large ? "value_too_large" : "value_syntax";
    }
    return add_value(column, number.value);
  }

  ErrorKind add_value(const Column& column, float x) noexcept {
    if (column.role == Role::bucket) return add(column.bucket_name(x), {}, 1);
    const float value = column.value_of(x);
    return std::isfinite(value) ? add_number(column, value) : "scaled_too_large";
  }

  ErrorKind add_number(const Column& column, float value) noexcept {
    if (value == 0) return nullptr;
    const std::size_t size = column.name.size();
    char* const room = row_.name_room(size);
    if (room == nullptr) return "no_memory";
    if (size <= 16) {
      std::memcpy(room, &column.short_name, 16);
    } else {
      std::memcpy(room, column.name.data(), size);
    }
    return kind_of(row_.add(column.key, size, value));
  }

  ErrorKind add_absent(const Column& column) noexcept {
    return column.absent.empty() ? nullptr : add(column.absent, {}, 1);
  }

  ErrorKind add(std::string_view prefix, std::string_view text, float value) noexcept {
    if (value == 0) return nullptr;
    char* const name = row_.name_room(prefix.size() + text.size());
    if (name == nullptr) return "no_memory";
    std::memcpy(name, prefix.data(), prefix.size());
    if (!text.empty()) std::memcpy(name + prefix.size(), text.data(), text.size());
    return kind_of(row_.add(prefix.size() + text.size(), value));
  }

  const Format& format_;
  RowBuilder row_;
  words::TextColumns texts_;
};

}  // namespace csv

}  // namespace riata
