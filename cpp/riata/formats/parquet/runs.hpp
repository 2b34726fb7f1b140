// Runs of small numbers as Parquet stores them: a varint says how many times a value is repeated, or how many
// groups of eight values follow, packed into as few bits as they need ("RLE/bit-packing hybrid").
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "riata/base/array.hpp"
#include "riata/formats/parquet/unpack.hpp"

namespace riata::parquet {

inline std::uint64_t load_word(const void* p) noexcept {
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

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

// A bit a row.
class Bits {
 public:
  // Room for so many; nothing is in it then. False: no memory.
  bool clear(std::size_t count) noexcept {
    size_ = 0;
    if (!words_.reserve(count / 64 + 2)) return false;  // one to be read behind the last
    words_.data()[0] = words_.data()[1] = 0;
    return true;
  }
  std::size_t size() const noexcept { return size_; }
  const Byte* bytes() const noexcept { return reinterpret_cast<const Byte*>(words_.data()); }
  bool operator[](std::size_t i) const noexcept { return (words_[i / 64] >> (i % 64) & 1) != 0; }

  // The lowest `count` bits of a word, the others of which are 0.
  void append(std::uint64_t word, std::size_t count) noexcept {
    std::uint64_t* const to = words_.data() + size_ / 64;
    const std::size_t at = size_ % 64;
    to[0] |= word << at;
    size_ += count;
    if (at + count >= 64) {
      to[1] = at == 0 ? 0 : word >> (64 - at);
      words_.data()[size_ / 64 + 1] = 0;
    }
  }

 private:
  Array<std::uint64_t> words_;
  std::size_t size_ = 0;
};

class Runs {
 public:
  Runs() = default;
  Runs(const Byte* begin, const Byte* end, int width) noexcept : p_(begin), end_(end), width_(width) {}

  int width() const noexcept { return width_; }

  // The next `count` values; false where there are fewer.
  bool read(std::uint32_t* to, std::size_t count, const UnpackKernels& kernels) noexcept {
    while (count > 0) {
      if (left_ == 0 && !start_run()) return false;
      const std::size_t some = std::min(count, left_);
      if (repeated_) {
        std::fill(to, to + some, value_);
      } else {
        unpack(to, some, kernels);
      }
      advance(some);
      to += some;
      count -= some;
    }
    return true;
  }

  // The same of values of one bit; adds up how many are 1.
  bool read_bits(Bits& to, std::size_t count, std::size_t& ones) noexcept {
    while (count > 0) {
      if (left_ == 0 && !start_run()) return false;
      for (std::size_t run = std::min(count, left_), some; run > 0; run -= some) {
        some = std::min<std::size_t>(run, 64);
        const std::uint64_t word =
            (repeated_ ? 0 - (std::uint64_t{value_} & 1) : bits_at(at_)) & (~std::uint64_t{0} >> (64 - some));
        to.append(word, some);
        ones += static_cast<std::size_t>(std::popcount(word));
        advance(some);
        count -= some;
      }
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

  void unpack(std::uint32_t* to, std::size_t count, const UnpackKernels& kernels) const noexcept {
    std::size_t at = at_;
    const std::size_t end = at_ + count;
    for (; at < end && at % 8 != 0; ++at) *to++ = unpack_one(at);
    const Byte* const start = packed_ + std::min(at / 8 * static_cast<std::size_t>(width_), room());
    const std::size_t some = kernels.unpack({start, end_, width_}, to, end - at);
    to += some;
    for (at += some; at < end; ++at) *to++ = unpack_one(at);
  }

  std::size_t room() const noexcept { return static_cast<std::size_t>(end_ - packed_); }

  std::uint32_t unpack_one(std::size_t at) const noexcept {
    const std::size_t bit = at * static_cast<std::size_t>(width_);
    return static_cast<std::uint32_t>((word_at(bit / 8) >> (bit % 8)) & ((std::uint64_t{1} << width_) - 1));
  }

  // 64 bits of a packed run from one of them on, as many as there are.
  std::uint64_t bits_at(std::size_t bit) const noexcept {
    const std::size_t shift = bit % 8;
    const std::uint64_t low = word_at(bit / 8) >> shift;
    return shift == 0 ? low : low | word_at(bit / 8 + 8) << (64 - shift);
  }

  // Eight bytes of the run, zeros where it ends before them.
  std::uint64_t word_at(std::size_t byte) const noexcept {
    if (byte + 8 <= room()) return load_word(packed_ + byte);
    std::uint64_t word = 0;
    if (byte < room()) std::memcpy(&word, packed_ + byte, room() - byte);
    return word;
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
