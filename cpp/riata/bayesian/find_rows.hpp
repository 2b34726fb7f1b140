// Finding the rows of an example: in an array by their numbers, in a table by their keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <vector>

#include "riata/bayesian/stored.hpp"
#include "riata/bayesian/taylor.hpp"
#include "riata/bayesian/workspace.hpp"
#include "riata/stores/dense.hpp"

namespace riata {

template <class Store>
class BayesianRows : public StoredBayesian<Store> {
 public:
  BayesianRows(const BayesianSpec& spec, int columns)
      : StoredBayesian<Store>(spec, columns),
        v_(static_cast<int>(spec.views.size())),
        raw_(spec.views.size() == 1 && spec.views[0] == View::raw),
        named_(spec),
        workspace_(columns) {}

 protected:
  using Status = Outcome::Status;
  using Bayesian::features, Bayesian::intercept, Bayesian::width_;
  using Base = StoredBayesian<Store>;
  using Base::k_, Base::now, Base::shape_, Base::spec_, Base::store_;

  // A feature that was never seen takes the prior that its name asks for.
  void give_prior(double* row, std::string_view name, std::uint64_t key) const noexcept {
    if (!shape_.blank(row)) return;
    const double* variance = named_.find(name, key);
    if (variance == nullptr) return;
    const double* common = shape_.precision(false);
    for (int c = 0; c < k_; ++c) shape_.own_precision(row)[c] = 1 / *variance - common[c];
  }

  // The rows of an example, those that are missing put there, brought current.
  template <class Index>
  Status locate(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    const std::int64_t first = spec_.fit_intercept ? 1 : 0;
    if (!workspace_.make(first + end - begin, k_, v_, 0)) return Status::out_of_memory;
    double** rows = workspace_.rows.data() + first;
    double* x = workspace_.x.data();
    if (first > 0) {
      workspace_.rows[0] = intercept.data();
      for (int v = 0; v < v_; ++v) *x++ = 1;
    }
    if constexpr (kArray<Index>) {
      if (raw_ && placed(b, begin, end, const_cast<const double**>(rows))) [[likely]] {
        const std::uint32_t largest = kernels_.lay_out(end - begin, b.indices + begin, b.values + begin, x);
        if (end > begin) features = std::max(features, std::int64_t{largest} + 1);
        if (named_.any() || shape_.forgets()) refresh(b, begin, end);
        return Status::ok;
      }
    }
    if constexpr (Store::kDirect) {
      std::uint64_t any = 0, largest = 0;
      for (std::int64_t k = begin; k < end; ++k) {
        const auto key = static_cast<std::uint64_t>(b.indices[k]);
        any |= key;
        largest = std::max(largest, key);
      }
      if (!store_.inside(any)) [[unlikely]] {
        if (!store_.possible(largest)) return Status::bad_index;
        if (!store_.inside(largest) && !store_.reserve(largest)) return Status::out_of_memory;
      }
      for (std::int64_t k = begin; k < end; ++k)
        *rows++ = store_.at(static_cast<std::uint64_t>(b.indices[k]));
      if (store_.tracks_writes())
        for (std::int64_t k = begin; k < end; ++k)
          store_.note_write(static_cast<std::uint64_t>(b.indices[k]));
      if (b.names == nullptr && end > begin)
        features = std::max(features, static_cast<std::int64_t>(largest) + 1);
    } else {
      if (const Status status = look_up(b, begin, end, rows); status != Status::ok) return status;
    }
    if (raw_)
      for (std::int64_t k = begin; k < end; ++k) *x++ = static_cast<double>(b.values[k]);
    else
      for (std::int64_t k = begin; k < end; ++k) x = view(static_cast<double>(b.values[k]), x);
    if (named_.any() || shape_.forgets()) refresh(b, begin, end);
    return Status::ok;
  }

  // Whether rows lie at multiples of 32-bit numbers.
  template <class Index>
  static constexpr bool kArray = std::is_same_v<Store, DenseStore> && sizeof(Index) == 4;

  // Where the rows are, if all are there and no chunk must be marked.
  template <class Index>
  bool placed(const BlockView<Index>& b, std::int64_t begin, std::int64_t end,
              const double** rows) const noexcept {
    if (!store_.inside(0) || store_.tracks_writes() || b.names != nullptr) return false;
    const auto bytes = static_cast<std::uint64_t>(width_) * sizeof(double);
    const std::uint32_t any = kernels_.places(end - begin, b.indices + begin,
                                              reinterpret_cast<std::uintptr_t>(store_.at(0)), bytes, rows);
    return any <= kLargestIndex && store_.inside(any);
  }

  // The same in a table, where rows must be looked for.
  template <class Index>
  Status look_up(const BlockView<Index>& b, std::int64_t begin, std::int64_t end, double** rows) noexcept {
    const auto n = static_cast<std::size_t>(end - begin);
    const Index* const keys = b.indices + begin;
    std::uint64_t largest = 0, moves;
    for (std::size_t k = 0; k < n; ++k) largest = std::max(largest, static_cast<std::uint64_t>(keys[k]));
    if (!store_.possible(largest)) [[unlikely]]
      return Status::bad_index;
    std::uint32_t* const others = workspace_.others.data();
    // An insertion may move other rows, and a table that leaves its array form drops the rows that are still
    // blank, those of this example included: look again until an entire round has moved nothing.
    do {
      moves = store_.moves();
      const std::size_t count = find_most(keys, n, rows, others);
      for (std::size_t other = 0; other < count; ++other) {
        const std::uint32_t k = others[other];
        const auto key = static_cast<std::uint64_t>(keys[k]);
        rows[k] = store_.find(key);
        if (rows[k] != nullptr) continue;
        rows[k] = store_.insert(key, b.name(begin + k));
        if (rows[k] == nullptr) return Status::out_of_memory;
        std::fill(rows[k], rows[k] + width_, 0.0);
      }
    } while (store_.moves() != moves);
    if (shape_.forgets())
      for (std::size_t k = 0; k < n; ++k) shape_.catch_up(rows[k], shape_.precision(false), now());
    if (n > 0 && b.names == nullptr) features = std::max(features, static_cast<std::int64_t>(largest) + 1);
    return Status::ok;
  }

  // The rows of most keys at once, those of an example that was looked ahead to at the places guessed then. Returned is
  // how many are left, with their numbers in `others`.
  template <class Index>
  std::size_t find_most(const Index* keys, std::size_t n, double** rows, std::uint32_t* others) noexcept {
    if (store_.by_number()) {
      std::iota(others, others + n, 0u);
      return n;
    }
    const auto& buckets = store_.buckets();
    if (guessed_ == keys && guessed_in_ == buckets.row(0) && guessed_rows_ == n)
      std::copy_n(workspace_.guessed.data(), n, rows);
    else
      buckets.guess(keys, n, rows);
    guessed_ = nullptr;
    return buckets.check(keys, n, rows, others);
  }

  template <class Index>
  void refresh(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    double** rows = workspace_.rows.data() + (spec_.fit_intercept ? 1 : 0);
    if (shape_.forgets() && spec_.fit_intercept)
      shape_.catch_up(intercept.data(), shape_.precision(true), now());
    for (std::int64_t k = begin; k < end; ++k) {
      double* row = *rows++;
      if (named_.any()) give_prior(row, b.name(k), static_cast<std::uint64_t>(b.indices[k]));
      if (shape_.forgets()) shape_.catch_up(row, shape_.precision(false), now());
    }
  }

  double* view(double value, double* x) const noexcept {
    if (raw_) [[likely]] {
      *x = value;
      return x + 1;
    }
    for (const View how : spec_.views) *x++ = seen_as(how, value);
    return x;
  }

  // What the next example will look at.
  template <class Index>
  void prefetch(const BlockView<Index>& b, const std::int64_t* order, std::int64_t i,
                std::int64_t n) noexcept {
    [[maybe_unused]] const auto each = [&](std::int64_t which, auto visit) {
      if (which >= n) return;
      const std::int64_t r = order == nullptr ? which : order[which];
      if (!b.holds(r)) return;
      for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k)
        visit(static_cast<std::uint64_t>(b.indices[k]));
    };
    if constexpr (kArray<Index>) {
      workspace_.next_rows = 0;
      if (store_.bytes() <= kFetched || i + 1 >= n) return;
      const std::int64_t r = order == nullptr ? i + 1 : order[i + 1];
      if (!b.holds(r)) return;
      const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
      if (end - begin > static_cast<std::int64_t>(workspace_.next.size())) return;
      if (placed(b, begin, end, workspace_.next.data())) workspace_.next_rows = end - begin;
    } else if constexpr (Store::kDirect) {
      if (store_.bytes() <= kFetched) return;
      each(i + 1, [&](std::uint64_t key) {
        if (!store_.inside(key)) return;
        const double* row = store_.at(key);
        for (int j = 0; j < width_; j += 8) __builtin_prefetch(row + j);
      });
    } else if (store_.by_number()) {
      if (store_.large()) each(i + 1, [&](std::uint64_t key) { store_.prefetch(key); });
    } else {
      look_ahead(b, order, i + 1, n);
    }
  }

  // Where the rows of an example in a table most likely lie: they come from memory while the one before is learned.
  template <class Index>
  void look_ahead(const BlockView<Index>& b, const std::int64_t* order, std::int64_t i,
                  std::int64_t n) noexcept {
    guessed_ = nullptr;
    const std::int64_t r = i >= n ? -1 : order == nullptr ? i : order[i];
    if (r < 0 || !b.holds(r)) return;
    guessed_rows_ = static_cast<std::size_t>(b.indptr[r + 1] - b.indptr[r]);
    if (guessed_rows_ > workspace_.guessed.size()) return;
    const Index* const keys = b.indices + b.indptr[r];
    double** const rows = workspace_.guessed.data();
    store_.buckets().guess(keys, guessed_rows_, rows);
    for (std::size_t k = 0; k < guessed_rows_; ++k)
      for (int j = 8; j < width_ + 7; j += 8) __builtin_prefetch(rows[k] + std::min(j, width_ - 1));
    guessed_ = keys;
    guessed_in_ = store_.buckets().row(0);
  }

  static constexpr std::uint32_t kLargestIndex = std::numeric_limits<std::int32_t>::max();
  // Larger stores are not in the caches near by.
  static constexpr std::uint64_t kFetched = std::uint64_t{1} << 23;

  int v_;     // views
  bool raw_;  // the one view is of the values as they are
  NamedPriors named_;
  Workspace workspace_;
  const void* guessed_ = nullptr;       // tables: the keys of the example that was looked ahead to
  const double* guessed_in_ = nullptr;  // the first row of all then
  std::size_t guessed_rows_ = 0;
  const TaylorKernels& kernels_ = best_taylor_kernels();
};

}  // namespace riata
