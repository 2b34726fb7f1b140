// Where the row of a key lies: a hash table from scattered keys to places, in 64 parts that grow one at a
// time, at loads spread from part to part, so that no growth is a long pause.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "riata/hash.hpp"

namespace riata {

// Eight entries in a cache line: 32 bits of each key, and its place. Whether a key is right to the last bit
// is for the row to say.
struct alignas(64) Bucket {
  static constexpr unsigned kEntries = 8;
  static constexpr std::uint32_t kEmpty = 0, kErased = 1;

  std::uint32_t prints[kEntries];
  std::uint32_t places[kEntries];

  unsigned with(std::uint32_t print) const noexcept {  // a bit for each entry that has it
    return four(prints, print) | four(prints + 4, print) << 4;
  }

 private:
  static unsigned four(const std::uint32_t* from, std::uint32_t print) noexcept {
    using Four = std::uint32_t __attribute__((vector_size(16)));
    Four prints;
    std::memcpy(&prints, from, sizeof prints);
    const auto equal = prints == print;
#ifdef __SSE2__
    return static_cast<unsigned>(_mm_movemask_ps(reinterpret_cast<__m128>(equal)));
#else
    const auto bits = equal & decltype(equal){1, 2, 4, 8};
    return static_cast<unsigned>((bits[0] | bits[1]) | (bits[2] | bits[3]));
#endif
  }
};

// One of the tables. A key is in its home bucket or, where that is full, in the first after it that is not.
class Part {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  ~Part() {
    if (count_ != 0) std::free(buckets_);
  }
  Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  // The place for which `same` holds, or kNone.
  template <class Same>
  std::uint32_t find(std::uint64_t scattered, Same same) const noexcept {
    const std::uint32_t print = print_of(scattered);
    for (const Bucket* b = home(scattered);; b = after(b)) {
      for (unsigned hits = b->with(print); hits != 0; hits &= hits - 1) {
        const std::uint32_t place = b->places[__builtin_ctz(hits)];
        if (same(place)) return place;
      }
      if (b->with(Bucket::kEmpty) != 0) return kNone;
    }
  }
  // Where the row is, if it is anywhere and all is as usual. No branch: keys cannot be predicted.
  std::uint32_t guess(std::uint64_t scattered) const noexcept {
    const Bucket* b = home(scattered);
    const unsigned hits = b->with(print_of(scattered));
    return b->places[__builtin_ctz(hits | 1u << (Bucket::kEntries - 1))];
  }
  void prefetch(std::uint64_t scattered) const noexcept { __builtin_prefetch(home(scattered)); }

  // The place for which `same` holds, or else `place`, which is put there. In a part that is not full.
  template <class Same>
  std::uint32_t insert(std::uint64_t scattered, std::uint32_t place, Same same) noexcept {
    const std::uint32_t print = print_of(scattered);
    Bucket* free = nullptr;
    for (Bucket* b = home(scattered);; b = after(b)) {
      for (unsigned hits = b->with(print); hits != 0; hits &= hits - 1) {
        const std::uint32_t other = b->places[__builtin_ctz(hits)];
        if (same(other)) return other;
      }
      const unsigned empty = b->with(Bucket::kEmpty);
      if (free == nullptr && (empty != 0 || b->with(Bucket::kErased) != 0)) free = b;
      if (empty != 0) break;
    }
    const unsigned empty = free->with(Bucket::kEmpty);
    const int entry = __builtin_ctz(empty != 0 ? empty : free->with(Bucket::kErased));
    used_ += empty != 0;
    ++size_;
    free->prints[entry] = print;
    free->places[entry] = place;
    return place;
  }

  // Of a key that is there. A search stops at an empty entry, so the bucket must not get its first one.
  void erase(std::uint64_t scattered, std::uint32_t place) noexcept {
    const std::uint32_t print = print_of(scattered);
    for (Bucket* b = home(scattered);; b = after(b)) {
      for (unsigned hits = b->with(print); hits != 0; hits &= hits - 1) {
        const int entry = __builtin_ctz(hits);
        if (b->places[entry] != place) continue;
        const bool open = b->with(Bucket::kEmpty) != 0;
        b->prints[entry] = open ? Bucket::kEmpty : Bucket::kErased;
        used_ -= open;
        --size_;
        return;
      }
    }
  }

  bool full() const noexcept { return used_ >= most_; }
  std::uint64_t bytes() const noexcept { return count_ * sizeof(Bucket); }

  // Anew with room for more, at a load of 58 to 70 % by its number; it is full at 85 %. `key(place)` is a
  // scattered key. False: memory is exhausted, and nothing has changed.
  template <class Key>
  bool rebuild(std::uint64_t number, Key key) noexcept {
    Part fresh;
    const std::uint64_t count =
        ((size_ + 1) * 100 / (58 + number % 13) + Bucket::kEntries) / Bucket::kEntries;
    void* memory = std::aligned_alloc(sizeof(Bucket), count * sizeof(Bucket));
    if (memory == nullptr) return false;
    std::memset(memory, 0, count * sizeof(Bucket));
    fresh.buckets_ = static_cast<Bucket*>(memory);
    fresh.count_ = count;
    fresh.most_ = count * Bucket::kEntries * 17 / 20;
    for (std::uint64_t at = 0; at < count_; ++at) {
      for (unsigned entry = 0; entry < Bucket::kEntries; ++entry) {
        if (buckets_[at].prints[entry] <= Bucket::kErased) continue;
        const std::uint32_t place = buckets_[at].places[entry];
        fresh.insert(key(place), place, [](std::uint32_t) { return false; });
      }
    }
    std::swap(buckets_, fresh.buckets_);
    std::swap(count_, fresh.count_);
    used_ = fresh.used_;
    most_ = fresh.most_;
    return true;
  }

 private:
  // Home by the high bits of the key, print by low ones.
  static std::uint32_t print_of(std::uint64_t scattered) noexcept {
    return static_cast<std::uint32_t>(scattered ^ (scattered >> 29)) | 2;  // neither empty nor erased
  }
  Bucket* home(std::uint64_t scattered) const noexcept {
    return buckets_ +
           static_cast<std::uint64_t>((static_cast<unsigned __int128>(scattered << 7) * count_) >> 64);
  }
  template <class B>
  B* after(B* b) const noexcept {
    return b + 1 == buckets_ + count_ ? buckets_ : b + 1;
  }

  static constexpr Bucket kNoEntries = {};
  Bucket* buckets_ = const_cast<Bucket*>(&kNoEntries);  // never written to: such a part is full
  std::uint64_t count_ = 0;                             // of buckets
  std::uint64_t used_ = 0, size_ = 0, most_ = 0;  // entries that are not empty; that are keys; may be used
};

class Directory {
 public:
  static constexpr std::uint32_t kNone = Part::kNone;

  bool open() noexcept {  // false: memory is exhausted
    parts_.reset(new (std::nothrow) Part[kParts]);
    return is_open();
  }
  bool is_open() const noexcept { return parts_ != nullptr; }

  const Part* parts() const noexcept { return parts_.get(); }
  static std::uint64_t number_of(std::uint64_t scattered) noexcept { return scattered >> kShift; }
  const Part& part(std::uint64_t scattered) const noexcept { return parts_[scattered >> kShift]; }
  Part& part(std::uint64_t scattered) noexcept { return parts_[scattered >> kShift]; }
  // Room for one more key. False: memory is exhausted.
  template <class Key>
  bool reserve(std::uint64_t scattered, Key key) noexcept {
    Part& mine = part(scattered);
    return !mine.full() || mine.rebuild(scattered >> kShift, key);
  }
  std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (int p = 0; is_open() && p < kParts; ++p) sum += parts_[p].bytes();
    return sum;
  }

 private:
  static constexpr int kParts = 64, kShift = 57;  // scattered keys have 63 bits
  std::unique_ptr<Part[]> parts_;
};

}  // namespace riata
