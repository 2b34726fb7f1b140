// Where the row of a key lies: a hash table from scattered keys to places, in 64 parts that grow one at a
// time, at loads spread from part to part, so that no growth is a long pause.
//
// An entry has 32 bits, so that sixteen of them share a cache line: the place, in as many bits as places need
// by now, and a print of the key in the others. Whether a key is right to the last bit is for the row to say,
// which is wanted anyway.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "riata/hash.hpp"

namespace riata {

class Directory {
 public:
  using Place = std::uint32_t;
  // Entries and places without a row. A table holds rows from kFirst on, and nothing at these two.
  static constexpr Place kEmpty = 0, kErased = 1, kFirst = 2;

  Directory() = default;
  Directory(Directory&& other) noexcept { *this = std::move(other); }
  Directory& operator=(Directory&& other) noexcept {
    std::swap(homes_, other.homes_);
    std::swap(fillings_, other.fillings_);
    return *this;
  }
  ~Directory() {
    for (int p = 0; is_open() && p < kParts; ++p)
      if (homes_[p].count != 0) std::free(homes_[p].entries);
  }

  bool open() noexcept {  // false: memory is exhausted
    homes_.reset(new (std::nothrow) Home[kParts]);
    fillings_.reset(new (std::nothrow) Filling[kParts]);
    if (fillings_ == nullptr) homes_.reset();
    return is_open();
  }
  bool is_open() const noexcept { return homes_ != nullptr; }

  // Entries of a part, and where in them a key belongs. By the high bits of the scattered key.
  struct alignas(32) Home {
    Place* entries = const_cast<Place*>(&kNothing);  // never written to: such a part is full
    std::uint64_t count = 0;
    std::uint64_t mask = 0;  // the bits of a place

    Place* of(std::uint64_t scattered) const noexcept {
      return entries +
             static_cast<std::uint64_t>((static_cast<unsigned __int128>(scattered << 7) * count) >> 64);
    }
    Place* after(Place* at) const noexcept { return at + 1 == entries + count ? entries : at + 1; }
    Place* before(Place* at) const noexcept { return at == entries ? entries + count - 1 : at - 1; }
    Place print(std::uint64_t scattered) const noexcept {
      return static_cast<Place>((scattered ^ (scattered >> 29)) & ~mask);
    }
  };
  const Home* homes() const noexcept { return homes_.get(); }
  // The place of a key, if it is anywhere and all is as usual. No branch: keys cannot be predicted.
  static std::uint64_t guess(const Home* homes, std::uint64_t scattered) noexcept {
    const Home& part = homes[scattered >> kShift];
    return *part.of(scattered) & part.mask;
  }
  std::uint64_t guess(std::uint64_t scattered) const noexcept { return guess(homes_.get(), scattered); }
  void prefetch(std::uint64_t scattered) const noexcept {
    __builtin_prefetch(homes_[scattered >> kShift].of(scattered));
  }

  // The place for which `same` holds, or kEmpty.
  template <class Same>
  std::uint64_t find(std::uint64_t scattered, Same same) const noexcept {
    const Home& part = homes_[scattered >> kShift];
    return *look(part, scattered, same) & part.mask;
  }
  // The same, and from now on it is found at once: those that are asked for often come to lie where they are
  // looked for first. Whoever was there takes the other's entry, on the way of both.
  template <class Same>
  std::uint64_t find_and_promote(std::uint64_t scattered, Same same) noexcept {
    const Home& part = homes_[scattered >> kShift];
    Place* const at = look(part, scattered, same);
    const Place found = *at & static_cast<Place>(part.mask);
    if (found != kEmpty) std::swap(*part.of(scattered), *at);
    return found;
  }

  // The place for which `same` holds, or else `place`, which is put there. Where room has been reserved.
  template <class Same>
  std::uint64_t insert(std::uint64_t scattered, std::uint64_t place, Same same) noexcept {
    const Home& part = homes_[scattered >> kShift];
    const Place print = part.print(scattered);
    Place* free = nullptr;
    Place* at = part.of(scattered);
    for (; *at != kEmpty; at = part.after(at)) {
      if (*at == kErased) {
        if (free == nullptr) free = at;
      } else if (((*at ^ print) & ~part.mask) == 0 && same(*at & part.mask)) {
        return *at & part.mask;
      }
    }
    Filling& filling = fillings_[scattered >> kShift];
    filling.used += free == nullptr;
    ++filling.size;
    *(free == nullptr ? at : free) = static_cast<Place>(place) | print;
    return place;
  }

  // Of a key that is there. A search stops at an empty entry, so only the last of a row of entries may
  // become one, and the erased ones before it.
  void erase(std::uint64_t scattered, std::uint64_t place) noexcept {
    const Home& part = homes_[scattered >> kShift];
    Filling& filling = fillings_[scattered >> kShift];
    const Place entry = static_cast<Place>(place) | part.print(scattered);
    Place* at = part.of(scattered);
    while (*at != entry) at = part.after(at);
    *at = kErased;
    --filling.size;
    if (*part.after(at) != kEmpty) return;
    for (; *at == kErased; at = part.before(at)) {
      *at = kEmpty;
      --filling.used;
    }
  }

  // A key that is there gets another place, one that fits the bits of places.
  void move(std::uint64_t scattered, std::uint64_t from, std::uint64_t to) noexcept {
    const Home& part = homes_[scattered >> kShift];
    const Place print = part.print(scattered), entry = static_cast<Place>(from) | print;
    Place* at = part.of(scattered);
    while (*at != entry) at = part.after(at);
    *at = static_cast<Place>(to) | print;
  }

  // Room for one more key, at this place. `key(place)` is a scattered key, `fetch(place)` says that it will
  // soon be asked for. False: memory is exhausted, and nothing has changed.
  template <class Key, class Fetch>
  bool reserve(std::uint64_t scattered, std::uint64_t place, Key key, Fetch fetch) noexcept {
    const std::uint64_t p = scattered >> kShift;
    return (fillings_[p].used < fillings_[p].most && place <= homes_[p].mask) ||
           rebuild(p, place, key, fetch);
  }
  // Memory that parts have for keys which are gone, as far as there is some to move them.
  template <class Key>
  void shrink(Key key) noexcept {
    for (std::uint64_t p = 0; p < kParts; ++p)
      if (fillings_[p].size * 5 < homes_[p].count) rebuild(p, 0, key, [](std::uint64_t) {});
  }
  std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (int p = 0; is_open() && p < kParts; ++p) sum += homes_[p].count * sizeof(Place);
    return sum;
  }

 private:
  struct Filling {
    std::uint64_t used = 0, size = 0, most = 0;  // entries that are not empty; that are keys; may be used
  };

  // The entry for which `same` holds, or the empty one that ends the search.
  template <class Same>
  static Place* look(const Home& part, std::uint64_t scattered, Same same) noexcept {
    const Place print = part.print(scattered), bits = static_cast<Place>(~part.mask);
    Place* at = part.of(scattered);
    while (*at != kEmpty && (((*at ^ print) & bits) != 0 || *at == kErased || !same(*at & part.mask)))
      at = part.after(at);
    return at;
  }

  // Anew with room for more, at a load of 38 to 50 % by its number; it is full at 70 %. Places double before
  // they need one more bit.
  template <class Key, class Fetch>
  bool rebuild(std::uint64_t p, std::uint64_t place, Key key, Fetch fetch) noexcept {
    constexpr std::uint64_t kAhead = 16;
    const std::uint64_t count = (fillings_[p].size + 1) * 100 / (38 + p % 13) + 4;
    auto* const entries = static_cast<Place*>(std::calloc(count, sizeof(Place)));
    if (entries == nullptr) return false;
    const Home old = homes_[p];
    const std::uint64_t mask = std::bit_ceil(std::max<std::uint64_t>(2 * place, 64)) - 1;
    homes_[p] = {entries, count, std::max(mask, old.mask)};
    fillings_[p] = {0, 0, count * 7 / 10};
    for (std::uint64_t at = 0; at < old.count; ++at) {
      if (at + kAhead < old.count) fetch(old.entries[at + kAhead] & old.mask);
      if (old.entries[at] <= kErased) continue;
      const std::uint64_t there = old.entries[at] & old.mask;
      insert(key(there), there, [](std::uint64_t) { return false; });
    }
    if (old.count != 0) std::free(old.entries);
    return true;
  }

  static constexpr int kParts = 64, kShift = 57;  // scattered keys have 63 bits
  static constexpr Place kNothing = kEmpty;
  std::unique_ptr<Home[]> homes_;
  std::unique_ptr<Filling[]> fillings_;
};

}  // namespace riata
