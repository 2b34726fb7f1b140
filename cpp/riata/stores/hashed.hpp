// The hashed store: 2^bits rows and no more. Features that fall on one row share it.
#pragma once

#include <cstdint>

#include "riata/base/hash.hpp"
#include "riata/stores/dense.hpp"

namespace riata {

// The row of a key, also of one that is not possible and that somebody looks ahead to.
inline std::uint64_t hashed_place(std::uint64_t key, int bits) noexcept {
  return scatter(key & kKeyMask) >> (63 - bits);
}

class HashedStore : private DenseStore {
 public:
  static constexpr bool kDirect = true;
  static constexpr bool kDistinct = false;
  static constexpr bool kGroups = true;

  HashedStore(int width, int bits) noexcept : DenseStore(width, bits), bits_(bits) {
    full_ = DenseStore::reserve((std::uint64_t{1} << bits) - 1);
  }

  static bool possible(std::uint64_t key) noexcept { return key < kKeyMask; }  // features are counted, too
  bool inside(std::uint64_t key) const noexcept { return full_ && possible(key); }
  bool has(std::uint64_t key) const noexcept { return inside(key); }
  bool reserve(std::uint64_t) const noexcept { return full_; }
  double* at(std::uint64_t key) const noexcept { return DenseStore::at(bucket(key)); }
  const double* find(std::uint64_t key) const noexcept { return inside(key) ? at(key) : nullptr; }

  using DenseStore::tracks_writes, DenseStore::paged;
  void note_write(std::uint64_t key) noexcept { DenseStore::note_write(bucket(key)); }

  // Saved rows are known by their place.
  const double* place(std::uint64_t place) const noexcept { return DenseStore::find(place); }
  double* restore(std::uint64_t place, std::string_view name) noexcept {
    return DenseStore::inside(place) ? DenseStore::restore(place, name) : nullptr;
  }
  using DenseStore::bytes;
  using DenseStore::for_each;

 private:
  std::uint64_t bucket(std::uint64_t key) const noexcept { return hashed_place(key, bits_); }

  int bits_;
  bool full_;
};

}  // namespace riata
