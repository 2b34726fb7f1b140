// Features numbered as they come: a cache holds each name once, and then only its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

#include "riata/base/array.hpp"
#include "riata/base/hash.hpp"
#include "riata/base/utf8.hpp"

namespace riata {

class NameNumbers {
 public:
  // As many as a reader should have to hold in memory: whoever makes a cache starts anew then.
  static constexpr std::size_t kManyNames = std::size_t{1} << 20, kManyBytes = std::size_t{24} << 20;

  // The first feature gets the number `base`. Where names must be text, one that is none ends `number`.
  explicit NameNumbers(std::uint32_t base = 0, bool text = false) noexcept : base_(base), text_(text) {}

  bool full() const noexcept { return size() >= kManyNames || names.size() >= kManyBytes; }
  std::size_t size() const noexcept { return ends.size() == 0 ? 0 : ends.size() - 1; }

  enum class Done { all, no_memory, no_numbers, no_text };

  // The numbers of n features. The same key under another name, as somebody's own file may have it, is
  // another feature here. Unless all is done, no number is good, but those given before are.
  Done number(const std::int64_t* from, std::size_t n, const char* text, const std::int64_t* offsets,
              std::uint32_t* out) noexcept {
    constexpr std::size_t kAhead = 16;
    for (std::size_t k = 0; k < n; ++k) {
      if (size() >= most_ && !grow()) return Done::no_memory;
      Slot* const slots = slots_.get();
      const std::size_t mask = capacity_ - 1;
      // Until another one is new.
      for (; k < n; ++k) {
        if (k + kAhead < n) __builtin_prefetch(slots + home(from[k + kAhead], mask));
        const std::int64_t key = from[k];
        std::size_t at = home(key, mask);
        while (slots[at].key != key && slots[at].number != kNone) at = (at + 1) & mask;
        if (slots[at].number == kNone || slots[at].print != kOwn) [[unlikely]]
          break;
        out[k] = slots[at].number;
      }
      if (k == n) break;
      const std::string_view name(text + offsets[k], static_cast<std::size_t>(offsets[k + 1] - offsets[k]));
      const std::uint32_t print = print_of(from[k], name);
      Slot& place = find(from[k], print);
      if (place.number == kNone) {
        if (const Done done = add(name); done != Done::all) return done;
        place = {from[k], base_ + static_cast<std::uint32_t>(size() - 1), print};
      }
      out[k] = place.number;
    }
    return Done::all;
  }

  Array<char> names;
  Array<std::int64_t> ends;  // of the names; a 0 before them

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kMost = 0x7fffffff;  // Arrow has signed numbers

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
  static std::size_t home(std::int64_t key, std::size_t mask) noexcept {
    return static_cast<std::size_t>(scatter(static_cast<std::uint64_t>(key)) >> 20) & mask;
  }
  // Where the feature is, or else the empty slot where it belongs.
  Slot& find(std::int64_t key, std::uint32_t print) noexcept {
    const std::size_t mask = capacity_ - 1;
    for (std::size_t at = home(key, mask);; at = (at + 1) & mask) {
      Slot& slot = slots_[at];
      if (slot.number == kNone || (slot.key == key && slot.print == print)) return slot;
    }
  }

  Done add(std::string_view name) noexcept {
    if (text_ && !is_utf8(name)) return Done::no_text;
    if (size() >= kMost - base_) return Done::no_numbers;
    const bool added = (ends.size() > 0 || ends.push_back(0)) && names.append(name.data(), name.size()) &&
                       ends.push_back(static_cast<std::int64_t>(names.size()));
    return added ? Done::all : Done::no_memory;
  }

  bool grow() noexcept {
    const std::size_t capacity = capacity_ == 0 ? std::size_t{1} << 14 : 2 * capacity_, mask = capacity - 1;
    std::unique_ptr<Slot[], Freeing> wider(static_cast<Slot*>(allocate(capacity * sizeof(Slot))));
    if (wider == nullptr) return false;
    for (std::size_t i = 0; i < capacity; ++i) wider[i] = {0, kNone, 0};
    for (std::size_t i = 0; i < capacity_; ++i) {
      const Slot& old = slots_[i];
      if (old.number == kNone) continue;
      std::size_t at = home(old.key, mask);
      while (wider[at].number != kNone) at = (at + 1) & mask;
      wider[at] = old;
    }
    slots_ = std::move(wider);
    capacity_ = capacity;
    most_ = capacity / 8 * 5;
    return true;
  }

  // In large pages where the system has them: slots are looked up all over the place.
  static void* allocate(std::size_t size) noexcept {
    constexpr std::size_t kLarge = std::size_t{1} << 21;
    void* const memory = std::aligned_alloc(size < kLarge ? 64 : kLarge, size);
#ifdef MADV_HUGEPAGE
    if (memory != nullptr && size >= kLarge) madvise(memory, size, MADV_HUGEPAGE);
#endif
    return memory;
  }
  struct Freeing {
    void operator()(Slot* slots) const noexcept { std::free(slots); }
  };

  std::unique_ptr<Slot[], Freeing> slots_;
  std::size_t capacity_ = 0, most_ = 0;
  std::uint32_t base_;
  bool text_;
};

}  // namespace riata
