// Finding the rows of an example in a store, and fetching those of the next one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>

#include "riata/base/fetch_line.hpp"
#include "riata/block/block.hpp"
#include "riata/linear/model.hpp"
#include "riata/portfolio/kernels.hpp"

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
    if (store.paged())  // first all rows, as they may move
      for (std::int64_t k = begin; k < end; ++k) {
        const auto key = static_cast<std::uint64_t>(b.indices[k]);
        if (!store.has(key) && !store.reserve(key)) return Status::out_of_memory;
      }
    for (std::int64_t k = begin; k < end; ++k) *rows++ = store.at(static_cast<std::uint64_t>(b.indices[k]));
    if (store.tracks_writes())
      for (std::int64_t k = begin; k < end; ++k) store.note_write(static_cast<std::uint64_t>(b.indices[k]));
  } else {
    if (const Status status = look_up_rows(store, width, b, begin, end, rows); status != Status::ok)
      return status;
  }
  if (end > begin && !b.named()) features = std::max(features, static_cast<std::int64_t>(largest) + 1);
  return Status::ok;
}

// The rows of an example that is only looked at, the intercept's first if there is one; `blank` where a feature has
// none. Nothing may be written to them.
template <class Store, class Index>
void look_at_rows(const Store& store, const double* intercept, const double* blank, const BlockView<Index>& b,
                  std::int64_t r, double** rows) noexcept {
  if (intercept != nullptr) *rows++ = const_cast<double*>(intercept);
  for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k) {
    const auto key = static_cast<std::uint64_t>(b.indices[k]);
    const double* row = store.possible(key) ? store.find(key) : nullptr;
    *rows++ = const_cast<double*>(row == nullptr ? blank : row);
  }
}

// The loop of scoring: look(e, r) scores row r of the block, and is false where memory is exhausted.
template <class Example, class Shape, class Index, class Look>
Outcome look_at_each(const Shape& shape, const BlockView<Index>& b, Look look) noexcept {
  using Status = Outcome::Status;
  try {
    Example e;
    e.shape(shape);
    for (std::int64_t r = 0; r < b.rows; ++r) {
      if (!b.holds(r)) return {Status::bad_block, r};
      if (!look(e, r)) return {Status::out_of_memory, r};
    }
  } catch (const std::bad_alloc&) {
    return {Status::out_of_memory, 0};
  }
  return {Status::ok, b.rows};
}

// The values of row r behind that of the intercept, if there is one, and where their views are to stand.
template <class Example, class Index>
Views lay_out_values(Example& e, const BlockView<Index>& b, std::int64_t r, bool intercept,
                     bool learn) noexcept {
  const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1], first = intercept ? 1 : 0;
  double* x = e.raw.data() + first;
  for (std::int64_t k = begin; k < end; ++k) *x++ = static_cast<double>(b.values[k]);
  std::fill(x, x + 8, 0.0);
  return {.rows = end - begin + first,
          .intercept_first = intercept,
          .learn = learn,
          .state = e.rows.data(),
          .raw = e.raw.data(),
          .rms = e.rms.data(),
          .unit = e.unit.data(),
          .unit_rms = e.unit_rms.data()};
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
      for (int j = 0; j < width; j += 8) fetch_line(row + j);
    }
  } else {
    if (!store.large()) return;
    for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k)
      store.prefetch(static_cast<std::uint64_t>(b.indices[k]));
  }
}

// While the i-th of n examples is learned: the rows of the next one, and of the one behind it what says where they are.
template <class Store, class Index>
void prefetch_next(const Store& store, int width, const BlockView<Index>& b, const std::int64_t* order,
                   std::int64_t i, std::int64_t n) noexcept {
  const auto row = [&](std::int64_t k) { return order == nullptr ? k : order[k]; };
  if (i + 1 < n) prefetch_rows(store, width, b, row(i + 1));
  if constexpr (requires { store.prefetch_place(std::uint64_t{}); }) {
    if (i + 2 >= n || !b.holds(row(i + 2))) return;
    for (std::int64_t k = b.indptr[row(i + 2)]; k < b.indptr[row(i + 2) + 1]; ++k)
      store.prefetch_place(static_cast<std::uint64_t>(b.indices[k]));
  }
}

}  // namespace riata
