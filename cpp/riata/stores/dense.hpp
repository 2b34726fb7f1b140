// The dense store: an array of rows by index. It grows when a larger index appears, and untouched pages cost
// nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "riata/base/zero_pages.hpp"

namespace riata {

class DenseStore {
 public:
  static constexpr bool kDirect = true;    // every row is there; a touch is one multiplication away
  static constexpr bool kDistinct = true;  // no two features share a row
  static constexpr bool kGroups = true;    // rows come chunk by chunk

  DenseStore(int width, int) noexcept : width_(static_cast<std::uint64_t>(width)) {}

  // The capacity is a power of two: a row of features is inside where the bitwise or of their indices is.
  bool inside(std::uint64_t index) const noexcept { return index < capacity_; }
  std::uint64_t mask() const noexcept { return capacity_ - 1; }
  double* at(std::uint64_t index) const noexcept { return rows_.as<double>() + index * width_; }
  const double* find(std::uint64_t index) const noexcept { return inside(index) ? at(index) : nullptr; }
  bool has(std::uint64_t index) const noexcept { return inside(index); }
  static constexpr bool paged() noexcept { return false; }

  // A large store remembers which chunks were written to: each write to a row is noted.
  bool tracks_writes() const noexcept { return capacity_ > kUntracked; }
  void note_write(std::uint64_t index) noexcept { written_.as<Flag>()[index / kChunk] = 1; }

  static bool possible(std::uint64_t index) noexcept { return index < kLimit; }
  // Makes room for a possible index. False: memory is exhausted.
  bool reserve(std::uint64_t index) noexcept {
    const std::uint64_t rows = std::bit_ceil(index + 1 < kChunk ? kChunk : index + 1);
    if (rows > kUntracked) {
      if (!written_.grow(rows / kChunk * sizeof(Flag))) return false;
      if (!tracks_writes() && capacity_ > 0)
        std::memset(written_.as<Flag>(), 1, capacity_ / kChunk * sizeof(Flag));
    }
    if (!rows_.grow(rows * width_ * sizeof(double))) return false;
    capacity_ = rows;
    return true;
  }

  // The row that `for_each` knew by this key, for putting a saved model back. Null: out of memory or range.
  double* restore(std::uint64_t index, std::string_view) noexcept {
    if (!inside(index) && !(possible(index) && reserve(index))) return nullptr;
    if (tracks_writes()) note_write(index);
    return at(index);
  }

  template <class Visit>  // visit(key, row), ascending, for every row that may have been written
  void for_each(Visit visit) const {
    // A nominal dimension of billions must not be walked through: only chunks that were written to.
    for (std::uint64_t c = 0; c < capacity_ / kChunk; ++c) {
      if (tracks_writes() && written_.as<Flag>()[c] == 0) continue;
      for (std::uint64_t i = c * kChunk; i < (c + 1) * kChunk; ++i) visit(i, at(i));
    }
  }

  std::uint64_t bytes() const noexcept { return rows_.bytes(); }

  void clear() noexcept {
    rows_ = ZeroPages();
    written_ = ZeroPages();
    capacity_ = 0;
  }

 private:
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 37;  // more would not fit the address space
  static constexpr std::uint64_t kChunk = 256;
  // Up to here a walk costs next to nothing.
  static constexpr std::uint64_t kUntracked = std::uint64_t{1} << 20;
  using Flag = std::uint16_t;  // not a character type: those may alias anything, and the kernels would reload

  ZeroPages rows_, written_;
  std::uint64_t width_;
  std::uint64_t capacity_ = 0;
};

}  // namespace riata
