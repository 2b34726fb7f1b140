// Columns to rows, straight to where the rows go: for features that no row has twice.
//
// A tile of some rows is filled column by column, each cell with the key and the value of its feature; what
// is missing or zero has the value zero. Then its rows are written without zeros. That something is wrong
// with a row is only noticed here; who reads it again, cell by cell, can say what it is.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "riata/base/array.hpp"
#include "riata/block/drop_zeros.hpp"
#include "riata/block/transforms.hpp"
#include "riata/formats/table/column.hpp"

namespace riata {

class ColumnRows {
 public:
  ColumnRows(const std::vector<Column>& columns, bool missing, bool names,
             const DropZerosKernels& kernels = best_drop_zeros_kernels())
      : columns_(columns), names_wanted_(names), absent_value_(missing ? 1.0F : 0.0F), kernels_(kernels) {
    for (const Column& column : columns) {
      possible_ = possible_ && column.lists == nullptr && column.kind != ColumnKind::words &&
                  (column.is_number() || column.sound);
      longest_ += column.longest_name();
    }
    if (names) name_numbers();
    possible_ = possible_ && longest_ < (std::size_t{1} << 20);
    width_ = (columns.size() + kDropZerosSlack - 1) / kDropZerosSlack * kDropZerosSlack;
  }

  // Whether these columns can be read here.
  bool possible() const noexcept { return possible_; }

  // Rows up to `end`; leaves `row` at the first that something is wrong with. False: no memory.
  bool read(std::int64_t& row, std::int64_t end, RowBuilder& builder, std::int64_t& n_lines) noexcept {
    if (names_wanted_) return read_rows<true>(row, end, builder, n_lines);
    return read_rows<false>(row, end, builder, n_lines);
  }

 private:
  static constexpr std::size_t kRows = 64;  // of a tile: so few that it stays in the nearest cache

  static constexpr std::size_t kNear = std::size_t{1} << 14;  // bytes that need not be fetched ahead

  // Of a name the first `head` bytes are the column's prefix; the rest is a text of its own. With no head and
  // up to NamedKey::kLongest bytes it is the name in a NamedKey.
  struct Name {
    static constexpr std::uint32_t kExact = std::uint32_t{1} << 31;  // nothing may be read behind the text
    const char* text;
    std::uint32_t head, size;
  };

  // The names of what is missing and of what is there, for each column of numbers.
  void name_numbers() {
    held_.resize(2 * columns_.size());
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const auto head = static_cast<std::uint32_t>(columns_[c].prefix.size());
      std::array<Name, 2>& both =
          number_names_.emplace_back(std::array<Name, 2>{Name{kAbsent, head, 1}, Name{kAbsent, head - 1, 0}});
      if (head >= NamedKey::kLongest) continue;
      for (Name& name : both) {
        char* const to = held_[2 * c + (name.size == 0)].name;
        std::memcpy(to, columns_[c].prefix.text().data(), head);
        to[head] = '?';
        name = {to, 0, name.head + name.size};
      }
    }
  }

  template <bool kNames>
  bool read_rows(std::int64_t& row, std::int64_t end, RowBuilder& builder, std::int64_t& n_lines) noexcept {
    if (!make_room()) return false;
    while (row < end) {
      const auto wanted = static_cast<std::size_t>(std::min(end - row, static_cast<std::int64_t>(kRows)));
      std::size_t count = wanted;
      for (std::size_t c = 0; c < columns_.size(); ++c)
        count = fill<kNames>(c, static_cast<std::size_t>(row), count);
      for (std::size_t r = 0; r < count; ++r, ++row, ++n_lines)
        if (!write_row<kNames>(r, builder)) return false;
      if (count < wanted) break;
    }
    return true;
  }

  bool make_room() noexcept {
    if (!keys_.reserve(kRows * width_) || !values_.reserve(kRows * width_)) return false;
    std::fill_n(values_.data(), kRows * width_, 0.0F);  // behind the last column it stays so
    std::fill_n(keys_.data(), kRows * width_, std::int64_t{0});
    return !names_wanted_ || texts_.reserve(kRows * width_);
  }

  // One column of the tile of `count` rows from `row` on; how many of them nothing is wrong with.
  template <bool kNames>
  std::size_t fill(std::size_t c, std::size_t row, std::size_t count) noexcept {
    const Column& column = columns_[c];
    if (column.checked && !kNames)
      return fill_checked(column, column.keys, c, row, count, [](std::size_t, std::int64_t) {});
    if (column.checked && column.named_keys != nullptr) {
      return fill_checked(
          column, column.named_keys, c, row, count,
          [this](std::size_t at, const NamedKey& named) { texts_.data()[at] = {named.name, 0, named.size}; });
    }
    if (column.valid != nullptr) {
      const std::uint8_t* const valid = column.valid + row;
      return fill<kNames>(column, c, row, count, [=](std::size_t r) { return valid[r] != 0; });
    }
    return fill<kNames>(column, c, row, count, [](std::size_t) { return true; });
  }

  template <bool kNames, class Valid>
  std::size_t fill(const Column& column, std::size_t c, std::size_t row, std::size_t count,
                   Valid valid) noexcept {
    if (column.kind == ColumnKind::coded) return fill_codes<kNames>(column, c, row, count, valid);
    if (column.kind == ColumnKind::text)
      return fill_texts<kNames>(column, c, static_cast<std::int64_t>(row), count, valid);
    count = fill_numbers<kNames>(column, c, row, count, valid);
    if (column.kind == ColumnKind::log1p) {
      change_numbers(column, c, row, count, valid,
                     [&](std::size_t at, float number) { values_.data()[at] = signed_log1p(number); });
    } else if (column.kind == ColumnKind::number && column.scaled()) {
      change_numbers(column, c, row, count, valid, [&](std::size_t at, float number) {
        values_.data()[at] = scaled_number(number, column.centre, column.scale);
      });
      for (std::size_t r = 0; r < count; ++r)
        if (!std::isfinite(values_.data()[c + r * width_])) return r;
    } else if (column.kind == ColumnKind::bucket) {
      change_numbers(column, c, row, count, valid,
                     [&](std::size_t at, float number) { put_bucket<kNames>(column, at, number); });
    }
    return count;
  }

  // Whether a cell is missing is a matter of chance: masks choose where a branch would often be wrong.
  static std::uint64_t mask_of(bool which) noexcept { return 0 - static_cast<std::uint64_t>(which); }
  static std::int64_t choose(std::uint64_t mask, std::int64_t yes, std::uint64_t no) noexcept {
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(yes) & mask) | (no & ~mask));
  }
  static float choose(std::uint64_t mask, float yes, float no) noexcept {
    const auto bits = static_cast<std::uint32_t>(mask);
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(yes) & bits) |
                                (std::bit_cast<std::uint32_t>(no) & ~bits));
  }

  static std::int64_t key_in(std::int64_t key) noexcept { return key; }
  static std::int64_t key_in(const NamedKey& named) noexcept { return named.key; }

  // Of codes that nothing can be wrong with; set_name(place in the tile, key).
  template <class Key, class SetName>
  std::size_t fill_checked(const Column& column, const Key* keys, std::size_t at, std::size_t row,
                           std::size_t count, SetName set_name) noexcept {
    const std::int32_t* const codes = column.codes + row;
    const std::size_t width = width_;
    if (static_cast<std::size_t>(column.texts.count) * sizeof(Key) > kNear) {
      const std::size_t last = std::min(2 * kRows, static_cast<std::size_t>(column.n_codes) - row);
      // The keys of the next tile are on their way meanwhile.
      for (std::size_t r = kRows; r < last; ++r) __builtin_prefetch(keys + codes[r], 0, 2);
    }
    std::int64_t* key = keys_.data() + at;
    float* value = values_.data() + at;
    const float absent = absent_value_;
    for (std::size_t r = 0; r < count; ++r, key += width, value += width) {
      const std::int32_t code = codes[r];
      *key = key_in(keys[code]);
      *value = choose(static_cast<std::uint64_t>(std::int64_t{code} >> 63), absent, 1.0F);
      set_name(at + r * width, keys[code]);
    }
    return count;
  }

  // The cells of a column in the tile, one after the other.
  struct Cells {
    std::int64_t* key;
    float* value;
    std::size_t width;
    std::uint64_t absence;
    float absent;

    // Fills a cell and goes to the next: where `some` has no bits, nothing is there.
    void put(std::uint64_t some, std::int64_t present, float number) noexcept {
      *key = choose(some, present, absence);
      *value = choose(some, number, absent);
      key += width, value += width;
    }
  };
  Cells cells_of(const Column& column, std::size_t at) noexcept {
    return {keys_.data() + at, values_.data() + at, width_, column.absence, absent_value_};
  }

  template <bool kNames, class Valid>
  std::size_t fill_codes(const Column& column, std::size_t at, std::size_t row, std::size_t count,
                         Valid valid) noexcept {
    const std::int32_t* const codes = column.codes + row;
    const auto known = static_cast<std::uint32_t>(
        std::min<std::int64_t>(column.texts.count, std::numeric_limits<std::int32_t>::max()));
    const std::int64_t* const keys = column.keys;
    Cells cells = cells_of(column, at);
    std::size_t strange = 0;
    for (std::size_t r = 0; r < count; ++r) {
      const std::int32_t code = codes[r];
      const bool there = valid(r), inside = static_cast<std::uint32_t>(code) < known;
      const std::uint64_t some = mask_of(there & inside);
      cells.put(some, keys[static_cast<std::uint64_t>(code) & some], 1.0F);
      strange += !inside & there & (code >= 0);
      if constexpr (kNames) name_text(column, some != 0 ? code : -1, at + r * cells.width);
    }
    if (strange == 0) return count;
    std::size_t first = 0;
    while (!valid(first) || codes[first] < 0 || static_cast<std::uint32_t>(codes[first]) < known) ++first;
    return first;
  }

  template <bool kNames, class Valid>
  std::size_t fill_texts(const Column& column, std::size_t at, std::int64_t row, std::size_t count,
                         Valid valid) noexcept {
    for (std::size_t r = 0; r < count; ++r, ++row, at += width_) {
      const bool there = valid(r);
      keys_.data()[at] = static_cast<std::int64_t>(there ? key_of(column, row) : column.absence);
      values_.data()[at] = there ? 1.0F : absent_value_;
      if constexpr (kNames) name_text(column, there ? row : -1, at);
    }
    return count;
  }

  template <bool kNames, class Valid>
  std::size_t fill_numbers(const Column& column, std::size_t at, std::size_t row, std::size_t count,
                           Valid valid) noexcept {
    constexpr float infinite = std::numeric_limits<float>::infinity();
    const double* const numbers = column.numbers + row;
    const auto present = static_cast<std::int64_t>(column.key);
    Cells cells = cells_of(column, at);
    std::size_t strange = 0;
    for (std::size_t r = 0; r < count; ++r) {
      const auto number = static_cast<float>(numbers[r]);
      const bool there = valid(r) & !std::isnan(number);
      const std::uint64_t some = mask_of(there);
      cells.put(some, present, number);
      strange += there & (std::abs(number) == infinite);
      if constexpr (kNames) texts_.data()[at + r * cells.width] = number_names_[at][there];
    }
    if (strange == 0) return count;
    std::size_t first = 0;
    while (!valid(first) || std::abs(static_cast<float>(numbers[first])) != infinite) ++first;
    return first;
  }

  // Numbers that are there become something else: change(place in the tile, number).
  template <class Valid, class Change>
  void change_numbers(const Column& column, std::size_t at, std::size_t row, std::size_t count, Valid valid,
                      Change change) noexcept {
    for (std::size_t r = 0; r < count; ++r, at += width_) {
      const auto number = static_cast<float>(column.numbers[row + r]);
      if (valid(r) && !std::isnan(number)) change(at, number);
    }
  }

  template <bool kNames>
  void put_bucket(const Column& column, std::size_t at, float number) noexcept {
    const std::size_t bucket = bucket_of(number, column.edges);
    keys_.data()[at] = static_cast<std::int64_t>(column.bucket_keys[bucket]);
    values_.data()[at] = 1;
    if constexpr (kNames) {
      const std::string& name = column.bucket_names[bucket];
      texts_.data()[at] = {name.data(), 0, static_cast<std::uint32_t>(name.size()) | Name::kExact};
    }
  }

  // The name of text i of a column, or below 0: of what is missing.
  void name_text(const Column& column, std::int64_t i, std::size_t at) noexcept {
    const std::int64_t* const offsets = column.texts.offsets + std::max<std::int64_t>(i, 0);
    const char* const text = column.texts.data + offsets[0];
    const auto size = static_cast<std::uint32_t>(offsets[1] - offsets[0]);
    const bool exact =
        size > Prefix::kRoom || offsets[0] + static_cast<std::int64_t>(Prefix::kRoom) > column.texts.bytes;
    const auto head = static_cast<std::uint32_t>(column.prefix.size());
    texts_.data()[at] = {i < 0 ? kAbsent : text, head, i < 0 ? 1 : exact ? size | Name::kExact : size};
  }

  template <bool kNames>
  bool write_row(std::size_t r, RowBuilder& builder) const noexcept {
    RowBuilder::Tail tail;
    if (!builder.open_tail(width_ + kDropZerosSlack, kNames ? longest_ : 0, tail)) return false;
    const std::int64_t* const keys = keys_.data() + r * width_;
    const float* const values = values_.data() + r * width_;
    if constexpr (kNames) write_names(values, texts_.data() + r * width_, tail);
    tail.size += kernels_.copy(keys, values, width_, tail.keys + tail.size, tail.values + tail.size);
    builder.close_tail(tail);
    return builder.end_row({0}) == Added::fine;
  }

  void write_names(const float* values, const Name* names, RowBuilder::Tail& tail) const noexcept {
    char* name = tail.names + tail.name_end;
    std::int64_t* end = tail.name_offsets + tail.size + 1;
    for (std::size_t i = 0, count = columns_.size(); i < count; ++i) {
      const Name& wanted = names[i];
      if (wanted.head == 0 && wanted.size <= NamedKey::kLongest) [[likely]] {
        std::memcpy(name, wanted.text, NamedKey::kLongest + 1);
      } else {
        write_long(columns_[i].prefix, wanted, name);
      }
      const auto there = static_cast<std::size_t>((std::bit_cast<std::uint32_t>(values[i]) << 1) != 0);
      name += (0 - there) & (wanted.head + (wanted.size & ~Name::kExact));
      *end = name - tail.names;
      end += there;
    }
    tail.name_end = static_cast<std::size_t>(name - tail.names);
  }

  static void write_long(const Prefix& prefix, const Name& wanted, char* name) noexcept {
    prefix.copy_to(name);
    char* const behind = name + wanted.head;
    if ((wanted.size & Name::kExact) == 0) {
      std::memcpy(behind, wanted.text, Prefix::kRoom);
    } else if (const std::uint32_t size = wanted.size & ~Name::kExact; size > 0) {
      std::memcpy(behind, wanted.text, size);
    }
  }

  // The first and last texts of a buffer may have nothing around them.
  static std::uint64_t key_of(const Column& column, std::int64_t row) noexcept {
    const std::string_view text = column.texts[row];
    if (column.texts.is_inside(row, column.prefixed.size())) {
      return column.prefixed.key<false>(text.data(), text.data() + text.size());
    }
    return key_of_joined(column.prefix.text(), text);
  }

  static constexpr char kAbsent[Prefix::kRoom + 1] = "?               ";
  static_assert(Column::kMissing == "?");

  const std::vector<Column>& columns_;
  const bool names_wanted_;
  const float absent_value_;
  const DropZerosKernels& kernels_;
  bool possible_ = true;
  std::size_t longest_ = 0;  // bytes of the names of a row
  std::size_t width_ = 0;    // cells of a row of the tile
  Array<std::int64_t> keys_;
  Array<float> values_;
  Array<Name> texts_;
  std::vector<std::array<Name, 2>> number_names_;
  std::vector<NamedKey> held_;  // some of those names
};

}  // namespace riata
