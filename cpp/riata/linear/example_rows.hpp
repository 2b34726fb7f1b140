// The rows of one example in a table: found before its step, inserted or erased after it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "riata/block/block.hpp"
#include "riata/linear/kernels.hpp"
#include "riata/stores/hash_table.hpp"
#include "riata/stores/store.hpp"

namespace riata {

template <class Rule, int M>  // M columns, or 0: known only at run time
class ExampleRows {
 public:
  // `more`: numbers behind those of the rule. Rows where the first of them is not zero stay, live or not.
  explicit ExampleRows(int columns, int more = 0) noexcept
      : m_(columns),
        kept_(more == 0 ? 0 : static_cast<std::size_t>(Rule::width(columns))),
        width_(static_cast<std::size_t>(Rule::width(columns) + more)) {}

  // Room for an example of `nnz` features, whose keys have these bits in all. False: memory is exhausted.
  template <KeyedStore Store, class Index>
  bool make_room(Store& store, const Index* keys, std::int64_t nnz, Index bits) noexcept {
    const auto n = static_cast<std::size_t>(nnz);
    if (n >= found_.size() && !resize(2 * n + 1)) return false;
    if (!store.by_number() || store.inside(static_cast<std::uint64_t>(bits))) return true;
    for (std::size_t k = 0; k < n && store.by_number(); ++k)
      if (!store.admit(static_cast<std::uint64_t>(keys[k]))) return false;
    return true;
  }

  // Where the rows of example i are, of the n in this order. A feature without one gets a new row,
  // which is inserted after the step if it is live.
  template <KeyedStore Store, class Index>
  void find(Store& store, const Rule& rule, const BlockView<Index>& b, const std::int64_t* order,
            std::int64_t i, std::int64_t n) noexcept {
    const std::int64_t r = order == nullptr ? i : order[i];
    const Index* keys = b.indices + b.indptr[r];
    const auto size = static_cast<std::size_t>(b.indptr[r + 1] - b.indptr[r]);
    n_new_ = 0;
    misplaced_ = HashTable::kNone;
    if (store.by_number()) {  // all of them are there
      for (std::size_t k = 0; k < size; ++k) found_[k] = store.number(static_cast<std::uint64_t>(keys[k]));
      return;
    }
    const HashTable& buckets = store.buckets();
    if (i != 0 && guessed_ == i && guessed_in_ == buckets.row(0)) {
      std::swap(found_, next_);
    } else {
      buckets.guess(keys, size, found_.data());
    }
    std::uint32_t* const others = new_.data();
    const std::size_t count = buckets.check(keys, size, found_.data(), others);
    for (std::size_t other = 0; other < count; ++other) {
      const std::uint32_t k = others[other];
      const std::uint64_t at = buckets.find(static_cast<std::uint64_t>(keys[k]));
      if (at == HashTable::kNone) {
        found_[k] = new_rows_.data() + k * width_;
        rule.init(found_[k], m());
        std::fill(found_[k] + Rule::width(m()), found_[k] + width_, 0.0);
        new_[n_new_++] = k;
      } else {
        found_[k] = buckets.row(at);
        misplaced_ = at;
      }
    }
    guessed_ = 0;
    ahead(b, order, i + 1, n, [&](const Index* later, std::size_t entries) {
      buckets.guess(later, entries, next_.data());
      guessed_ = i + 1;
      guessed_in_ = buckets.row(0);
    });
  }
  double* const* rows() const noexcept { return found_.data(); }
  // visit(k, row) for every entry of it that has no row in the table.
  template <class Visit>
  void for_new(Visit visit) const {
    for (std::size_t i = 0; i < n_new_; ++i) visit(new_[i], found_[new_[i]]);
  }

  // After the step: new rows that are not zero are inserted, one that was guessed wrong is put right, and a few
  // rows are looked at, so that features which never come back are erased too. False: memory is exhausted.
  template <KeyedStore Store, class Index>
  bool keep_live(Store& store, const Rule& rule, const BlockView<Index>& b, std::int64_t begin,
                 std::int64_t end) noexcept {
    const IsLive is_live{rule, rule.decay(), kernels_, m(), kept_};
    const auto nnz = static_cast<std::uint64_t>(end - begin);
    if (store.by_number()) {  // no memory is won, but whether the array pays is to be known
      store.sweep(1 + nnz / 64, is_live);
      return true;
    }
    const Index* keys = b.indices + begin;
    if (misplaced_ != HashTable::kNone) store.promote(misplaced_);
    std::uint64_t above = 0;  // keys from here on are new to this example
    for (std::size_t i = 0; i < n_new_; ++i) {
      const std::uint32_t k = new_[i];
      const double* row = new_rows_.data() + k * width_;
      if (!is_live(row)) continue;
      const auto key = static_cast<std::uint64_t>(keys[k]);
      double* place =
          key >= above ? store.insert_new(key, b.name(begin + k)) : store.insert(key, b.name(begin + k));
      if (place == nullptr) return false;
      std::memcpy(place, row, sizeof(double) * width_);
      above = std::max(above, key + 1);
    }
    if (kept_ == 0) store.sweep(1 + nnz / 32 + kLook * n_new_, is_live);
    return true;
  }

 private:
  // Slots looked at for every row that was new.
  static constexpr std::uint64_t kLook = 8;

  int m() const noexcept { return M == 0 ? m_ : M; }

  // Whether a row is live, and which of the rows of a group are: a bit each.
  struct IsLive {
    const Rule& rule;
    Decay decay;
    const DecayKernels& kernels;
    int m;
    std::size_t kept;
    bool operator()(const double* row) const noexcept {
      return (kept != 0 && row[kept] != 0) || rule.is_live(row, M == 0 ? m : M);
    }
    std::uint32_t group(const double* first, std::uint64_t stride) const noexcept {
      if constexpr (M == 1 && Rule::kDecay != DecayKind::none)
        return kernels.live(decay, first, stride);
      else
        return live_one_by_one(*this, first, stride);
    }
  };

  bool resize(std::size_t n) noexcept {
    if (n > std::size_t{UINT32_MAX}) return false;
    try {
      found_.resize(n + 1);
      next_.resize(n + 1);
      new_.resize(n + 1);
      new_rows_.resize(n * width_);
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
    if (size < next_.size()) work(b.indices + b.indptr[r], size);
  }

  const DecayKernels& kernels_ = best_linear_kernels().of(Rule::kDecay);
  int m_;
  std::size_t kept_, width_;
  std::vector<double*> found_, next_;   // next_: where the rows of the next example most likely lie
  std::int64_t guessed_ = 0;            // which example that is; 0: none
  const double* guessed_in_ = nullptr;  // the first row of all when it was guessed
  std::vector<double> new_rows_;        // a row for each that may be new
  std::vector<std::uint32_t> new_;      // which of them are
  std::size_t n_new_ = 0;
  std::uint64_t misplaced_ = 0;  // the slot of one that was not where it was guessed to be
};

}  // namespace riata
