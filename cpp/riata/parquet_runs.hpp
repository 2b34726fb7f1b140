// Runs of small numbers as Parquet stores them: a varint says how many times a value is repeated, or how many
// groups of eight values follow, packed into as few bits as they need ("RLE/bit-packing hybrid").
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace riata::parquet {

static_assert(std::endian::native == std::endian::little, "Parquet's numbers are little-endian");

using Byte = std::uint8_t;

// Eight bytes of 0 or 1, for each byte of eight bits.
inline constexpr std::array<std::uint64_t, 256> kSpread = [] {
  std::array<std::uint64_t, 256> spread{};
  for (std::uint64_t byte = 0; byte < 256; ++byte)
    for (int bit = 0; bit < 8; ++bit) spread[byte] |= ((byte >> bit) & 1) << (8 * bit);
  return spread;
}();

// Moves `p` behind a varint; false where there is none.
inline bool read_varint(const Byte*& p, const Byte* end, std::uint64_t& value) noexcept {
  value = 0;
  for (int shift = 0; p < end && shift < 64; shift += 7) {
    const Byte byte = *p++;
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

class Runs {
 public:
  static constexpr int kWidest = 32;

  Runs() = default;
  Runs(const Byte* begin, const Byte* end, int width) noexcept : p_(begin), end_(end), width_(width) {}

  // The next `count` values; false where there are fewer.
  bool read(std::uint32_t* to, std::size_t count) noexcept {
    while (count > 0) {
      if (left_ == 0 && !start_run()) return false;
      const std::size_t some = std::min(count, left_);
      if (repeated_) {
        std::fill(to, to + some, value_);
      } else {
        unpack(to, some);
      }
      advance(some);
      to += some;
      count -= some;
    }
    return true;
  }

  // The same of values of one bit, as bytes of 0 or 1; adds up how many are 1.
  bool read_bits(Byte* to, std::size_t count, std::size_t& ones) noexcept {
    while (count > 0) {
      if (left_ == 0 && !start_run()) return false;
      const std::size_t some = std::min(count, left_);
      if (repeated_) {
        std::memset(to, static_cast<int>(value_ & 1), some);
        ones += (value_ & 1) * some;
      } else {
        spread(to, some, ones);
      }
      advance(some);
      to += some;
      count -= some;
    }
    return true;
  }

 private:
  bool start_run() noexcept {
    std::uint64_t header = 0;
    do {  // a run of nothing is odd, but no harm
      if (!read_varint(p_, end_, header)) return false;
      repeated_ = (header & 1) == 0;
      const std::uint64_t count = header >> 1;
      const auto room = static_cast<std::uint64_t>(end_ - p_);
      if (repeated_) {
        const std::size_t size = static_cast<std::size_t>(width_ + 7) / 8;
        if (size > room) return false;
        value_ = 0;
        std::memcpy(&value_, p_, size);
        p_ += size;
        left_ = count;
      } else {
        // The last group may lack the bytes that nothing of it would be in.
        const std::uint64_t bits = std::min<std::uint64_t>(room, UINT64_MAX / 64) * 8;
        if (count > (UINT64_MAX >> 4)) return false;
        left_ = width_ == 0 ? count * 8 : std::min(count * 8, bits / static_cast<std::uint64_t>(width_));
        packed_ = p_;
        at_ = 0;
        const std::uint64_t size = width_ == 0 ? 0 : (count > room ? room : count * width_);
        p_ += std::min(size, room);
        if (left_ == 0 && count > 0) return false;
      }
    } while (left_ == 0);
    return true;
  }

  void advance(std::size_t some) noexcept {
    left_ -= some;
    at_ += some;
  }

  void unpack(std::uint32_t* to, std::size_t count) const noexcept {
    const auto width = static_cast<std::size_t>(width_), room = static_cast<std::size_t>(end_ - packed_);
    std::size_t at = at_;
    const std::size_t end = at_ + count;
    for (; at < end && at % 8 != 0; ++at) *to++ = unpack_one(at);
    const std::size_t margin = 7 * width / 8 + 8;  // from the start of a group to the end of its last word
    const std::size_t start = at / 8 * width;
    if (width > 0 && start + margin <= room) {
      const std::size_t groups = std::min((end - at) / 8, (room - start - margin) / width + 1);
      kUnpack[width](packed_ + start, to, groups);
      to += 8 * groups;
      at += 8 * groups;
    }
    for (; at < end; ++at) *to++ = unpack_one(at);
  }

  std::uint32_t unpack_one(std::size_t at) const noexcept {
    const std::size_t bit = at * static_cast<std::size_t>(width_), byte = bit / 8;
    const auto room = static_cast<std::size_t>(end_ - packed_);
    std::uint64_t word = 0;
    if (byte < room) std::memcpy(&word, packed_ + byte, std::min<std::size_t>(8, room - byte));
    return static_cast<std::uint32_t>((word >> (bit % 8)) & ((std::uint64_t{1} << width_) - 1));
  }

  // Groups of eight values of a width that the compiler knows.
  template <std::size_t kWidth>
  static void unpack_groups(const Byte* p, std::uint32_t* to, std::size_t groups) noexcept {
    constexpr std::uint64_t mask = (std::uint64_t{1} << kWidth) - 1;
    for (std::size_t g = 0; g < groups; ++g, p += kWidth, to += 8) {
      [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((to[i] = static_cast<std::uint32_t>((load(p + i * kWidth / 8) >> (i * kWidth % 8)) & mask)), ...);
      }(std::make_index_sequence<8>{});
    }
  }
  static std::uint64_t load(const Byte* p) noexcept {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    return word;
  }
  using Unpack = void (*)(const Byte*, std::uint32_t*, std::size_t) noexcept;
  static constexpr std::array<Unpack, kWidest + 1> kUnpack = []<std::size_t... w>(std::index_sequence<w...>) {
    return std::array<Unpack, kWidest + 1>{&unpack_groups<w>...};
  }(std::make_index_sequence<kWidest + 1>{});

  void spread(Byte* to, std::size_t count, std::size_t& ones) const noexcept {
    std::size_t bit = at_, i = 0;
    for (; i < count && bit % 8 != 0; ++i, ++bit) ones += to[i] = (packed_[bit / 8] >> (bit % 8)) & 1;
    for (; i + 8 <= count; i += 8, bit += 8) {
      const Byte eight = packed_[bit / 8];
      std::memcpy(to + i, &kSpread[eight], 8);
      ones += static_cast<std::size_t>(std::popcount(eight));
    }
    for (; i < count; ++i, ++bit) ones += to[i] = (packed_[bit / 8] >> (bit % 8)) & 1;
  }

  const Byte* p_ = nullptr;
  const Byte* end_ = nullptr;
  int width_ = 0;
  bool repeated_ = false;
  std::uint32_t value_ = 0;
  std::size_t left_ = 0;          // of the run
  const Byte* packed_ = nullptr;  // where a packed run begins
  std::size_t at_ = 0;            // values of it that are read
};

}  // namespace riata::parquet
