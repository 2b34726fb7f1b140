// The bytes of a column of Parquet, as the file has them, to its pages: headers are read, pages unpacked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "riata/base/array.hpp"
#include "riata/formats/parquet/column.hpp"
#include "riata/formats/parquet/header.hpp"
#include "riata/formats/parquet/snappy.hpp"

namespace riata::parquet {

enum class Packing : std::uint8_t { none, snappy, other };

class Pages {
 public:
  enum class Next : std::uint8_t { page, dictionary, bytes, packed, damaged, no_memory };

  explicit Pages(Packing packing) noexcept : packing_(packing) {}

  // More bytes, which must stay until others are given; false: no memory. A page before is used up.
  bool give(const Byte* begin, const Byte* end) noexcept {
    if (p_ == end_) {
      p_ = begin;
      end_ = end;
      return true;
    }
    Array<Byte> joined;
    const auto rest = static_cast<std::size_t>(end_ - p_), more = static_cast<std::size_t>(end - begin);
    if (!joined.reserve(rest + more) || !joined.append(p_, rest) || !joined.append(begin, more)) return false;
    held_ = std::move(joined);
    p_ = held_.data();
    end_ = p_ + held_.size();
    return true;
  }

  // The next page, or dictionary; or what is missing before there is one: more bytes, needed() at least, or
  // somebody who unpacks packed() to needed() bytes and gives them to set_unpacked.
  Next next(Page& page) noexcept {
    for (;;) {
      header_ = {};
      const HeaderState state = read_page_header(p_, end_, header_);
      if (state == HeaderState::damaged) return Next::damaged;
      needed_ = 1;
      if (state == HeaderState::cut_short) return Next::bytes;
      const auto size = static_cast<std::size_t>(header_.size) + static_cast<std::size_t>(header_.packed);
      const auto there = static_cast<std::size_t>(end_ - p_);
      if (size > there) {
        needed_ = size - there;
        return Next::bytes;
      }
      body_ = p_ + header_.size;
      p_ += size;
      const auto kind = header_.kind;
      if (kind == PageHeader::data || kind == PageHeader::data_v2 || kind == PageHeader::dictionary)
        return unpack(page);
    }
  }

  std::size_t needed() const noexcept { return needed_; }
  const Byte* packed() const noexcept { return body_ + levels(); }
  std::size_t packed_size() const noexcept { return static_cast<std::size_t>(header_.packed) - levels(); }

  Next set_unpacked(const Byte* begin, const Byte* end, Page& page) noexcept {
    const auto size = static_cast<std::size_t>(end - begin);
    if (size != needed_) return Next::damaged;
    if (!make_room()) return Next::no_memory;
    if (size > 0) std::memcpy(unpacked_.data() + levels(), begin, size);
    return found(page, unpacked_.data(), levels() + size);
  }

 private:
  // Bytes that are never packed.
  std::size_t levels() const noexcept {
    return header_.kind == PageHeader::data_v2 ? static_cast<std::size_t>(header_.levels) : 0;
  }

  Next unpack(Page& page) noexcept {
    const auto packed = static_cast<std::size_t>(header_.packed);
    if (packing_ == Packing::none || (header_.kind == PageHeader::data_v2 && !header_.is_packed))
      return found(page, body_, packed);
    needed_ = static_cast<std::size_t>(header_.unpacked) - levels();
    if (needed_ == 0) return found(page, body_, levels());
    if (packing_ == Packing::other) return Next::packed;
    if (!can_be_snappy(packed_size(), needed_)) return Next::damaged;
    if (!make_room()) return Next::no_memory;
    if (!unpack_snappy(this->packed(), body_ + packed, unpacked_.data() + levels(), needed_))
      return Next::damaged;
    return found(page, unpacked_.data(), levels() + needed_);
  }

  // For the levels, which are copied, and what is unpacked behind them.
  bool make_room() noexcept {
    unpacked_.set_size(0);
    if (!unpacked_.reserve(levels() + needed_ + kSnappyRoom)) return false;
    if (levels() > 0) std::memcpy(unpacked_.data(), body_, levels());
    return true;
  }

  Next found(Page& page, const Byte* begin, std::size_t size) const noexcept {
    const std::int64_t levels = header_.kind == PageHeader::data_v2 ? header_.levels : -1;
    page = {begin, begin + size, header_.n_values, static_cast<Encoding>(header_.encoding), levels};
    return header_.kind == PageHeader::dictionary ? Next::dictionary : Next::page;
  }

  const Packing packing_;
  const Byte* p_ = nullptr;  // not read yet
  const Byte* end_ = nullptr;
  PageHeader header_;
  const Byte* body_ = nullptr;  // behind the header
  std::size_t needed_ = 0;
  Array<Byte> held_;      // bytes of more than one gift
  Array<Byte> unpacked_;  // the page that is being read
};

// What is done with a page.
template <class ColumnType>
Outcome take_page(ColumnType& column, Pages::Next what, const Page& page) noexcept {
  if (what == Pages::Next::page) return column.set_page(page);
  if (what == Pages::Next::dictionary) return column.set_dictionary(page.begin, page.end, page.n_values);
  return what == Pages::Next::no_memory ? Outcome::no_memory : Outcome::damaged;
}

// Fills a column from its pages. `more`: see Pages::next for what is missing, which is in `what`.
template <class ColumnType>
Outcome fill(ColumnType& column, Pages& pages, Pages::Next& what) noexcept {
  Outcome outcome = column.fill();
  while (outcome == Outcome::more) {
    Page page;
    what = pages.next(page);
    if (what == Pages::Next::bytes || what == Pages::Next::packed) return Outcome::more;
    outcome = take_page(column, what, page);
    if (outcome == Outcome::done) outcome = column.fill();
  }
  return outcome;
}

}  // namespace riata::parquet
