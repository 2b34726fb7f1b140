// Columns to rows, row by row, straight to where the rows go: for features that no row has twice.
//
// What is missing or zero is a matter of chance, and a wrong guess costs as much as a cell: so it is written
// like the rest, and written over by the next. That something is wrong with a row is only noticed here; who
// reads it again, cell by cell, can say what it is.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "riata/array.hpp"
#include "riata/column.hpp"
#include "riata/transforms.hpp"

namespace riata {

class ColumnRows {
 public:
  ColumnRows(const std::vector<Column>& columns, bool missing, bool names)
      : missing_(missing), names_(names) {
    for (const Column& column : columns) {
      possible_ = possible_ && column.lists == nullptr && (column.is_number() || column.sound);
      longest_ += column.longest_name();
      const bool starts = lanes_.empty() || lanes_.back().column->kind != column.kind;
      lanes_.push_back({column.kind, &column, column.valid == nullptr ? &kValid : column.valid,
                        column.valid == nullptr ? 0 : ~std::size_t{0}, column.numbers, column.codes,
                        column.keys, static_cast<std::uint64_t>(column.texts.count),
                        static_cast<std::int64_t>(column.key)});
      if (starts) runs_.push_back({column.kind, 0});
      ++runs_.back().count;
    }
    possible_ = possible_ && longest_ < (std::size_t{1} << 20);
  }

  // Whether these columns can be read here.
  bool possible() const noexcept { return possible_; }

  // Rows up to `end`; leaves `row` at the first that something is wrong with. False: no memory.
  bool read(std::int64_t& row, std::int64_t end, RowBuilder& builder, std::int64_t& n_lines) noexcept {
    if (names_) return read_rows<true>(row, end, builder, n_lines);
    return read_rows<false>(row, end, builder, n_lines);
  }

 private:
  static constexpr std::uint8_t kValid = 1;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Lane {
    ColumnKind kind;
    const Column* column;
    const std::uint8_t* valid;
    std::size_t valid_mask;  // of the row: 0 where all are valid
    const double* numbers;
    const std::int32_t* codes;
    const std::int64_t* keys;
    std::uint64_t known;  // codes below it are
    std::int64_t key;
  };
  struct Run {
    ColumnKind kind;
    std::size_t count;
  };

  // Where the next feature goes.
  template <bool kNames>
  struct Pen {
    std::int64_t* key;
    float* value;
    std::int64_t* name_offset;  // the next one's end goes behind it
    char* name;
    char* names;

    void put(std::int64_t k, float v, bool there) noexcept {
      *key = k;
      *value = v;
      key += there;
      value += there;
    }
    void end_name(std::size_t size, bool there) noexcept {
      name += there ? size : 0;
      name_offset += there;
      *name_offset = name - names;
    }
  };

  // A tile of some rows, in which each cell is four bytes: a number, NaN where it is missing; a code, or the
  // place of a text, below 0 where it is missing. Columns are far apart in memory, and often just so far that
  // the same row of all of them does not fit into the cache at once; a tile does.
  static constexpr std::size_t kRows = 256;

  template <bool kNames>
  bool read_rows(std::int64_t& row, std::int64_t end, RowBuilder& builder, std::int64_t& n_lines) noexcept {
    if (!tile_.reserve(kRows * lanes_.size())) return false;
    while (row < end) {
      const auto wanted = static_cast<std::size_t>(std::min(end - row, static_cast<std::int64_t>(kRows)));
      const std::size_t count = fill(static_cast<std::size_t>(row), wanted);
      for (std::size_t i = 0; i < count; ++i, ++row, ++n_lines) {
        if (!read_row<kNames>(tile_.data() + i * lanes_.size(), row - static_cast<std::int64_t>(i), builder))
          return false;
      }
      if (count < wanted) break;
    }
    return true;
  }

  // The tile of rows from `row` on; how many of them nothing is wrong with.
  std::size_t fill(std::size_t row, std::size_t count) noexcept {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const Lane& lane = lanes_[i];
      const std::uint8_t* const valid = lane.valid + (row & lane.valid_mask);
      const std::size_t step = lane.valid_mask & 1;
      std::uint32_t* to = tile_.data() + i;
      std::size_t strange = 0, r = 0;
      if (lane.kind == ColumnKind::coded) {
        for (; r < count; ++r, to += lanes_.size())
          strange += !put_code(lane, lane.codes[row + r], valid[r * step], to);
      } else if (lane.kind == ColumnKind::text) {
        for (; r < count; ++r, to += lanes_.size())
          *to = valid[r * step] != 0 ? static_cast<std::uint32_t>(r) : kNone;
      } else {
        for (; r < count; ++r, to += lanes_.size())
          strange += !put_value(lane.numbers[row + r], valid[r * step], to);
      }
      if (strange != 0) count = first_strange(lane, row, count);
    }
    return count;
  }

  static bool put_code(const Lane& lane, std::int32_t code, std::uint8_t valid, std::uint32_t* to) noexcept {
    const bool inside = static_cast<std::uint64_t>(static_cast<std::int64_t>(code)) < lane.known;
    __builtin_prefetch(lane.keys + (inside ? code : 0));
    *to = (inside & (valid != 0)) ? static_cast<std::uint32_t>(code) : kNone;
    return inside | (valid == 0) | (code < 0);
  }

  static bool put_value(double number, std::uint8_t valid, std::uint32_t* to) noexcept {
    constexpr float missing = std::numeric_limits<float>::quiet_NaN();
    const float value = valid != 0 ? static_cast<float>(number) : missing;
    *to = std::bit_cast<std::uint32_t>(value);
    return !(std::abs(value) > std::numeric_limits<float>::max());
  }

  static std::size_t first_strange(const Lane& lane, std::size_t row, std::size_t count) noexcept {
    std::uint32_t unused = 0;
    std::size_t r = 0;
    for (bool fine = true; r < count && fine; r += fine) {
      const std::uint8_t valid = lane.valid[(row + r) & lane.valid_mask];
      fine = lane.kind == ColumnKind::coded ? put_code(lane, lane.codes[row + r], valid, &unused)
                                            : put_value(lane.numbers[row + r], valid, &unused);
    }
    return r;
  }

  // A row of the tile that begins at row `first`.
  template <bool kNames>
  bool read_row(const std::uint32_t* cells, std::int64_t first, RowBuilder& builder) const noexcept {
    RowBuilder::Tail tail;
    if (!builder.open_tail(lanes_.size() + 1, kNames ? longest_ : 0, tail)) return false;
    Pen<kNames> pen{tail.keys + tail.size, tail.values + tail.size,
                    tail.name_offsets + (kNames ? tail.size : 0), tail.names + tail.name_end, tail.names};
    const Lane* lane = lanes_.data();
    for (const Run& run : runs_) {
      read_run<kNames>(run, lane, cells, first, pen);
      lane += run.count;
      cells += run.count;
    }
    tail.size = static_cast<std::size_t>(pen.key - tail.keys);
    tail.name_end = static_cast<std::size_t>(pen.name - pen.names);
    builder.close_tail(tail);
    return builder.end_row(0, 1) == Added::fine;
  }

  template <bool kNames>
  void read_run(const Run& run, const Lane* lanes, const std::uint32_t* cells, std::int64_t first,
                Pen<kNames>& to) const noexcept {
    Pen<kNames> pen = to;
    const auto add_all =
        [&](auto add) {  // one loop for each kind: the compiler does not see that it is the same
          for (std::size_t i = 0; i < run.count; ++i) add(lanes[i], cells[i]);
        };
    if (run.kind == ColumnKind::coded) {
      add_all([&](const Lane& lane, std::uint32_t cell) {
        add_code(lane, static_cast<std::int32_t>(cell), pen);
      });
    } else if (run.kind == ColumnKind::number) {
      add_all(
          [&](const Lane& lane, std::uint32_t cell) { add_number(lane, std::bit_cast<float>(cell), pen); });
    } else {
      add_all([&](const Lane& lane, std::uint32_t cell) { add_other(lane, cell, first, pen); });
    }
    to = pen;
  }

  template <bool kNames>
  void add_code(const Lane& lane, std::int32_t code, Pen<kNames>& pen) const noexcept {
    const bool there = code >= 0;
    if (missing_ && !there) [[unlikely]]
      return add_missing(*lane.column, pen);
    const std::int64_t at = there ? code : 0;
    pen.put(lane.keys[at], 1, there);
    if constexpr (kNames) put_text(*lane.column, at, there, pen);
  }

  template <bool kNames>
  void add_number(const Lane& lane, float value, Pen<kNames>& pen) const noexcept {
    const bool there = !std::isnan(value);
    if (missing_ && !there) [[unlikely]]
      return add_missing(*lane.column, pen);
    put_number(lane, value, there, pen);
  }

  // A text that is no code, or a number that is transformed.
  template <bool kNames>
  void add_other(const Lane& lane, std::uint32_t cell, std::int64_t first, Pen<kNames>& pen) const noexcept {
    const Column& column = *lane.column;
    const auto value = std::bit_cast<float>(cell);
    const bool text = lane.kind == ColumnKind::text;
    if (text ? cell == kNone : std::isnan(value)) {
      if (missing_) add_missing(column, pen);
    } else if (text) {
      const std::int64_t at = first + cell;
      pen.put(static_cast<std::int64_t>(key_of(column, at)), 1, true);
      if constexpr (kNames) put_text(column, at, true, pen);
    } else if (lane.kind == ColumnKind::log1p) {
      put_number(lane, signed_log1p(value), true, pen);
    } else {
      add_bucket(column, value, pen);
    }
  }

  template <bool kNames>
  static void add_bucket(const Column& column, float value, Pen<kNames>& pen) noexcept {
    const std::size_t bucket = bucket_of(value, column.edges);
    pen.put(static_cast<std::int64_t>(column.bucket_keys[bucket]), 1, true);
    if constexpr (kNames) {
      const std::string& name = column.bucket_names[bucket];
      std::memcpy(pen.name, name.data(), name.size());
      pen.end_name(name.size(), true);
    }
  }

  template <bool kNames>
  static void put_number(const Lane& lane, float value, bool there, Pen<kNames>& pen) noexcept {
    const bool some = there & (value != 0);
    pen.put(lane.key, value, some);
    if constexpr (kNames) {
      lane.column->number_name.copy_to(pen.name);
      pen.end_name(lane.column->number_name.size(), some);
    }
  }

  template <bool kNames>
  static void add_missing(const Column& column, Pen<kNames>& pen) noexcept {
    pen.put(static_cast<std::int64_t>(column.absence), 1, true);
    if constexpr (kNames) {
      column.prefix.copy_to(pen.name);
      std::memcpy(pen.name + column.prefix.size(), Column::kMissing.data(), Column::kMissing.size());
      pen.end_name(column.prefix.size() + Column::kMissing.size(), true);
    }
  }

  template <bool kNames>
  static void put_text(const Column& column, std::int64_t i, bool there, Pen<kNames>& pen) noexcept {
    const std::int64_t start = column.texts.offsets[i];
    const auto size = static_cast<std::size_t>(column.texts.offsets[i + 1] - start);
    const auto room = static_cast<std::int64_t>(Prefix::kRoom);
    column.prefix.copy_to(pen.name);
    char* const behind = pen.name + column.prefix.size();
    if (size <= Prefix::kRoom && start + room <= column.texts.bytes) [[likely]] {
      std::memcpy(behind, column.texts.data + start, Prefix::kRoom);
    } else if (size > 0) {
      std::memcpy(behind, column.texts.data + start, size);
    }
    pen.end_name(column.prefix.size() + size, there);
  }

  // The first and last texts of a buffer may have nothing around them.
  static std::uint64_t key_of(const Column& column, std::int64_t row) noexcept {
    const std::string_view text = column.texts[row];
    if (column.texts.is_inside(row, column.prefixed.size())) {
      return column.prefixed.key<false>(text.data(), text.data() + text.size());
    }
    return key_of_joined(column.prefix.text(), text);
  }

  const bool missing_;
  const bool names_;
  bool possible_ = true;
  std::size_t longest_ = 0;  // bytes of the names of a row
  std::vector<Lane> lanes_;
  std::vector<Run> runs_;
  Array<std::uint32_t> tile_;
};

}  // namespace riata
