// Finding the rows of an example in a store, and fetching those of the next one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "riata/block/block.hpp"
#include "riata/linear/model.hpp"

namespace riata {

// The same in a table, where rows must be looked for.
template <class Store, class Index>
Outcome::Status look_up_rows(Store& store, int width, const BlockView<Index>& b, std::int64_t begin,
                             std::int64_t end, double** rows) noexcept {
  std::uint64_t moves;
  // An insertion may move other rows, and a table that leaves its array form drops the rows that are still
  // blank, those of this example included: look again until an entire round has moved nothing.
  do {
    moves = store.moves();
    for (std::int64_t k = begin; k < end; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      double*& row = rows[k - begin];
      row = store.find(key);
      if (row != nullptr) continue;
      row = store.insert(key, b.name(k));
      if (row == nullptr) return Outcome::Status::out_of_memory;
      std::fill(row, row + width, 0.0);
    }
  } while (store.moves() != moves);
  return Outcome::Status::ok;
}

// The rows of an example, those that are missing put there; `features` becomes one more than the largest number.
template <class Store, class Index>
Outcome::Status find_rows(Store& store, int width, const BlockView<Index>& b, std::int64_t begin,
                          std::int64_t end, double** rows, std::int64_t& features) noexcept {
  using Status = Outcome::Status;
  std::uint64_t largest = 0;
  for (std::int64_t k = begin; k < end; ++k)
    largest = std::max(largest, static_cast<std::uint64_t>(b.indices[k]));
  if (end > begin && !store.possible(largest)) return Status::bad_index;
  if constexpr (Store::kDirect) {
    if (end > begin && !store.inside(largest) && !store.reserve(largest)) return Status::out_of_memory;
    for (std::int64_t k = begin; k < end; ++k) *rows++ = store.at(static_cast<std::uint64_t>(b.indices[k]));
    if (store.marks())
      for (std::int64_t k = begin; k < end; ++k) store.mark(static_cast<std::uint64_t>(b.indices[k]));
  } else {
    if (const Status status = look_up_rows(store, width, b, begin, end, rows); status != Status::ok)
      return status;
  }
  if (end > begin && !b.named()) features = std::max(features, static_cast<std::int64_t>(largest) + 1);
  return Status::ok;
}

// What row r of the Block will look at.
template <class Store, class Index>
void prefetch_rows(const Store& store, [[maybe_unused]] int width, const BlockView<Index>& b,
                   std::int64_t r) noexcept {
  constexpr std::uint64_t kFetched = std::uint64_t{1} << 23;  // larger stores are not in caches near by
  if (!b.holds(r)) return;
  if constexpr (Store::kDirect) {
    if (store.bytes() <= kFetched) return;
    for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      if (!store.inside(key)) continue;
      const double* row = store.at(key);
      for (int j = 0; j < width; j += 8) __builtin_prefetch(row + j);
    }
  } else {
    if (!store.large()) return;
    for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k)
      store.prefetch(static_cast<std::uint64_t>(b.indices[k]));
  }
}

}  // namespace riata
