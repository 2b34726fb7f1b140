// Features numbered as they come: a cache holds each name once, and then only its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "riata/array.hpp"
#include "riata/hash.hpp"

namespace riata {

class Numbering {
 public:
  // As many as a reader should have to hold in memory: whoever makes a cache starts anew then.
  static constexpr std::size_t kManyNames = std::size_t{1} << 20, kManyBytes = std::size_t{24} << 20;

  bool full() const noexcept { return size() >= kManyNames || names.size() >= kManyBytes; }
  std::size_t size() const noexcept { return lengths.size(); }

  // The numbers of n features. The same key under another name, as somebody's own file may have it, is
  // another feature here. False: memory is exhausted, or numbers are.
  bool number(const std::int64_t* from, std::size_t n, const char* text, const std::int64_t* offsets,
              std::uint32_t* out) noexcept {
    constexpr std::size_t kAhead = 16;
    for (std::size_t k = 0; k < n; ++k) {
      if (4 * size() >= 3 * capacity_ && !grow()) return false;
      if (k + kAhead < n) __builtin_prefetch(slots_.data() + home(from[k + kAhead]));
      const std::int64_t key = from[k];
      const auto name = [&] {
        return std::string_view(text + offsets[k], static_cast<std::size_t>(offsets[k + 1] - offsets[k]));
      };
      std::size_t at = home(key);
      while (slots_.data()[at].key != key && slots_.data()[at].number != kNone)
        at = (at + 1) & (capacity_ - 1);
      const Slot* slot = slots_.data() + at;
      if (slot->print != kOwn || slot->number == kNone) [[unlikely]] {
        Slot& place = find(key, name());
        if (place.number == kNone && !add(place, key, name())) return false;
        slot = &place;
      }
      out[k] = slot->number;
    }
    return true;
  }

  Array<char> names;
  Array<std::uint32_t> lengths;  // of the names

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // A key that is the hash of its name needs no second look at names.
  static constexpr std::uint32_t kOwn = 0;

  struct Slot {
    std::int64_t key;
    std::uint32_t number, print;
  };

  static std::uint32_t print_of(std::int64_t key, std::string_view name) noexcept {
    const std::uint64_t hash = key_of_name(name.data(), name.size());
    return hash == static_cast<std::uint64_t>(key) ? kOwn : static_cast<std::uint32_t>(hash) | 1;
  }
  std::size_t home(std::int64_t key) const noexcept {
    return static_cast<std::size_t>(scatter(static_cast<std::uint64_t>(key)) >> 20) & (capacity_ - 1);
  }
  // Where the feature is, or else the empty slot where it belongs.
  Slot& find(std::int64_t key, std::string_view name) noexcept {
    const std::uint32_t print = print_of(key, name);
    std::size_t at = home(key);
    for (;; at = (at + 1) & (capacity_ - 1)) {
      Slot& slot = slots_.data()[at];
      if (slot.number == kNone || (slot.key == key && slot.print == print)) return slot;
    }
  }

  bool add(Slot& slot, std::int64_t key, std::string_view name) noexcept {
    if (size() >= kNone || name.size() > kNone) return false;
    slot = {key, static_cast<std::uint32_t>(size()), print_of(key, name)};
    return names.append(name.data(), name.size()) &&
           lengths.push_back(static_cast<std::uint32_t>(name.size()));
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

  Array<Slot> slots_;
  std::size_t capacity_ = 0;
};

}  // namespace riata
