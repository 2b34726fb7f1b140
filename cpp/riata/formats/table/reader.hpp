// Columns of a table, as Arrow lays them out, to rows of named features.
//
// A number is a feature with the column's name, or what a transform makes of it; a text is a feature
// `column=text` with the value 1; a list of texts is several. What is missing makes no feature, or `column=?`
// with the value 1 where that is asked for; so is a number that is NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "riata/block/transforms.hpp"
#include "riata/formats/table/column.hpp"
#include "riata/formats/table/tiles.hpp"

namespace riata {

enum class ColumnFlaw : std::uint8_t { none, not_finite, sum_too_large, row_too_long, damaged, no_memory };

struct ColumnError {
  ColumnFlaw flaw = ColumnFlaw::none;
  std::int64_t row = 0;
  std::size_t column = 0;
};

namespace detail {

class ColumnReader {
 public:
  ColumnReader(const std::vector<Column>& columns, const Crosses& crosses, bool keep_names, bool missing,
               NamedRows& rows) noexcept
      : columns_(columns),
        builder_(rows, crosses, keep_names),
        rows_(rows),
        missing_(missing),
        unique_(crosses.products.empty() && distinct(columns)),
        write_names_(keep_names || !unique_),
        quick_(columns, missing, keep_names) {}

  ColumnError read(std::int64_t row, std::int64_t last) noexcept {
    if (!builder_.prepare(static_cast<std::size_t>(last - row) * columns_.size() * 8)) {
      return {ColumnFlaw::no_memory, row, 0};
    }
    ColumnError error;
    while (row < last && error.flaw == ColumnFlaw::none) {
      if (unique_ && quick_.possible()) {
        if (!quick_.read(row, last, builder_, rows_.n_lines)) error = {ColumnFlaw::no_memory, row, 0};
        if (row < last && error.flaw == ColumnFlaw::none) error = read_rows(row, row + 1);
      } else {
        error = read_rows(row, last);
      }
    }
    if (error.flaw != ColumnFlaw::none) builder_.drop_row();
    builder_.finish();
    return error;
  }

 private:
  // One after another, up to `end` or to what cannot be read.
  ColumnError read_rows(std::int64_t& row, std::int64_t end) noexcept {
    for (; row < end; ++row, ++rows_.n_lines) {
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (const ColumnFlaw flaw = read_cell(columns_[c], row); flaw != ColumnFlaw::none)
          return {flaw, row, c};
      }
      if (const ColumnFlaw flaw = flaw_of(builder_.end_row(0, 1)); flaw != ColumnFlaw::none) {
        return {flaw, row, 0};
      }
    }
    return {};
  }

  // Whether no two cells of a row can make the same feature.
  static bool distinct(const std::vector<Column>& columns) noexcept {
    return std::none_of(columns.begin(), columns.end(), [](const Column& column) {
      return column.lists != nullptr || column.name.find('=') != std::string::npos;
    });
  }

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

  ColumnFlaw read_cell(const Column& column, std::int64_t row) noexcept {
    builder_.set_group(column.group);
    if (column.valid != nullptr && column.valid[row] == 0) return add_missing(column);
    if (column.is_number()) return add_number(column, column.numbers[row]);
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

  ColumnFlaw add_number(const Column& column, double number) noexcept {
    if (std::isnan(number)) return add_missing(column);
    auto value = static_cast<float>(number);
    if (!std::isfinite(value)) return ColumnFlaw::not_finite;
    if (column.kind == ColumnKind::bucket) return add_bucket(column, bucket_of(value, column.edges));
    if (column.kind == ColumnKind::log1p) value = signed_log1p(value);
    if (value == 0) return ColumnFlaw::none;
    if (write_names_) {
      char* const name = builder_.name_room(column.number_name.size());
      if (name == nullptr) return ColumnFlaw::no_memory;
      column.number_name.copy_to(name);
    }
    return add(column.key, column.number_name.size(), value);
  }

  ColumnFlaw add_bucket(const Column& column, std::size_t bucket) noexcept {
    const std::string& text = column.bucket_names[bucket];
    char* const name = builder_.name_room(text.size());
    if (name == nullptr) return ColumnFlaw::no_memory;
    std::memcpy(name, text.data(), text.size());
    return add(column.bucket_keys[bucket], text.size(), 1);
  }

  ColumnFlaw add_text(const Column& column, std::int64_t i) noexcept {
    if (!column.texts.holds(i)) return ColumnFlaw::damaged;
    const std::string_view text = column.texts[i];
    char* const name = write_name(column, text);
    if (name == nullptr) return ColumnFlaw::no_memory;
    const std::size_t size = column.prefix.size() + text.size();
    return add(key_of_padded_name(name, size), size, 1);
  }

  ColumnFlaw add_coded(const Column& column, std::int64_t i) noexcept {
    if (i < 0 || i >= column.n_codes) return ColumnFlaw::damaged;
    const std::int32_t code = column.codes[i];
    if (code < 0) return column.lists == nullptr ? add_missing(column) : ColumnFlaw::none;
    if (!column.texts.holds(code)) return ColumnFlaw::damaged;
    const std::string_view text = column.texts[code];
    if (write_names_ && write_name(column, text) == nullptr) return ColumnFlaw::no_memory;
    return add(static_cast<std::uint64_t>(column.keys[code]), column.prefix.size() + text.size(), 1);
  }

  ColumnFlaw add_missing(const Column& column) noexcept {
    if (!missing_) return ColumnFlaw::none;
    const std::size_t size = column.prefix.size() + Column::kMissing.size();
    char* const name = builder_.name_room(size);
    if (name == nullptr) return ColumnFlaw::no_memory;
    column.prefix.copy_to(name);
    std::memcpy(name + column.prefix.size(), Column::kMissing.data(), Column::kMissing.size());
    return add(column.absence, size, 1);
  }

  ColumnFlaw add(std::uint64_t key, std::size_t size, float value) noexcept {
    if (!unique_) return flaw_of(builder_.add(key, size, value));
    return flaw_of(builder_.append(key, write_names_ ? size : 0, value));
  }

  // kNameSlack bytes behind a name may be written: enough for both halves to be copied in whole words.
  char* write_name(const Column& column, std::string_view text) noexcept {
    static_assert(2 * Prefix::kRoom <= kNameSlack);
    char* const name = builder_.name_room(column.prefix.size() + text.size());
    if (name == nullptr) return nullptr;
    column.prefix.copy_to(name);
    char* const behind = name + column.prefix.size();
    const char* const end = column.texts.data + column.texts.bytes;
    if (text.size() <= 16 && text.data() != nullptr && end - text.data() >= 16) {
      std::memcpy(behind, text.data(), 16);
    } else if (!text.empty()) {
      std::memcpy(behind, text.data(), text.size());
    }
    return name;
  }

  const std::vector<Column>& columns_;
  RowBuilder builder_;
  NamedRows& rows_;
  const bool missing_;
  const bool unique_;
  const bool write_names_;
  ColumnRows quick_;
};

}  // namespace detail

// Rows `first` up to `last`.
inline ColumnError read_columns(const std::vector<Column>& columns, std::int64_t first, std::int64_t last,
                                const Crosses& crosses, bool keep_names, bool missing,
                                NamedRows& rows) noexcept {
  return detail::ColumnReader(columns, crosses, keep_names, missing, rows).read(first, last);
}

}  // namespace riata
