// The hashed store of models with wide rows: the rows of HashedStore, but side by side in the order in which they were
// first written to, and a list that says where. Rows that nobody writes to take no memory, and those of common features,
// which are met first, lie close together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "riata/base/fetch_line.hpp"
#include "riata/base/zero_pages.hpp"
#include "riata/stores/hashed.hpp"
#include "riata/stores/narrow.hpp"

namespace riata {

class PackedHashedStore {
 public:
  static constexpr bool kDirect = true;
  static constexpr bool kDistinct = false;
  static constexpr bool kGroups = false;

  PackedHashedStore(int width, int bits) noexcept
      : width_(static_cast<std::uint64_t>(width)), size_(std::uint64_t{1} << bits), bits_(bits) {
    full_ = places_.grow(size_ * sizeof(std::uint32_t)) && runs_.grow(size_ / kRun + 1) &&
            rows_.grow_packed(width_ * sizeof(double));
  }

  static bool possible(std::uint64_t key) noexcept { return HashedStore::possible(key); }
  bool inside(std::uint64_t key) const noexcept { return full_ && possible(key); }
  bool has(std::uint64_t key) const noexcept { return inside(key) && places()[bucket(key)] != 0; }
  bool reserve(std::uint64_t key) noexcept { return inside(key) && add(bucket(key)); }
  // Row 0 stands for all that were never written to.
  double* at(std::uint64_t key) const noexcept { return row(places()[bucket(key)]); }
  const double* find(std::uint64_t key) const noexcept { return has(key) ? at(key) : nullptr; }
  void prefetch_place(std::uint64_t key) const noexcept {
    if (inside(key)) fetch_line(places() + bucket(key));
  }

  static constexpr bool tracks_writes() noexcept { return false; }
  static constexpr bool paged() noexcept { return true; }
  static void note_write(std::uint64_t) noexcept {}

  // Saved rows are known by their place.
  double* restore(std::uint64_t place, std::string_view) noexcept {
    return full_ && place < size_ && add(place) ? row(places()[place]) : nullptr;
  }
  template <class Visit>  // visit(place, row), ascending, for every row that may have been written to
  void for_each(Visit visit) const {
    if (!full_) return;
    for (std::uint64_t first = 0; first < size_; first += kRun) {
      if (runs_.as<std::uint8_t>()[first / kRun] == 0) continue;
      for (std::uint64_t place = first; place < std::min(first + kRun, size_); ++place)
        if (places()[place] != 0) visit(place, row(places()[place]));
    }
  }
  std::uint64_t bytes() const noexcept { return places_.bytes() + (used_ + 1) * width_ * sizeof(double); }

  // Of every row only the numbers that stand at these places, which ascend, in this order.
  void narrow(const std::vector<int>& kept) noexcept {
    narrow_rows<double>(rows_, used_ + 1, width_, kept);
    width_ = kept.size();
  }

 private:
  std::uint64_t bucket(std::uint64_t key) const noexcept { return hashed_place(key, bits_); }
  std::uint32_t* places() const noexcept { return places_.as<std::uint32_t>(); }
  double* row(std::uint64_t place) const noexcept { return rows_.as<double>() + place * width_; }
  // Other rows may move. False: memory is exhausted.
  bool add(std::uint64_t place) noexcept {
    if (places()[place] != 0) return true;
    if (used_ == UINT32_MAX || !rows_.grow_packed((used_ + 2) * width_ * sizeof(double))) return false;
    places()[place] = static_cast<std::uint32_t>(++used_);
    runs_.as<std::uint8_t>()[place / kRun] = 1;
    return true;
  }

  static constexpr std::uint64_t kRun = 1024;  // places: a page of memory

  ZeroPages places_, rows_;
  ZeroPages runs_;  // which stretches of places were written to: billions of them must not be walked through
  std::uint64_t width_, size_;
  std::uint64_t used_ = 0;  // rows, the empty one not counted
  int bits_;
  bool full_;
};

}  // namespace riata
