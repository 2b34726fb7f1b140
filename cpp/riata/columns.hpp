// Columns of a table, as Arrow lays them out, to rows of named features.
//
// A number is a feature with the column's name; a text is a feature `column=text` with the value 1; a list of
// texts is several. What is missing makes no feature, or `column=?` with the value 1 where that is asked for;
// so is a number that is NaN.
#pragma once

#include <algorithm>
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

// The beginning of a name, and room behind it, so that it can be copied without asking how long it is.
class Prefix {
 public:
  static constexpr std::size_t kRoom = 16;
  explicit Prefix(std::string_view text = {}) : text_(text), size_(text.size()) {
    text_.resize(std::max(size_, kRoom));
  }
  std::size_t size() const noexcept { return size_; }
  std::string_view text() const noexcept { return {text_.data(), size_}; }
  void copy_to(char* to) const noexcept {
    if (size_ <= kRoom) {
      std::memcpy(to, text_.data(), kRoom);
    } else {
      std::memcpy(to, text_.data(), size_);
    }
  }

 private:
  std::string text_;
  std::size_t size_;
};

enum class ColumnKind : std::uint8_t { number, text, coded };

struct Column {
  ColumnKind kind = ColumnKind::number;
  std::string name;
  Prefix number_name;     // the name
  Prefix prefix;          // the name and =, for texts
  std::uint64_t key = 0;  // of the name
  int group = Crosses::kNone;
  const std::uint8_t* valid = nullptr;  // a byte a row; null: nothing is missing
  const double* numbers = nullptr;
  Texts texts;                          // one a row, or the dictionary that codes point into
  const std::int32_t* codes = nullptr;  // below 0: missing
  std::int64_t n_codes = 0;             // as many as rows, or more where there are lists
  const std::int64_t* keys = nullptr;   // of the dictionary's features: see keys_of_texts
  const std::int64_t* lists = nullptr;  // row i holds the texts or codes lists[i] .. lists[i + 1]
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
  ColumnReader(const std::vector<Column>& columns, const Crosses& crosses, bool keep_names, bool missing,
               NamedRows& rows) noexcept
      : columns_(columns),
        builder_(rows, crosses, keep_names),
        rows_(rows),
        missing_(missing),
        unique_(crosses.products.empty() && distinct(columns)),
        write_names_(keep_names || !unique_) {}

  ColumnComplaint read(std::int64_t n_rows) noexcept {
    if (!builder_.prepare(static_cast<std::size_t>(n_rows) * columns_.size() * 8)) {
      return {ColumnFlaw::no_memory, 0, 0};
    }
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
  // Whether no two cells of a row can make the same feature.
  static bool distinct(const std::vector<Column>& columns) noexcept {
    return std::none_of(columns.begin(), columns.end(), [](const Column& column) {
      return column.lists != nullptr || column.name.find('=') != std::string::npos;
    });
  }

  ColumnComplaint finish(ColumnComplaint complaint) noexcept {
    if (complaint.flaw != ColumnFlaw::none) builder_.drop_row();
    builder_.finish();
    return complaint;
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
    if (column.kind == ColumnKind::number) return add_number(column, column.numbers[row]);
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
    const auto value = static_cast<float>(number);
    if (!std::isfinite(value)) return ColumnFlaw::not_finite;
    if (value == 0) return ColumnFlaw::none;
    if (write_names_) {
      char* const name = builder_.name_room(column.number_name.size());
      if (name == nullptr) return ColumnFlaw::no_memory;
      column.number_name.copy_to(name);
    }
    return add(column.key, column.number_name.size(), value);
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
    constexpr std::string_view mark = "?";
    char* const name = builder_.name_room(column.prefix.size() + mark.size());
    if (name == nullptr) return ColumnFlaw::no_memory;
    column.prefix.copy_to(name);
    std::memcpy(name + column.prefix.size(), mark.data(), mark.size());
    const std::size_t size = column.prefix.size() + mark.size();
    return add(key_of_padded_name(name, size), size, 1);
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
};

}  // namespace detail

inline ColumnComplaint read_columns(const std::vector<Column>& columns, std::int64_t n_rows,
                                    const Crosses& crosses, bool keep_names, bool missing,
                                    NamedRows& rows) noexcept {
  return detail::ColumnReader(columns, crosses, keep_names, missing, rows).read(n_rows);
}

// The keys of the features that texts of a column make; false where the texts are damaged.
inline bool keys_of_texts(std::string_view column, const Texts& texts, std::int64_t* keys) {
  std::string name(column);
  name += '=';
  const std::size_t start = name.size();
  for (std::int64_t i = 0; i < texts.count; ++i) {
    if (!texts.holds(i)) return false;
    name.resize(start);
    name += texts[i];
    keys[i] = static_cast<std::int64_t>(key_of_name(name.data(), name.size()));
  }
  return true;
}

}  // namespace riata
