// Which features a row has more than once. In nearly all rows that is none, and finding out should cost next
// to nothing: every key stamps one of many places, and only keys that find theirs stamped already are looked
// for among those before them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace riata {

class DuplicateKeys {
 public:
  // Calls join(first, again), places in the row, for each key that came before, in the order of the row.
  // False, without having called it: there are too many to look for one by one.
  template <class Join>
  bool find(const std::int64_t* keys, std::size_t count, Join join) noexcept {
    if (++stamp_ == 0) {
      std::memset(stamps_, 0, sizeof stamps_);
      stamp_ = 1;
    }
    const std::size_t mask = (count <= kShort ? kClose : sizeof stamps_) - 1;
    const std::uint8_t stamp = stamp_;
    std::uint32_t suspects[kFew];
    std::size_t found = 0;
    for (std::size_t k = 0; k < count; ++k) {
      std::uint8_t& place = stamps_[static_cast<std::uint64_t>(keys[k]) & mask];
      if (place == stamp) [[unlikely]] {
        if (found == kFew) return false;
        suspects[found++] = static_cast<std::uint32_t>(k);
      }
      place = stamp;
    }
    for (std::size_t s = 0; s < found; ++s) {
      const std::size_t again = suspects[s];
      std::size_t first = 0;
      while (keys[first] != keys[again]) ++first;
      if (first < again) join(first, again);
    }
    return true;
  }

 private:
  static constexpr std::size_t kShort = 256;                   // rows so short...
  static constexpr std::size_t kClose = std::size_t{1} << 14;  // ...use so many places, which stay close by
  static constexpr std::size_t kFew = 24;
  std::uint8_t stamp_ = 0;
  std::uint8_t stamps_[std::size_t{1} << 16] = {};
};

}  // namespace riata
