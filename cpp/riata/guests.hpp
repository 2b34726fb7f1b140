// The rows of one example in a table: looked for before its step, let in or shown out after it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "riata/block.hpp"

namespace riata {

template <class Rule, int M>  // M columns, or 0: known only at run time
class Guests {
 public:
  explicit Guests(int columns) noexcept
      : m_(columns), width_(static_cast<std::size_t>(Rule::width(columns))) {}

  // Room for an example of `nnz` features, whose keys have these bits in all. False: memory is exhausted.
  template <class Store, class Index>
  bool admit(Store& store, const Index* keys, std::int64_t nnz, Index bits) noexcept {
    const auto n = static_cast<std::size_t>(nnz);
    if (n >= found_.size() && !make_room(2 * n + 1)) return false;
    if (!store.by_number() || store.inside(static_cast<std::uint64_t>(bits))) return true;
    for (std::size_t k = 0; k < n && store.by_number(); ++k)
      if (!store.admit(static_cast<std::uint64_t>(keys[k]))) return false;
    return true;
  }

  // Where the rows of example i are, of the n in this order. A feature without one gets a newborn row, which
  // may join or not.
  template <class Store, class Index>
  void find(Store& store, const Rule& rule, const BlockView<Index>& b, const std::int64_t* order,
            std::int64_t i, std::int64_t n) noexcept {
    const std::int64_t r = order == nullptr ? i : order[i];
    const Index* keys = b.indices + b.indptr[r];
    const auto size = static_cast<std::size_t>(b.indptr[r + 1] - b.indptr[r]);
    newborns_ = 0;
    if (store.by_number()) {  // all of them have been admitted
      for (std::size_t k = 0; k < size; ++k) found_[k] = store.number(static_cast<std::uint64_t>(keys[k]));
      return;
    }
    const bool fetched = i != 0 && fetched_ == i;
    const std::size_t others =
        fetched ? store.find_fetched(keys, size, places_.data(), found_.data(), newborn_.data())
                : store.find_likely(keys, size, found_.data(), newborn_.data());
    for (std::size_t other = 0; other < others; ++other) {
      const std::uint32_t k = newborn_[other];
      double* row = store.find_other(static_cast<std::uint64_t>(keys[k]));
      if (row == nullptr) {
        row = cradle_.data() + k * width_;
        rule.fresh(row, m());
        newborn_[newborns_++] = k;
      }
      found_[k] = row;
    }
    fetched_ = 0;
    if (!store.large()) return;
    ahead(b, order, i + 1, n, [&](const Index* later, std::size_t count) {
      store.fetch_rows(later, count, places_.data());
      fetched_ = i + 1;
    });
  }
  double* const* rows() const noexcept { return found_.data(); }

  // After the step: newborn rows that are not zero join, in the place of dead ones if there are any near, and
  // a few rows are looked at in any case, so that features which never come back go too. False: memory is
  // exhausted.
  template <class Store, class Index>
  bool settle(Store& store, const Rule& rule, const BlockView<Index>& b, std::int64_t begin,
              std::int64_t end) noexcept {
    const auto needed = [&](const double* row) { return rule.needed(row, m()); };
    const auto nnz = static_cast<std::uint64_t>(end - begin);
    if (store.by_number()) {  // no memory is won, but whether the array pays is to be known
      store.sweep(1 + nnz / 64, needed);
      return true;
    }
    const Index* keys = b.indices + begin;
    const auto born = [&](std::uint32_t k, double* place) {
      if (place != nullptr) std::memcpy(place, cradle_.data() + k * width_, sizeof(double) * width_);
      return place != nullptr;
    };
    std::uint64_t least = 1 + nnz / 32, most = least + kLook * newborns_;
    std::size_t next = 0;
    while (most > 0 && (least > 0 || next < newborns_)) {
      const std::uint64_t look = std::min({most, std::max(least, Store::kBatch / 4), Store::kBatch});
      std::uint32_t dead[Store::kBatch];
      std::size_t count = store.find_dead(look, needed, dead), used = 0;
      for (; next < newborns_ && used < count; ++next) {
        const std::uint32_t k = newborn_[next];
        if (!needed(cradle_.data() + k * width_)) continue;
        if (!born(k, store.replace(dead[used++], static_cast<std::uint64_t>(keys[k]), b.name(begin + k))))
          return false;
      }
      if (used + 1 < count && used > 0) {  // more than are needed: the next births will want them
        store.look_again(dead[used + 1]);
        count = used + 1;
      }
      while (count > used) store.remove(dead[--count]);
      most -= look;
      least -= std::min(least, look);
    }
    for (; next < newborns_; ++next) {
      const std::uint32_t k = newborn_[next];
      if (!needed(cradle_.data() + k * width_)) continue;
      if (!born(k, store.insert(static_cast<std::uint64_t>(keys[k]), b.name(begin + k)))) return false;
    }
    return true;
  }

 private:
  // Rows looked at, at most, for one that is dead and whose place a birth can have.
  static constexpr std::uint64_t kLook = 8;

  int m() const noexcept { return M == 0 ? m_ : M; }

  bool make_room(std::size_t n) noexcept {
    if (n > std::size_t{UINT32_MAX}) return false;
    try {
      found_.resize(n + 1);
      places_.resize(n + 1);
      newborn_.resize(n + 1);
      cradle_.resize(n * width_);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  // work(keys, size) on an example that comes later, if there is one.
  template <class Index, class Work>
  void ahead(const BlockView<Index>& b, const std::int64_t* order, std::int64_t i, std::int64_t n,
             Work work) const noexcept {
    if (i >= n) return;
    const std::int64_t r = order == nullptr ? i : order[i];
    if (!b.holds(r)) return;
    const auto size = static_cast<std::size_t>(b.indptr[r + 1] - b.indptr[r]);
    if (size < places_.size()) work(b.indices + b.indptr[r], size);
  }

  int m_;
  std::size_t width_;
  std::vector<double*> found_;
  std::vector<std::uint32_t> places_;   // of the rows of the next example, as far as known
  std::int64_t fetched_ = 0;            // which example that is; 0: none
  std::vector<double> cradle_;          // a row for each that may be newborn
  std::vector<std::uint32_t> newborn_;  // which of them are
  std::size_t newborns_ = 0;
};

}  // namespace riata
