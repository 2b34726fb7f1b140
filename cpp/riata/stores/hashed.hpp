// The hashed store: 2^bits rows and no more. Features that fall on one row share it.
#pragma once

#include <cstdint>

#include "riata/hash.hpp"
#include "riata/stores/dense.hpp"

namespace riata {

class HashedStore : public DenseStore {
 public:
  static constexpr bool kDistinct = false;

  HashedStore(int width, int bits) noexcept : DenseStore(width, bits), shift_(63 - bits) {
    full_ = DenseStore::reserve((std::uint64_t{1} << bits) - 1);
  }

  static bool possible(std::uint64_t key) noexcept { return key <= kKeyMask; }
  bool inside(std::uint64_t key) const noexcept { return full_ && possible(key); }
  bool reserve(std::uint64_t) noexcept { return full_; }
  const double* find(std::uint64_t key) const noexcept { return inside(key) ? at(bucket(key)) : nullptr; }
  double* touch(std::uint64_t key) noexcept { return DenseStore::touch(bucket(key)); }
  double* touched(std::uint64_t key) const noexcept { return DenseStore::touched(bucket(key)); }

  // Saved rows are known by their place.
  double* restore(std::uint64_t place, std::string_view) noexcept {
    return DenseStore::inside(place) ? DenseStore::touch(place) : nullptr;
  }

  std::uint64_t bucket(std::uint64_t key) const noexcept { return scatter(key) >> shift_; }

 private:
  int shift_;
  bool full_;
};

}  // namespace riata
