// Features numbered as they come: a cache holds each key, and its name, once, and then only numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "riata/array.hpp"
#include "riata/hash.hpp"

namespace riata {

class Numbering {
 public:
  // As many as a reader should have to hold in memory: whoever makes a cache starts anew then.
  static constexpr std::size_t kManyKeys = std::size_t{1} << 20, kManyBytes = std::size_t{24} << 20;

  bool full() const noexcept { return keys.size() >= kManyKeys || names.size() >= kManyBytes; }

  // The numbers of n features. The same key under another name, as somebody's own file may have it, is
  // another feature here. False: memory is exhausted, or numbers are.
  bool number(const std::int64_t* from, std::size_t n, const char* text, const std::int64_t* offsets,
              std::uint32_t* out) noexcept {
    constexpr std::size_t kAhead = 12;
    for (std::size_t k = 0; k < n; ++k) {
      if (4 * keys.size() >= 3 * capacity_ && !grow()) return false;
      if (k + kAhead < n) __builtin_prefetch(slots_.data() + home(from[k + kAhead]));
      const char* const name = text + offsets[k];
      const auto size = static_cast<std::size_t>(offsets[k + 1] - offsets[k]);
      const std::uint32_t print = print_of(name, size);
      std::size_t at = home(from[k]);
      while (!slots_.data()[at].is(from[k], print) && slots_.data()[at].number != kNone)
        at = (at + 1) & (capacity_ - 1);
      Slot& slot = slots_.data()[at];
      if (slot.number == kNone) {
        if (!add(from[k], name, size)) return false;
        slot = {from[k], static_cast<std::uint32_t>(keys.size() - 1), print};
      }
      out[k] = slot.number;
    }
    return true;
  }

  Array<std::int64_t> keys;
  Array<char> names;
  Array<std::uint32_t> lengths;  // of the names

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Slot {
    std::int64_t key;
    std::uint32_t number, print;
    bool is(std::int64_t other, std::uint32_t other_print) const noexcept {
      return key == other && print == other_print && number != kNone;
    }
  };

  static std::uint32_t print_of(const char* name, std::size_t size) noexcept {
    std::uint64_t hash = kHashSeed ^ size;
    for (; size > 8; name += 8, size -= 8) hash = (hash ^ word_of(name, 8)) * kOdd, hash ^= hash >> 32;
    return static_cast<std::uint32_t>(((hash ^ word_of(name, size)) * kOdd) >> 32);
  }
  std::size_t home(std::int64_t key) const noexcept {
    return static_cast<std::size_t>(scatter(static_cast<std::uint64_t>(key)) >> 20) & (capacity_ - 1);
  }

  bool add(std::int64_t key, const char* name, std::size_t size) noexcept {
    if (keys.size() >= kNone || size > kNone) return false;
    return keys.push_back(key) && names.append(name, size) &&
           lengths.push_back(static_cast<std::uint32_t>(size));
  }

  bool grow() noexcept {
    const std::size_t capacity = capacity_ == 0 ? 1024 : 2 * capacity_;
    Array<Slot> wider;
    if (!wider.reserve(capacity)) return false;
    for (std::size_t i = 0; i < capacity; ++i) wider.data()[i] = {0, kNone, 0};
    std::swap(slots_, wider);
    const std::size_t before = std::exchange(capacity_, capacity);
    for (std::size_t i = 0; i < before; ++i) {
      const Slot& old = wider.data()[i];
      if (old.number == kNone) continue;
      std::size_t at = home(old.key);
      while (slots_.data()[at].number != kNone) at = (at + 1) & (capacity_ - 1);
      slots_.data()[at] = old;
    }
    return true;
  }

  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;

  Array<Slot> slots_;
  std::size_t capacity_ = 0;
};

}  // namespace riata
