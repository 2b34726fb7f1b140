// The rows of one example in a table: looked for before its step, let in or shown out after it.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "riata/block.hpp"

namespace riata {

template <class Rule>
class Guests {
 public:
  explicit Guests(int width) noexcept : width_(static_cast<std::size_t>(width)) {}

  // Room for an example of so many features. False: memory is exhausted.
  bool make_room(std::int64_t nnz) noexcept {
    const auto n = static_cast<std::size_t>(nnz);
    if (n <= found_.size()) return true;
    try {
      found_.resize(2 * n);
      changing_.reserve(2 * n);
      dead_.reserve(2 * n);
      newborn_.resize(2 * n * width_);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  // Where the example's rows are. A feature without one gets a newborn row, which may join or not.
  template <class Store, class Index>
  void find(const Store& store, const Rule& rule, int m, const BlockView<Index>& b, std::int64_t begin,
            std::int64_t end) noexcept {
    changing_.clear();
    double* newborn = newborn_.data();
    for (std::int64_t k = begin; k < end; ++k, newborn += width_) {
      double* row = store.find(static_cast<std::uint64_t>(b.indices[k]));
      if (row == nullptr) {
        rule.fresh(newborn, m);
        row = newborn;
        changing_.push_back(k);
      }
      found_[static_cast<std::size_t>(k - begin)] = row;
    }
  }
  double* const* rows() const noexcept { return found_.data(); }

  // After the step: rows that are zero leave, newborn ones that are not join, and a few others are looked at,
  // so that features which never come back go too. `zero`: a weight was zero before the step. False: memory
  // is exhausted.
  template <class Store, class Index>
  bool settle(Store& store, const Rule& rule, int m, const BlockView<Index>& b, std::int64_t begin,
              std::int64_t end, bool zero) noexcept {
    const auto needed = [&](const double* row) { return rule.needed(row, m); };
    for (std::int64_t k = begin; zero && k < end; ++k) {
      if (!needed(found_[static_cast<std::size_t>(k - begin)])) dead_.push_back(k);
    }
    for (const std::int64_t k : dead_) store.erase(static_cast<std::uint64_t>(b.indices[k]));
    dead_.clear();
    for (const std::int64_t k : changing_) {
      const double* newborn = newborn_.data() + static_cast<std::size_t>(k - begin) * width_;
      if (!needed(newborn)) continue;
      double* place = store.insert(static_cast<std::uint64_t>(b.indices[k]), b.name(k), needed);
      if (place == nullptr) return false;
      std::memcpy(place, newborn, sizeof(double) * width_);
    }
    store.sweep(2 + static_cast<std::uint64_t>(end - begin) / 16, needed);
    return true;
  }

 private:
  std::size_t width_;
  std::vector<double*> found_;
  std::vector<double> newborn_;         // room for those that are not there yet
  std::vector<std::int64_t> changing_;  // which of them are newborn
  std::vector<std::int64_t> dead_;      // which of them have become zero
};

// In a large table: the entries of the example after next, the rows of the next.
template <class Store, class Index>
void look_ahead(const Store& store, const BlockView<Index>& b, const std::int64_t* order, std::int64_t i,
                std::int64_t n) noexcept {
  const auto each = [&](std::int64_t ahead, auto fetch) {
    if (ahead >= n) return;
    const std::int64_t r = order == nullptr ? ahead : order[ahead];
    if (!b.holds(r)) return;
    for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k)
      fetch(static_cast<std::uint64_t>(b.indices[k]));
  };
  each(i + 2, [&](std::uint64_t key) { store.prefetch_entry(key); });
  each(i + 1, [&](std::uint64_t key) { store.prefetch_row(key); });
}

}  // namespace riata
