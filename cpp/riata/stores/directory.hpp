// Where the row of a key lies: a place for each key, by number while all keys are small, by hash from then
// on.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "riata/hash.hpp"
#include "riata/stores/dense.hpp"

namespace riata {

// One of many open-addressed hash tables from scattered keys to places. An entry is 32 bits of the key beside
// the 32 of the place; whether the key is right to the last bit is for the row to say. Four entries are
// compared at once.
class Part {
 public:
  static constexpr std::uint32_t kEmpty = 0, kErased = 1;

  ~Part() { std::free(prints_); }
  Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  // The entry for which `same(place)` holds, or null.
  template <class Same>
  std::uint32_t* find(std::uint64_t scattered, Same same) const noexcept {
    if (prints_ == nullptr) return nullptr;
    using Four = std::uint32_t __attribute__((vector_size(16)));
    const std::uint32_t print = print_of(scattered);
    for (std::uint64_t at = home(scattered);; at += 4) {
      Four four;
      std::memcpy(&four, prints_ + at, sizeof four);
      for (unsigned hits = mask(four == print); hits != 0; hits &= hits - 1) {
        std::uint32_t* place = places_ + at + static_cast<unsigned>(__builtin_ctz(hits));
        if (same(*place)) return place;
      }
      if (mask(four == kEmpty) != 0) return nullptr;
    }
  }

  // Where the row most likely is, for fetching it ahead of time. Reads no row.
  std::uint32_t guess(std::uint64_t scattered, std::uint32_t none) const noexcept {
    if (prints_ == nullptr) return none;
    using Four = std::uint32_t __attribute__((vector_size(16)));
    const std::uint64_t at = home(scattered);
    Four four;
    std::memcpy(&four, prints_ + at, sizeof four);
    const unsigned hits = mask(four == print_of(scattered));
    return hits == 0 ? none : places_[at + static_cast<unsigned>(__builtin_ctz(hits))];
  }

  bool full() const noexcept { return used_ >= most_; }
  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t bytes() const noexcept { return prints_ == nullptr ? 0 : 8 * (capacity_ + kTail); }

  // For a key that is not there, in a part that is not full.
  void insert(std::uint64_t scattered, std::uint32_t place) noexcept {
    std::uint64_t at = home(scattered);
    while (prints_[at] != kEmpty) ++at;
    prints_[at] = print_of(scattered);
    places_[at] = place;
    ++used_;
    ++size_;
  }
  void erase(std::uint32_t* entry) noexcept {
    prints_[entry - places_] = kErased;
    --size_;
  }

  // Anew with room for more, at a load of 55 to 67 % by its number; it is full at 80 %. `key(place)` is a
  // scattered key.
  template <class Key>
  bool rebuild(std::uint64_t number, Key key) noexcept {
    Part fresh;
    fresh.capacity_ = (size_ + 1) * 100 / (55 + number % 13) + 8;
    for (;; fresh.capacity_ += fresh.capacity_ / 8) {
      fresh.most_ = fresh.capacity_ * 4 / 5;
      fresh.used_ = fresh.size_ = 0;
      fresh.prints_ =
          static_cast<std::uint32_t*>(std::calloc(2 * (fresh.capacity_ + kTail), sizeof(std::uint32_t)));
      if (fresh.prints_ == nullptr) return false;
      fresh.places_ = fresh.prints_ + fresh.capacity_ + kTail;
      bool fits = true;
      for (std::uint64_t at = 0; prints_ != nullptr && at < capacity_ + kTail && fits; ++at) {
        if (prints_[at] <= kErased) continue;
        fresh.insert(key(places_[at]), places_[at]);
        fits = fresh.has_end();
      }
      if (fits) break;
      std::free(fresh.prints_);
    }
    std::free(prints_);
    prints_ = fresh.prints_;
    places_ = fresh.places_;
    capacity_ = fresh.capacity_;
    used_ = fresh.used_;
    most_ = fresh.most_;
    fresh.prints_ = nullptr;
    return true;
  }

  // A run must not reach the end: a search stops at an empty entry.
  bool has_end() const noexcept { return prints_[capacity_ + kTail - 8] == kEmpty; }
  void prefetch(std::uint64_t scattered) const noexcept {
    if (prints_ == nullptr) return;
    const std::uint64_t at = home(scattered);
    __builtin_prefetch(prints_ + at);
    __builtin_prefetch(places_ + at);
  }

 private:
  static constexpr std::uint64_t kTail = 128;  // entries behind the last home

  template <class Mask>
  static unsigned mask(Mask four) noexcept {  // a bit for each of the four that is true
#ifdef __SSE2__
    return static_cast<unsigned>(_mm_movemask_ps(reinterpret_cast<__m128>(four)));
#else
    const auto bits = (four & Mask{1, 2, 4, 8});
    return static_cast<unsigned>((bits[0] | bits[1]) | (bits[2] | bits[3]));
#endif
  }
  // Home by the high bits of the key, print by low ones.
  static std::uint32_t print_of(std::uint64_t scattered) noexcept {
    const auto print = static_cast<std::uint32_t>(scattered ^ (scattered >> 29));
    return print <= kErased ? print + 2 : print;
  }
  std::uint64_t home(std::uint64_t scattered) const noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(scattered << 7) * capacity_) >> 64);
  }

  std::uint32_t* prints_ = nullptr;  // the places follow in the same piece of memory
  std::uint32_t* places_ = nullptr;
  std::uint64_t capacity_ = 0, used_ = 0, size_ = 0, most_ = 0;
};

}  // namespace riata
