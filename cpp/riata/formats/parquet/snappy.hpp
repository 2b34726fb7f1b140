// Snappy's format: a varint says how many bytes there are, then bytes as they are and copies of bytes before
// take turns.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "riata/formats/parquet/runs.hpp"

namespace riata::parquet {

inline constexpr std::size_t kSnappyRoom = 64;  // bytes behind the last that are overwritten

// Whether so many bytes can be in so few: 64 of them take three at least, whatever a header says.
inline bool can_be_snappy(std::uint64_t packed, std::uint64_t unpacked) noexcept {
  return unpacked / 32 <= packed;
}

namespace detail {

// What one byte says about what follows it.
struct Tag {
  static constexpr std::uint16_t kLong = 255;
  std::uint16_t mask = 0;        // of the offset's bytes that follow
  std::uint16_t far = 0;         // the rest of the offset
  std::uint16_t length = kLong;  // of what comes out: kLong for what is long, or rare
  std::uint16_t literal = 0;
};
inline constexpr auto kTags = [] {
  std::array<Tag, 256> tags{};
  for (std::uint32_t tag = 0; tag < 256; ++tag) {
    const std::uint32_t kind = tag & 3, high = tag >> 2;
    const auto length = static_cast<std::uint16_t>(kind == 1 ? (high & 7) + 4 : high + 1);
    if (kind == 0 && high < 60) tags[tag] = {0, 0, length, 1};
    if (kind == 1) tags[tag] = {0xFF, static_cast<std::uint16_t>((tag >> 5) << 8), length, 0};
    if (kind == 2) tags[tag] = {0xFFFF, 0, length, 0};
  }
  return tags;
}();

class Snappy {
 public:
  Snappy(const Byte* p, const Byte* end, Byte* to, std::size_t size) noexcept
      : p_(p), end_(end), begin_(to), to_(to), size_(size) {}

  bool unpack() noexcept {
    std::uint64_t size = 0;
    if (!read_varint(p_, end_, size) || size != size_) return false;
    while (p_ < end_) {
      if (end_ - p_ > kAhead) short_ones();
      if (p_ < end_ && !any()) return false;
    }
    return left() == 0;
  }

 private:
  static constexpr std::ptrdiff_t kAhead = 24;  // bytes that are read of what is packed, at most
  static constexpr std::uint32_t kShort = 16;

  std::size_t left() const noexcept { return size_ - static_cast<std::size_t>(to_ - begin_); }

  // As many as are short and copy nothing that they write themselves; which kind comes next is a matter of
  // chance, so both are done the same way.
  void short_ones() noexcept {
    const Byte* p = p_;
    Byte* to = to_;
    const Byte* const last = end_ - kAhead;
    const Byte* const full = begin_ + size_ - std::min<std::size_t>(size_, kShort);
    while (p < last && to < full) {
      const std::uint64_t word = load_word(p);
      const std::uint32_t first = word & 0xFF;
      const Tag& tag = kTags[first];
      const std::size_t offset = tag.far + (word >> 8 & tag.mask);
      const Byte* const from = tag.literal != 0 ? p + 1 : to - offset;
      const bool fine = (offset >= tag.length) & (offset <= static_cast<std::size_t>(to - begin_));
      if (!(fine | (tag.literal != 0)) | (tag.length > kShort)) [[unlikely]]
        break;
      Byte some[kShort];  // what is read and what is written may overlap
      std::memcpy(some, from, kShort);
      std::memcpy(to, some, kShort);
      to += tag.length;
      p += (first & 3) == 0 ? (first >> 2) + 2 : (first & 3) + 1;  // sooner known than what is in the table
    }
    p_ = p;
    to_ = to;
  }

  bool any() noexcept {
    const std::uint32_t tag = *p_++, kind = tag & 3, high = tag >> 2;
    if (kind == 0) return literal(high);
    std::uint32_t offset = 0;
    const std::size_t size = kind == 3 ? 4 : kind;
    if (static_cast<std::size_t>(end_ - p_) < size) return false;
    std::memcpy(&offset, p_, size);
    p_ += size;
    if (kind == 1) return copy(offset | (tag >> 5) << 8, (high & 7) + 4);
    return copy(offset, high + 1);
  }

  bool literal(std::uint32_t high) noexcept {
    std::size_t length = std::size_t{high} + 1;
    if (high >= 60) {
      const std::size_t size = high - 59;
      std::uint32_t given = 0;
      if (static_cast<std::size_t>(end_ - p_) < size) return false;
      std::memcpy(&given, p_, size);
      p_ += size;
      length = std::size_t{given} + 1;
    }
    if (length > static_cast<std::size_t>(end_ - p_) || length > left()) return false;
    std::memcpy(to_, p_, length);
    p_ += length;
    to_ += length;
    return true;
  }

  bool copy(std::size_t offset, std::size_t length) noexcept {
    if (offset == 0 || offset > static_cast<std::size_t>(to_ - begin_) || length > left()) return false;
    const Byte* from = to_ - offset;
    if (offset >= 8) {  // in words, none of which reads what it writes
      for (std::size_t i = 0; i < length; i += 8) std::memcpy(to_ + i, from + i, 8);
    } else {
      for (std::size_t i = 0; i < length; ++i) to_[i] = from[i];
    }
    to_ += length;
    return true;
  }

  const Byte* p_;
  const Byte* const end_;
  Byte* const begin_;
  Byte* to_;
  const std::size_t size_;
};

}  // namespace detail

// Unpacks exactly `size` bytes to where kSnappyRoom more may be written; false where they are not there.
inline bool unpack_snappy(const Byte* begin, const Byte* end, Byte* to, std::size_t size) noexcept {
  return detail::Snappy(begin, end, to, size).unpack();
}

}  // namespace riata::parquet
