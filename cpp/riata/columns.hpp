// Columns of a table, as Arrow lays them out, to rows of named features.
//
// A number is a feature with the column's name; a text is a feature `column=text` with the value 1; a list of
// texts is several. What is missing makes no feature, or `column=?` with the value 1 where that is asked for;
// so is a number that is NaN.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "riata/named.hpp"

namespace riata {

// Texts one behind another: text i is data[offsets[i] .. offsets[i + 1]].
struct Texts {
  std::int64_t count = 0;
  const std::int64_t* offsets = nullptr;
  const char* data = nullptr;
  std::int64_t bytes = 0;

  // Whoever built the buffers may not be trusted.
  bool holds(std::int64_t i) const noexcept {
    return i >= 0 && i < count && offsets[i] >= 0 && offsets[i] <= offsets[i + 1] && offsets[i + 1] <= bytes;
  }
  std::string_view operator[](std::int64_t i) const noexcept {
    return {data + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
};

enum class ColumnKind : std::uint8_t { number, text, coded };

struct Column {
  ColumnKind kind = ColumnKind::number;
  std::string name;
  std::string prefix;  // the name and =, for texts
  int group = Crosses::kNone;
  const std::uint8_t* valid = nullptr;  // a byte a row; null: nothing is missing
  const double* numbers = nullptr;
  Texts texts;                          // one a row, or the dictionary that codes point into
  const std::int32_t* codes = nullptr;  // below 0: missing
  std::int64_t n_codes = 0;             // as many as rows, or more where there are lists
  const std::int64_t* lists = nullptr;  // row i holds the texts or codes lists[i] .. lists[i + 1]
  std::vector<std::uint64_t> keys;      // of the dictionary, as far as met; 0: not met yet
};

enum class ColumnFlaw : std::uint8_t { none, not_finite, sum_too_large, row_too_long, damaged, no_memory };

struct ColumnComplaint {
  ColumnFlaw flaw = ColumnFlaw::none;
  std::int64_t row = 0;
  std::size_t column = 0;
};

namespace detail {

class ColumnReader {
 public:
  ColumnReader(std::vector<Column>& columns, const Crosses& crosses, bool keep_names, bool missing,
               NamedRows& rows) noexcept
      : columns_(columns), builder_(rows, crosses, keep_names), rows_(rows), missing_(missing) {}

  ColumnComplaint read(std::int64_t n_rows) noexcept {
    if (!builder_.prepare(static_cast<std::size_t>(n_rows) * columns_.size() * 8)) return no_memory(0);
    for (std::int64_t row = 0; row < n_rows; ++row, ++rows_.n_lines) {
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        const ColumnFlaw flaw = read_cell(columns_[c], row);
        if (flaw != ColumnFlaw::none) return finish({flaw, row, c});
      }
      if (const ColumnFlaw flaw = flaw_of(builder_.end_row(0, 1)); flaw != ColumnFlaw::none) {
        return finish({flaw, row, 0});
      }
    }
    return finish({});
  }

 private:
  ColumnComplaint finish(ColumnComplaint complaint) noexcept {
    if (complaint.flaw != ColumnFlaw::none) builder_.drop_row();
    builder_.finish();
    return complaint;
  }
  static ColumnComplaint no_memory(std::int64_t row) noexcept { return {ColumnFlaw::no_memory, row, 0}; }

  static ColumnFlaw flaw_of(Added added) noexcept {
    switch (added) {
      case Added::fine:
        return ColumnFlaw::none;
      case Added::too_large:
        return ColumnFlaw::sum_too_large;
      case Added::too_many:
        return ColumnFlaw::row_too_long;
      default:
        return ColumnFlaw::no_memory;
    }
  }

  ColumnFlaw read_cell(Column& column, std::int64_t row) noexcept {
    builder_.set_group(column.group);
    if (column.valid != nullptr && column.valid[row] == 0) return add_missing(column);
    if (column.kind == ColumnKind::number) {
      const double number = column.numbers[row];
      if (std::isnan(number)) return add_missing(column);
      const auto value = static_cast<float>(number);
      if (!std::isfinite(value)) return ColumnFlaw::not_finite;
      return value == 0 ? ColumnFlaw::none : add(column.name, {}, value);
    }
    std::int64_t first = row, last = row + 1;
    if (column.lists != nullptr) {
      first = column.lists[row];
      last = column.lists[row + 1];
    }
    for (std::int64_t i = first; i < last; ++i) {
      const ColumnFlaw flaw = column.kind == ColumnKind::text ? add_text(column, i) : add_coded(column, i);
      if (flaw != ColumnFlaw::none) return flaw;
    }
    return ColumnFlaw::none;
  }

  ColumnFlaw add_text(const Column& column, std::int64_t i) noexcept {
    if (!column.texts.holds(i)) return ColumnFlaw::damaged;
    return add(column.prefix, column.texts[i], 1);
  }

  ColumnFlaw add_coded(Column& column, std::int64_t i) noexcept {
    if (i < 0 || i >= column.n_codes) return ColumnFlaw::damaged;
    const std::int32_t code = column.codes[i];
    if (code < 0) return column.lists == nullptr ? add_missing(column) : ColumnFlaw::none;
    if (!column.texts.holds(code)) return ColumnFlaw::damaged;
    const std::string_view text = column.texts[code];
    std::uint64_t& key = column.keys[static_cast<std::size_t>(code)];
    char* const name = write_name(column.prefix, text);
    if (name == nullptr) return ColumnFlaw::no_memory;
    const std::size_t size = column.prefix.size() + text.size();
    if (key == 0) key = key_of_padded_name(name, size);
    return flaw_of(builder_.add(key, size, 1));
  }

  ColumnFlaw add_missing(const Column& column) noexcept {
    return missing_ ? add(column.name, "=?", 1) : ColumnFlaw::none;
  }

  ColumnFlaw add(std::string_view prefix, std::string_view text, float value) noexcept {
    if (write_name(prefix, text) == nullptr) return ColumnFlaw::no_memory;
    return flaw_of(builder_.add(prefix.size() + text.size(), value));
  }

  char* write_name(std::string_view prefix, std::string_view text) noexcept {
    char* const name = builder_.name_room(prefix.size() + text.size());
    if (name == nullptr) return nullptr;
    std::memcpy(name, prefix.data(), prefix.size());
    if (!text.empty()) std::memcpy(name + prefix.size(), text.data(), text.size());
    return name;
  }

  std::vector<Column>& columns_;
  RowBuilder builder_;
  NamedRows& rows_;
  const bool missing_;
};

}  // namespace detail

inline ColumnComplaint read_columns(std::vector<Column>& columns, std::int64_t n_rows, const Crosses& crosses,
                                    bool keep_names, bool missing, NamedRows& rows) noexcept {
  return detail::ColumnReader(columns, crosses, keep_names, missing, rows).read(n_rows);
}

}  // namespace riata
