// Records of text in columns that hold nothing out of the ordinary, in one sweep.
//
// The places of delimiters are found first, 64 bytes at a time; then a cell is a few words of arithmetic: the
// key of `column=text` from the words around it, a short number from one word. There are few branches on what
// a cell holds, whether it is empty above all: that is a matter of chance, and a wrong guess costs as much as
// the cell. A cell that is anything else goes to cells.hpp, a record that is anything else (quotes, too
// few cells) is left to reader.hpp, which reads it from its beginning.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "riata/formats/csv/plan.hpp"
#include "riata/text/delimiters.hpp"

namespace riata::csv {

namespace detail {

// A number of up to eight digits, one point among them perhaps, and a sign.
struct ShortNumber {
  bool is_one;      // it is one, or no text at all
  bool there;       // it is not zero
  float value = 0;  // correctly rounded
};

// Eight bytes from `p` on are readable. No branches but one: see above.
[[gnu::always_inline]] inline ShortNumber read_short_cell(const char* p, std::size_t size) noexcept {
  const auto negative = static_cast<std::size_t>(*p == '-') & static_cast<std::size_t>(size != 0);
  p += negative;
  size -= negative;
  if (size > 8) return {false, false};
  // The text in the highest bytes, each the value of a digit, zeros before it.
  const std::uint64_t all = -static_cast<std::uint64_t>(size != 0);
  const std::uint64_t x = (load8(p) ^ 0x3030303030303030u) << ((64 - 8 * size) & 63) & all;
  // Marks where there is no digit: nowhere, or at the point. Bytes above a strange one may be marked wrongly.
  const std::uint64_t marks = ((x + 0x7676767676767676u) | x) & 0x8080808080808080u;
  const std::uint64_t unit = marks >> 7;
  const std::uint64_t y = x ^ unit * ('.' ^ '0');                           // the point is a zero now
  const std::uint64_t strange = (y & unit * 0xFF) | (marks & (marks - 1));  // no point, or two
  const auto pointed = static_cast<std::size_t>(marks != 0);
  // One digit at least, or nothing at all.
  const auto empty = static_cast<std::size_t>(size <= pointed) & (negative | pointed);
  // The digits before the point move up over it; without one, all are before it and stay.
  const std::uint64_t before = unit - 1;
  const std::uint64_t moved = (y & before) << (8 * pointed) | (y & ~(before << 8 | 0xFF));
  const auto m = static_cast<std::int32_t>(join_digits8(moved));
  // Digits behind the point: its unit moves the byte 7 - i of the factor to the top, i being its place. One
  // rounding: with a point there are seven digits at most, which a float holds.
  const auto fraction = static_cast<std::size_t>(unit * 0x0706050403020100u >> 56 & 7);
  const float value = static_cast<float>(m) / riata::detail::kFloatPowers[fraction];
  const auto sign = static_cast<std::uint32_t>(negative) << 31;
  return {(strange | empty) == 0, m != 0, std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ sign)};
}

}  // namespace detail

class UnquotedReader {
 public:
  UnquotedReader(const char* begin, const char* end, const Format& format, const Plan& plan, Cells& cells,
                 NamedRows& rows) noexcept
      : begin_(begin),
        format_(format),
        plan_(plan),
        cells_(cells),
        rows_(rows),
        scan_(begin, static_cast<std::size_t>(end - begin),
              {{format.delimiter, format.delimiter}, {'\n', format.quote != 0 ? format.quote : '\n'}, 0}),
        on_(plan.possible && DelimiterScan::possible(static_cast<std::size_t>(end - begin))) {}

  // The records from p on up to one that is unusual; leaves p behind them. False: no memory.
  bool read(const char*& p) noexcept {
    return format_.keep_names ? read_records<true>(p) : read_records<false>(p);
  }

 private:
  enum class End : std::uint8_t { fine, unusual, no_memory };
  using Tail = RowBuilder::Tail;

  template <bool kNames>
  bool read_records(const char*& p) noexcept {
    const std::size_t count = plan_.columns.size();
    if (!scales_.reserve(count + 1)) return false;
    if (on_) scan_.pass_to(static_cast<std::size_t>(p - begin_));
    while (on_) {
      std::uint32_t* const places = next_record(count);
      const char* const newline = places == nullptr ? nullptr : begin_ + places[count - 1];
      const End end = places == nullptr ? End::unusual : read_record<kNames>(p, places);
      if (end == End::no_memory) return false;
      if (end == End::unusual) {
        cells_.row().drop_row();
        on_ = ++unusual_ < 16 + usual_;  // where most records are unusual, looking twice does not pay
        return true;
      }
      ++rows_.n_lines;
      ++usual_;
      p = newline + 1;
      scan_.pass(count);
    }
    return true;
  }

  // Where the next `count` cells end, if exactly the last of them ends a record.
  std::uint32_t* next_record(std::size_t count) noexcept {
    return scan_.need(count) && scan_.before_break() == count - 1 ? scan_.places() : nullptr;
  }

  template <bool kNames>
  End read_record(const char* cell, std::uint32_t* places) noexcept {
    const std::size_t count = plan_.columns.size();
    // Prefixes are laid over what stands before a cell.
    if (cell - begin_ < static_cast<std::ptrdiff_t>(plan_.longest_prefix)) return End::unusual;
    const char* const newline = begin_ + places[count - 1];
    if (*newline != '\n') return End::unusual;
    places[count - 1] -= newline > cell && newline[-1] == '\r';
    const auto bytes = static_cast<std::size_t>(newline - cell);
    Tail tail;
    if (!cells_.row().open_tail(count, plan_.name_bytes + bytes, tail)) return End::no_memory;
    Target target;
    const UnquotedColumn* column = plan_.columns.data();
    for (const Run& run : plan_.runs) {
      const UnquotedColumn* const end = column + run.count;
      while (column != end) {
        const auto left = static_cast<std::size_t>(end - column);
        std::size_t done = 0;
        if (run.kind == Run::Kind::numbers) {
          done = read_numbers<kNames, false>(cell, places, column, left, tail);
        } else if (run.kind == Run::Kind::scaled) {
          const std::size_t first = tail.size;
          done = read_numbers<kNames, true>(cell, places, column, left, tail);
          if (done > 0) scale<kNames>(first, tail);
        } else if (run.kind == Run::Kind::categories) {
          done = read_categories<kNames>(cell, places, column, left, tail);
        }
        column += done;
        places += done;
        if (column == end) break;
        const std::string_view text(cell, static_cast<std::size_t>(begin_ + *places - cell));
        cell = begin_ + *places++ + 1;
        const Column& other = *column++->column;
        if (read_label(other, text, target)) continue;
        cells_.row().close_tail(tail);
        if (cells_.read(other, text, target) != nullptr) return End::unusual;
        if (!cells_.row().open_tail(count, plan_.name_bytes + bytes, tail)) return End::no_memory;
      }
    }
    cells_.row().close_tail(tail);
    return cells_.row().end_row(target) == Added::fine ? End::fine : End::no_memory;
  }

  // The most common ones: a digit.
  bool read_label(const Column& column, std::string_view text, Target& target) const noexcept {
    if (column.role == Role::ignored) return true;
    const bool digit = column.role == Role::label && text.size() == 1 && is_digit(text[0]);
    if (!digit || !format_.label_names.empty() || !format_.absent.empty()) return false;
    target.label = text[0] - '0';
    return true;
  }

  // The numbers from `first` on in parts of their scales: all at once, which takes less than one by one between the cells.
  template <bool kNames>
  [[gnu::noinline]] void scale(std::size_t first, Tail& tail) const noexcept {
    if (kernels_.scale(tail.values + first, scales_.data(), tail.size - first) > 0) [[unlikely]]
      drop_zeros<kNames>(first, tail);
  }

  // Takes the features that came out as zero from the row, from `first` on.
  template <bool kNames>
  static void drop_zeros(std::size_t first, Tail& tail) noexcept {
    std::size_t kept = first;
    for (std::size_t k = first; k < tail.size; ++k) {
      if (tail.values[k] == 0) continue;
      tail.values[kept] = tail.values[k];
      tail.keys[kept] = tail.keys[k];
      if constexpr (kNames) {
        const std::int64_t size = tail.name_offsets[k + 1] - tail.name_offsets[k];
        std::memmove(tail.names + tail.name_offsets[kept], tail.names + tail.name_offsets[k],
                     static_cast<std::size_t>(size));
        tail.name_offsets[kept + 1] = tail.name_offsets[kept] + size;
      }
      ++kept;
    }
    tail.size = kept;
    if constexpr (kNames) tail.name_end = static_cast<std::size_t>(tail.name_offsets[kept]);
  }

  // Cells up to the first that is unusual; how many. Leaves `cell` behind them. kScaled: as they stand there, those
  // among them that a scale makes something else of than zero, and what they are scaled by.
  template <bool kNames, bool kScaled>
  [[gnu::noinline]] std::size_t read_numbers(const char*& cell, const std::uint32_t* places,
                                             const UnquotedColumn* columns, std::size_t count,
                                             Tail& tail) noexcept {
    const char* const begin = begin_;
    const char* p = cell;
    ColumnScale* scale = scales_.data();
    std::int64_t* key = tail.keys + tail.size;
    float* value = tail.values + tail.size;
    std::int64_t* name_offset = kNames ? tail.name_offsets + tail.size : nullptr;
    std::size_t name_end = tail.name_end, i = 0;
    for (; i < count; ++i) {
      const char* const end = begin + places[i];
      detail::ShortNumber number = detail::read_short_cell(p, static_cast<std::size_t>(end - p));
      if (!number.is_one) [[unlikely]]
        break;
      if constexpr (kScaled) {
        number.there |= (columns[i].centred & static_cast<std::size_t>(end != p)) != 0;
        *scale = columns[i].scale;
        scale += number.there;
      }
      p = end + 1;
      *key = static_cast<std::int64_t>(columns[i].column->key);
      *value = number.value;
      key += number.there;
      value += number.there;
      if constexpr (kNames) {
        const std::size_t length = columns[i].column->name.size();
        if (length <= 16) {
          std::memcpy(tail.names + name_end, &columns[i].column->short_name, 16);
        } else {
          std::memcpy(tail.names + name_end, columns[i].column->name.data(), length);
        }
        name_end += length & -static_cast<std::size_t>(number.there);
        *(name_offset += number.there) = static_cast<std::int64_t>(name_end);
      }
    }
    cell = p;
    tail.size = static_cast<std::size_t>(key - tail.keys);
    tail.name_end = name_end;
    return i;
  }

  // The same: unusual are True and False, which have another spelling.
  template <bool kNames>
  std::size_t read_categories(const char*& cell, const std::uint32_t* places, const UnquotedColumn* columns,
                              std::size_t count, Tail& tail) const noexcept {
    const char* const begin = begin_;
    const char* p = cell;
    std::int64_t* key = tail.keys + tail.size;
    float* value = tail.values + tail.size;
    std::int64_t* name_offset = kNames ? tail.name_offsets + tail.size : nullptr;
    std::size_t name_end = tail.name_end, i = 0;
    for (; i < count; ++i) {
      const Prefixed& prefix = columns[i].prefix;
      const char* const end = begin + places[i];
      if (((*p == 'T') | (*p == 'F')) && is_respelled({p, static_cast<std::size_t>(end - p)})) [[unlikely]]
        break;
      const auto there = static_cast<std::size_t>(end != p);
      const auto length = static_cast<std::size_t>(end - p) + prefix.size();
      *key = static_cast<std::int64_t>(prefix.key<kNames>(p, end, tail.names + name_end));
      p = end + 1;
      *value = 1;
      key += there;
      value += there;
      if constexpr (kNames) {
        name_end += length & -there;
        *(name_offset += there) = static_cast<std::int64_t>(name_end);
      }
    }
    cell = p;
    tail.size = static_cast<std::size_t>(key - tail.keys);
    tail.name_end = name_end;
    return i;
  }

  const char* const begin_;
  const Format& format_;
  const Plan& plan_;
  Cells& cells_;
  NamedRows& rows_;
  DelimiterScan scan_;
  const ScaledNumbersKernels& kernels_ = best_scaled_numbers_kernels();
  Array<ColumnScale> scales_;  // of the numbers of a run
  bool on_;
  std::size_t usual_ = 0, unusual_ = 0;  // records
};

}  // namespace riata::csv
