// What stands before each page of a Parquet file: a structure in Thrift's compact protocol.
#pragma once

#include <cstdint>

#include "riata/formats/parquet/runs.hpp"

namespace riata::parquet {

enum class Encoding : std::int32_t { plain = 0, plain_dictionary = 2, rle = 3, rle_dictionary = 8 };

struct PageHeader {
  enum Kind : std::int32_t { data = 0, index = 1, dictionary = 2, data_v2 = 3 };
  std::int32_t kind = -1;
  std::int32_t unpacked = -1, packed = -1;  // bytes
  std::int32_t n_values = -1;
  std::int32_t encoding = -1;
  std::int32_t levels = 0;  // of a data_v2: bytes before the values, which are never packed
  bool is_packed = true;    // the rest of a data_v2
  std::int64_t size = 0;    // of the header
};

enum class HeaderState : std::uint8_t { read, cut_short, damaged };

namespace detail {

class HeaderReader {
 public:
  HeaderReader(const Byte* begin, const Byte* end) noexcept : begin_(begin), p_(begin), end_(end) {}

  HeaderState read(PageHeader& header) noexcept {
    read_fields(0, [&](int field, int type, int depth) { return page_field(header, field, type, depth); });
    if (state_ != HeaderState::read) return state_;
    header.size = p_ - begin_;
    const bool counted = header.kind == PageHeader::index || header.n_values >= 0;
    const bool fine = header.kind >= 0 && header.packed >= 0 && header.unpacked >= 0 && counted &&
                      header.levels >= 0 && header.levels <= header.packed &&
                      header.levels <= header.unpacked;
    return fine ? HeaderState::read : HeaderState::damaged;
  }

 private:
  enum Type { stop = 0, yes, no, i8, i16, i32, i64, real, binary, list, set, map, structure };
  static constexpr int kDeepest = 8;

  bool page_field(PageHeader& header, int field, int type, int depth) noexcept {
    if (type == i32) {
      std::int32_t* const wanted[] = {nullptr, &header.kind, &header.unpacked, &header.packed};
      return number(field >= 1 && field <= 3 ? wanted[field] : nullptr);
    }
    if (type != structure || (field != 5 && field != 7 && field != 8)) return skip(type, depth);
    const bool second = field == 8;
    return read_fields(depth + 1, [&](int inner, int kind, int deeper) {
      if (kind == i32 && inner == 1) return number(&header.n_values);
      if (kind == i32 && inner == (second ? 4 : 2)) return number(&header.encoding);
      if (second && kind == i32 && (inner == 5 || inner == 6)) {
        std::int32_t some = 0;
        if (!number(&some)) return false;
        if (some < 0 || header.levels > INT32_MAX - some) return fail(HeaderState::damaged);
        header.levels += some;
        return true;
      }
      if (second && inner == 7 && (kind == yes || kind == no)) {
        header.is_packed = kind == yes;
        return true;
      }
      return skip(kind, deeper);
    });
  }

  template <class Take>
  bool read_fields(int depth, Take take) noexcept {
    if (depth > kDeepest) return fail(HeaderState::damaged);
    int field = 0;
    while (true) {
      if (p_ == end_) return fail(HeaderState::cut_short);
      const int byte = *p_++;
      const int type = byte & 15;
      if (type == stop) return true;
      if (byte >> 4 == 0) {
        std::int64_t given = 0;
        if (!zigzag(given)) return false;
        field = given < 0 || given > INT16_MAX ? INT16_MAX : static_cast<int>(given);
      } else {
        field = field >= INT16_MAX ? INT16_MAX : field + (byte >> 4);
      }
      if (!take(field, type, depth)) return false;
    }
  }

  bool zigzag(std::int64_t& value) noexcept {
    std::uint64_t raw = 0;
    const Byte* const start = p_;
    if (!read_varint(p_, end_, raw)) {
      return fail(p_ == end_ && p_ - start < 10 ? HeaderState::cut_short : HeaderState::damaged);
    }
    value = static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1);
    return true;
  }

  bool number(std::int32_t* to) noexcept {
    std::int64_t value = 0;
    if (!zigzag(value)) return false;
    if (value < INT32_MIN || value > INT32_MAX) return fail(HeaderState::damaged);
    if (to != nullptr) *to = static_cast<std::int32_t>(value);
    return true;
  }

  bool skip(int type, int depth) noexcept {
    std::int64_t unused = 0;
    std::uint64_t size = 0;
    switch (type) {
      case yes:
      case no:
        return true;
      case i8:
        return skip_bytes(1);
      case i16:
      case i32:
      case i64:
        return zigzag(unused);
      case real:
        return skip_bytes(8);
      case binary:
        if (!read_varint(p_, end_, size)) return fail(HeaderState::cut_short);
        return skip_bytes(size);
      case structure:
        return read_fields(depth + 1, [&](int, int inner, int deeper) { return skip(inner, deeper); });
      default:  // lists, sets and maps: no page header has any
        return fail(HeaderState::damaged);
    }
  }

  bool skip_bytes(std::uint64_t size) noexcept {
    if (size > static_cast<std::uint64_t>(end_ - p_)) return fail(HeaderState::cut_short);
    p_ += size;
    return true;
  }

  bool fail(HeaderState state) noexcept {
    state_ = state;
    return false;
  }

  const Byte* const begin_;
  const Byte* p_;
  const Byte* const end_;
  HeaderState state_ = HeaderState::read;
};

}  // namespace detail

inline HeaderState read_page_header(const Byte* begin, const Byte* end, PageHeader& header) noexcept {
  return detail::HeaderReader(begin, end).read(header);
}

}  // namespace riata::parquet
