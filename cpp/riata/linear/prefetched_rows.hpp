// The rows of one example in a store of fixed size, where a key says little about where its row is: found
// once for scoring and for the step, and fetched while the example before is learned.
#pragma once

#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "riata/block/block.hpp"

namespace riata {

class PrefetchedRows {
 public:
  explicit PrefetchedRows(int width) noexcept : last_(width > 2 ? width - 1 : 0) {}

  // Goes on to the i-th of the n examples to be learned. False: memory is exhausted.
  template <class Store, class Index>
  bool advance(const Store& store, const BlockView<Index>& b, const std::int64_t* order, std::int64_t i,
               std::int64_t n) noexcept {
    if (i == 0 && !look(store, b, order == nullptr ? 0 : order[0])) return false;
    std::swap(now_, next_);
    return i + 1 == n || look(store, b, order == nullptr ? i + 1 : order[i + 1]);
  }

  // Of the example gone on to, in its order; two features may share one.
  double* const* rows() const noexcept { return now_.data(); }

 private:
  template <class Store, class Index>
  bool look(const Store& store, const BlockView<Index>& b, std::int64_t row) noexcept {
    if (!b.holds(row)) return true;  // it will be refused when its turn comes
    const std::int64_t begin = b.indptr[row], count = b.indptr[row + 1] - begin;
    if (static_cast<std::size_t>(count) > next_.size()) {
      try {
        next_.resize(2 * static_cast<std::size_t>(count));
      } catch (const std::bad_alloc&) {
        return false;
      }
    }
    const Index* const keys = b.indices + begin;
    double** const rows = next_.data();
    for (std::int64_t k = 0; k < count; ++k) {
      rows[k] = store.at(static_cast<std::uint64_t>(keys[k]));
      __builtin_prefetch(rows[k]);
      if (last_ > 0) __builtin_prefetch(rows[k] + last_);
    }
    return true;
  }

  int last_;  // number of a row, where that may lie in another cache line than the first
  std::vector<double*> now_, next_;
};

}  // namespace riata
