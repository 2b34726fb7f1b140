// Columns of a table, as Arrow lays them out, to rows of named features.
//
// A number is a feature with the column's name, or what a transform makes of it; a text is a feature
// `column=text` with the value 1; a list of texts is several; words are `column^n-gram`. What is missing makes no feature, or `column=?`
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
#include "riata/words/text_columns.hpp"

namespace riata {

enum class ColumnErrorKind : std::uint8_t {
  none,
  not_finite,
  sum_too_large,
  row_too_long,
  damaged,
  not_text,
  not_date,
  no_memory
};

inline const char* name_of(ColumnErrorKind kind) noexcept {
  constexpr const char* names[] = {"",        "not_finite", "sum_too_large", "row_too_long",
                                   "damaged", "not_text",   "not_date",      "no_memory"};
  return names[static_cast<std::size_t>(kind)];
}

struct ColumnError {
  ColumnErrorKind kind = ColumnErrorKind::none;
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
        texts_(builder_, true),
        rows_(rows),
        missing_(missing),
        unique_(crosses.products.empty() && distinct(columns)),
        write_names_(keep_names || !unique_),
        tiles_(columns, missing, keep_names) {}

  ColumnError read(std::int64_t row, std::int64_t last) noexcept {
    if (!builder_.prepare(static_cast<std::size_t>(last - row) * columns_.size() * 8)) {
      return {ColumnErrorKind::no_memory, row, 0};
    }
    ColumnError error;
    while (row < last && error.kind == ColumnErrorKind::none) {
      if (unique_ && tiles_.possible()) {
        if (!tiles_.read(row, last, builder_, rows_.n_lines)) error = {ColumnErrorKind::no_memory, row, 0};
        if (row < last && error.kind == ColumnErrorKind::none) error = read_rows(row, row + 1);
      } else {
        error = read_rows(row, last);
      }
    }
    if (error.kind != ColumnErrorKind::none) builder_.drop_row();
    builder_.finish();
    return error;
  }

 private:
  // One after another, up to `end` or to what cannot be read.
  ColumnError read_rows(std::int64_t& row, std::int64_t end) noexcept {
    for (; row < end; ++row, ++rows_.n_lines) {
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (const ColumnErrorKind kind = read_cell(columns_[c], row); kind != ColumnErrorKind::none)
          return {kind, row, c};
      }
      if (const ColumnErrorKind kind = kind_of_added(builder_.end_row({0})); kind != ColumnErrorKind::none) {
        return {kind, row, 0};
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

  static ColumnErrorKind kind_of_added(Added added) noexcept {
    switch (added) {
      case Added::fine:
        return ColumnErrorKind::none;
      case Added::too_large:
        return ColumnErrorKind::sum_too_large;
      case Added::too_many:
        return ColumnErrorKind::row_too_long;
      default:
        return ColumnErrorKind::no_memory;
    }
  }

  ColumnErrorKind read_cell(const Column& column, std::int64_t row) noexcept {
    builder_.set_group(column.group);
    if (column.valid != nullptr && column.valid[row] == 0) return add_missing(column);
    if (column.is_number()) return add_number(column, column.numbers[row]);
    if (column.kind == ColumnKind::words) return add_words(column, row);
    std::int64_t first = row, last = row + 1;
    if (column.lists != nullptr) {
      first = column.lists[row];
      last = column.lists[row + 1];
    }
    for (std::int64_t i = first; i < last; ++i) {
      const ColumnErrorKind kind =
          column.kind == ColumnKind::text ? add_text(column, i) : add_coded(column, i);
      if (kind != ColumnErrorKind::none) return kind;
    }
    return ColumnErrorKind::none;
  }

  ColumnErrorKind add_number(const Column& column, double number) noexcept {
    if (std::isnan(number)) return add_missing(column);
    auto value = static_cast<float>(number);
    if (!std::isfinite(value)) return ColumnErrorKind::not_finite;
    if (column.kind == ColumnKind::bucket) return add_bucket(column, bucket_of(value, column.edges));
    if (column.kind == ColumnKind::log1p) value = signed_log1p(value);
    if (column.kind == ColumnKind::number && column.scaled()) {
      value = scaled_number(value, column.centre, column.scale);
      if (!std::isfinite(value)) return ColumnErrorKind::not_finite;
    }
    if (value == 0) return ColumnErrorKind::none;
    if (write_names_) {
      char* const name = builder_.name_room(column.number_name.size());
      if (name == nullptr) return ColumnErrorKind::no_memory;
      column.number_name.copy_to(name);
    }
    return add(column.key, column.number_name.size(), value);
  }

  ColumnErrorKind add_bucket(const Column& column, std::size_t bucket) noexcept {
    const std::string& text = column.bucket_names[bucket];
    char* const name = builder_.name_room(text.size());
    if (name == nullptr) return ColumnErrorKind::no_memory;
    std::memcpy(name, text.data(), text.size());
    return add(column.bucket_keys[bucket], text.size(), 1);
  }

  ColumnErrorKind add_text(const Column& column, std::int64_t i) noexcept {
    if (!column.texts.holds(i)) return ColumnErrorKind::damaged;
    const std::string_view text = column.texts[i];
    char* const name = write_name(column, text);
    if (name == nullptr) return ColumnErrorKind::no_memory;
    const std::size_t size = column.prefix.size() + text.size();
    return add(key_of_padded_name(name, size), size, 1);
  }

  ColumnErrorKind add_words(const Column& column, std::int64_t row) noexcept {
    if (!column.texts.holds(row)) return ColumnErrorKind::damaged;
    const std::string_view text = column.texts[row];
    if (words::is_no_text(column.spec, text)) return add_missing(column);
    const ErrorKind kind = texts_.add(column.spec, column.name, text);
    if (kind == nullptr) return ColumnErrorKind::none;
    if (std::strcmp(kind, "not_date") == 0) return ColumnErrorKind::not_date;
    return std::strcmp(kind, "not_text") == 0 ? ColumnErrorKind::not_text : ColumnErrorKind::no_memory;
  }

  ColumnErrorKind add_coded(const Column& column, std::int64_t i) noexcept {
    if (i < 0 || i >= column.n_codes) return ColumnErrorKind::damaged;
    const std::int32_t code = column.codes[i];
    if (code < 0) return column.lists == nullptr ? add_missing(column) : ColumnErrorKind::none;
    if (!column.texts.holds(code)) return ColumnErrorKind::damaged;
    const std::string_view text = column.texts[code];
    if (write_names_ && write_name(column, text) == nullptr) return ColumnErrorKind::no_memory;
    return add(static_cast<std::uint64_t>(column.keys[code]), column.prefix.size() + text.size(), 1);
  }

  ColumnErrorKind add_missing(const Column& column) noexcept {
    if (!missing_) return ColumnErrorKind::none;
    const std::size_t size = column.prefix.size() + Column::kMissing.size();
    char* const name = builder_.name_room(size);
    if (name == nullptr) return ColumnErrorKind::no_memory;
    column.prefix.copy_to(name);
    std::memcpy(name + column.prefix.size(), Column::kMissing.data(), Column::kMissing.size());
    return add(column.absence, size, 1);
  }

  ColumnErrorKind add(std::uint64_t key, std::size_t size, float value) noexcept {
    if (!unique_) return kind_of_added(builder_.add(key, size, value));
    return kind_of_added(builder_.append(key, write_names_ ? size : 0, value));
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
  words::TextColumns texts_;
  NamedRows& rows_;
  const bool missing_;
  const bool unique_;
  const bool write_names_;
  ColumnRows tiles_;
};

}  // namespace detail

// Rows `first` up to `last`.
inline ColumnError read_columns(const std::vector<Column>& columns, std::int64_t first, std::int64_t last,
                                const Crosses& crosses, bool keep_names, bool missing,
                                NamedRows& rows) noexcept {
  return detail::ColumnReader(columns, crosses, keep_names, missing, rows).read(first, last);
}

}  // namespace riata
