// Columns to rows, a tile of some rows at a time: column by column into memory that stays in the cache, where
// rows lie one behind another with room for every column; then the rows, closed up.
//
// For features that no row has twice, without their names. What is missing or zero is a matter of chance, and
// so is written like the rest and written over by the next.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "riata/array.hpp"
#include "riata/column.hpp"
#include "riata/transforms.hpp"

namespace riata {

class Tiles {
 public:
  static constexpr std::int64_t kRows = 256;

  Tiles(const std::vector<Column>& columns, bool missing) noexcept
      : columns_(columns), width_(columns.size() + 1), missing_(missing ? 1.0f : 0.0f) {}

  // Rows `row` up to `end`. False where there is something wrong with one of them, or no memory.
  bool fill(std::int64_t row, std::int64_t end) noexcept {
    const std::size_t cells = static_cast<std::size_t>(kRows) * width_;
    if (!keys_.reserve(cells) || !values_.reserve(cells)) return false;
    first_ = row;
    count_ = static_cast<std::size_t>(end - row);
    for (std::size_t i = 0; i < count_; ++i) ends_[i] = static_cast<std::uint32_t>(i * width_);
    return std::all_of(columns_.begin(), columns_.end(), [&](const Column& column) { return add(column); });
  }

  bool pour(RowBuilder& builder, std::int64_t& n_lines) noexcept {
    RowBuilder::Tail tail;
    if (!builder.open_tail(count_ * width_, 0, tail)) return false;
    for (std::size_t i = 0; i < count_; ++i, ++n_lines) {
      const std::size_t start = i * width_, size = ends_[i] - start;
      std::memcpy(tail.keys + tail.size, keys_.data() + start, size * sizeof(std::int64_t));
      std::memcpy(tail.values + tail.size, values_.data() + start, size * sizeof(float));
      tail.size += size;
      builder.close_tail(tail);
      if (builder.end_row(0, 1) != Added::fine) return false;
    }
    return true;
  }

 private:
  bool add(const Column& column) noexcept {
    const auto key = static_cast<std::int64_t>(column.key);
    switch (column.kind) {
      case ColumnKind::number:
        return add_numbers(column, [key](float value) { return Cell{key, value}; });
      case ColumnKind::log1p:
        return add_numbers(column, [key](float value) { return Cell{key, signed_log1p(value)}; });
      case ColumnKind::bucket:
        return add_numbers(column, [&column](float value) {
          const auto bucket = std::isfinite(value) ? bucket_of(value, column.edges) : 0;
          return Cell{static_cast<std::int64_t>(column.bucket_keys[bucket]), 1};
        });
      case ColumnKind::text:
        return add_texts(column);
      case ColumnKind::coded:
        return add_codes(column);
    }
    return false;
  }

  struct Cell {
    std::int64_t key;
    float value;  // 0: no feature
  };

  void put(std::size_t i, Cell cell) noexcept {
    const std::uint32_t end = ends_[i];
    keys_.data()[end] = cell.key;
    values_.data()[end] = cell.value;
    ends_[i] = end + (cell.value != 0);
  }

  template <class Make>
  bool add_numbers(const Column& column, Make make) noexcept {
    const double* const numbers = column.numbers + first_;
    const std::uint8_t* const valid = column.valid == nullptr ? nullptr : column.valid + first_;
    const Cell absent{static_cast<std::int64_t>(column.absence), missing_};
    bool fine = true;
    for (std::size_t i = 0; i < count_; ++i) {
      const bool there = !std::isnan(numbers[i]) && (valid == nullptr || valid[i] != 0);
      const auto value = static_cast<float>(numbers[i]);
      fine = fine && (!there || std::isfinite(value));
      put(i, there ? make(value) : absent);
    }
    return fine;
  }

  bool add_codes(const Column& column) noexcept {
    const std::int32_t* const codes = column.codes + first_;
    const std::uint8_t* const valid = column.valid == nullptr ? nullptr : column.valid + first_;
    const auto known = static_cast<std::uint32_t>(std::min<std::int64_t>(column.texts.count, INT32_MAX));
    const Cell absent{static_cast<std::int64_t>(column.absence), missing_};
    bool fine = true;
    for (std::size_t i = 0; i < count_; ++i) {
      const bool there = codes[i] >= 0 && (valid == nullptr || valid[i] != 0);
      const bool inside = static_cast<std::uint32_t>(codes[i]) < known;
      fine = fine && (inside || !there);
      put(i, there && inside ? Cell{column.keys[codes[i]], 1} : absent);
    }
    return fine;
  }

  bool add_texts(const Column& column) noexcept {
    const Texts& texts = column.texts;
    const Cell absent{static_cast<std::int64_t>(column.absence), missing_};
    for (std::size_t i = 0; i < count_; ++i) {
      const std::int64_t row = first_ + static_cast<std::int64_t>(i);
      if (column.valid != nullptr && column.valid[row] == 0) {
        put(i, absent);
        continue;
      }
      if (!texts.holds(row)) return false;
      put(i, {static_cast<std::int64_t>(key_of(column, texts, row)), 1});
    }
    return true;
  }

  // The first and last texts of a buffer may have nothing around them.
  static std::uint64_t key_of(const Column& column, const Texts& texts, std::int64_t row) noexcept {
    const std::string_view text = texts[row];
    if (texts.is_inside(row, column.prefixed.size())) {
      return column.prefixed.key<false>(text.data(), text.data() + text.size());
    }
    return key_of_joined(column.prefix.text(), text);
  }

  const std::vector<Column>& columns_;
  const std::size_t width_;  // cells of a row, and one that is written over
  const float missing_;      // the value of what is missing
  std::int64_t first_ = 0;
  std::size_t count_ = 0;
  std::uint32_t ends_[kRows];  // where the rows end so far
  Array<std::int64_t> keys_;
  Array<float> values_;
};

}  // namespace riata
