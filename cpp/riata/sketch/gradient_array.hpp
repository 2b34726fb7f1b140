// A number a feature, by index; memory is touched where numbers are.
#pragma once

#include <algorithm>
#include <cstdint>

#include "riata/base/zero_pages.hpp"

namespace riata {

class GradientArray {
 public:
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 37;  // more would not fit the address space

  static bool possible(std::uint64_t index) noexcept { return index < kLimit; }
  // Makes room for that many features. False: memory is exhausted.
  bool reserve(std::uint64_t features) noexcept {
    if (features <= capacity_) return true;
    return grow(std::max(features, capacity_ * 2)) || grow(features);
  }
  // Numbers by index, as far as there is room. In a large array, writes are noted.
  double* data() noexcept { return values_.as<double>(); }
  bool tracks_writes() const noexcept { return capacity_ > kUntracked; }
  void note_write(std::uint64_t index) noexcept {
    flags_.as<Flag>()[index / kChunk] = 1;
    groups_.as<Flag>()[index / kChunk / kGroup] = 1;
  }
  void add(std::uint64_t index, double value) noexcept {
    if (tracks_writes()) note_write(index);
    data()[index] += value;
  }
  void set(std::uint64_t index, double value) noexcept {
    if (tracks_writes()) note_write(index);
    data()[index] = value;
  }
  double get(std::uint64_t index) const noexcept {
    return index < capacity_ ? values_.as<double>()[index] : 0;
  }

  template <class Visit>  // visit(index, number), ascending, for every number that may have been written
  void each(Visit visit) const {
    const std::uint64_t chunks = capacity_ / kChunk;
    for (std::uint64_t begin = 0; begin < chunks; begin += kGroup) {
      if (tracks_writes() && groups_.as<Flag>()[begin / kGroup] == 0) continue;
      for (std::uint64_t c = begin; c < std::min(begin + kGroup, chunks); ++c) {
        if (tracks_writes() && flags_.as<Flag>()[c] == 0) continue;
        for (std::uint64_t i = c * kChunk; i < (c + 1) * kChunk; ++i) visit(i, values_.as<double>()[i]);
      }
    }
  }
  void clear() noexcept {
    each([](std::uint64_t, double& value) {
      if (value != 0) value = 0;  // what was never written must stay untouched memory
    });
  }
  std::size_t bytes() const noexcept { return values_.bytes() + flags_.bytes() + groups_.bytes(); }

 private:
  static constexpr std::uint64_t kChunk = 256;
  static constexpr std::uint64_t kGroup = 4096;  // chunks: an index far out must not cost a walk to it
  static constexpr std::uint64_t kUntracked = std::uint64_t{1} << 20;  // a walk up to here costs little
  using Flag = std::uint16_t;  // not a character type: those may alias anything

  bool grow(std::uint64_t features) noexcept {
    features = (features + kChunk - 1) / kChunk * kChunk;
    if (features > kUntracked) {
      if (!flags_.grow(features / kChunk * sizeof(Flag))) return false;
      if (!groups_.grow((features / kChunk + kGroup - 1) / kGroup * sizeof(Flag))) return false;
      if (!tracks_writes()) {
        const std::uint64_t chunks = capacity_ / kChunk;
        std::fill_n(flags_.as<Flag>(), chunks, Flag{1});
        std::fill_n(groups_.as<Flag>(), (chunks + kGroup - 1) / kGroup, Flag{1});
      }
    }
    if (!values_.grow(features * sizeof(double))) return false;
    capacity_ = features;
    return true;
  }

  ZeroPages values_, flags_, groups_;
  std::uint64_t capacity_ = 0;
};

}  // namespace riata
