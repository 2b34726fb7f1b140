// The loop behind a linear model: a rule over a store, m columns wide.
//
// One example costs its non-zeros, twice: once to score it, once to push the gradient. Only rules and stores
// are templates; the loss is called once an example and column, through a pointer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "riata/linear/example.hpp"
#include "riata/linear/example_rows.hpp"
#include "riata/linear/prefetched_rows.hpp"
#include "riata/linear/stored.hpp"
#include "riata/simd/wide.hpp"

namespace riata {

template <class Rule, class Store, int M>  // M columns, or 0: known only at run time
class LinearOf final : public StoredLinear<Rule, Store, M> {
  using Stored = StoredLinear<Rule, Store, M>;
  using Stored::intercept, Stored::features, Stored::t, Stored::rate_factor_;
  using Stored::m, Stored::m_, Stored::spec_, Stored::rule_, Stored::store_;

 public:
  explicit LinearOf(const LinearSpec& spec)
      : Stored(spec),
        gradient_(static_cast<std::size_t>(m_)),
        dot_(static_cast<std::size_t>(m_)),
        lanes_(4 * static_cast<std::size_t>(m_)),
        zeros_(static_cast<std::size_t>(Rule::width(spec.columns))),
        example_rows_(spec.columns) {}

  Outcome learn(const BlockView<std::int32_t>& b, const std::int64_t* order, std::int64_t n,
                double* scores) noexcept override {
    return learn_rows(b, order, n, scores);
  }
  Outcome learn(const BlockView<std::int64_t>& b, const std::int64_t* order, std::int64_t n,
                double* scores) noexcept override {
    return learn_rows(b, order, n, scores);
  }
  Outcome score(const BlockView<std::int32_t>& b, double* scores) const noexcept override {
    return score_rows(b, scores);
  }
  Outcome score(const BlockView<std::int64_t>& b, double* scores) const noexcept override {
    return score_rows(b, scores);
  }

 private:
  using Status = Outcome::Status;

  // Several features may have the same row, and a key does not tell where it is.
  static constexpr bool kShared = Store::kDirect && !Store::kDistinct;
  // One column of marked rows: several rows at a time.
  static constexpr bool kVectors = M == 1 && requires { Rule::kMarked; };
  // There, in an array whose size is a power of two: keys are held inside by a mask, and looked at on the
  // way.
  static constexpr bool kMasked = kVectors && Store::kDirect && !kShared;
  // What gather brought current is that still when it is pushed: no other feature has moved it meanwhile.
  static constexpr bool kKept = [] {
    if constexpr (kVectors && !kShared) return Rule::kStill;
    return false;
  }();

  // In pieces: a row takes one more look.
  bool paged() const noexcept {
    if constexpr (requires { store_.paged(); }) return store_.paged();
    return false;
  }

  // The row of entry k for scoring; a row that is not there is zero.
  template <bool kLearning, class Index>  // learning: every feature has been admitted
  const double* row_of(const BlockView<Index>& b, std::int64_t begin, std::int64_t k) const noexcept {
    if constexpr (kLearning) {
      return Own<Index>(*this, b, begin)[k - begin];
    } else {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      const double* row = store_.possible(key) ? store_.find(key) : nullptr;
      return row == nullptr ? zeros_.data() : row;
    }
  }

  // The weighted sum of an example's rows in every column, before scale(). In four partial sums, by place:
  // the same bits whichever way below computes it. `lanes` is room for them, where there are many columns.
  // True where learning has to look closer: in an array, a key lies outside, so the sum is of other rows.
  template <bool kLearning, class Index>
  bool gather(const BlockView<Index>& b, std::int64_t begin, std::int64_t end, double* lanes,
              double* dot) const noexcept {
    if constexpr (kVectors) {
      if constexpr (kMasked) {
        if (paged()) return gather_wide<kLearning, true>(b, begin, end, dot);
      }
      return gather_wide<kLearning, false>(b, begin, end, dot);
    }
    if constexpr (M == 1) {
      return gather_one<kLearning>(b, begin, end, dot);
    }
    const int n = m();
    std::fill(lanes, lanes + 4 * n, 0.0);
    for (std::int64_t k = begin; k < end; ++k) {
      const double* row = row_of<kLearning>(b, begin, k);
      double* lane = lanes + (k - begin) % 4 * n;
      for (int c = 0; c < n; ++c) lane[c] += rule_.current(row, n, c) * static_cast<double>(b.values[k]);
    }
    for (int c = 0; c < n; ++c) dot[c] = (lanes[c] + lanes[n + c]) + (lanes[2 * n + c] + lanes[3 * n + c]);
    return false;
  }

  // The same with a single column: the partial sums stay in registers.
  template <bool kLearning, class Index>
  bool gather_one(const BlockView<Index>& b, std::int64_t begin, std::int64_t end,
                  double* dot) const noexcept {
    double lanes[4] = {};
    const auto add = [&](std::int64_t k, double& lane) {
      lane += rule_.current(row_of<kLearning>(b, begin, k), 1, 0) * static_cast<double>(b.values[k]);
    };
    std::int64_t k = begin;
    for (; k + 4 <= end; k += 4) {
      add(k, lanes[0]);
      add(k + 1, lanes[1]);
      add(k + 2, lanes[2]);
      add(k + 3, lanes[3]);
    }
    for (int i = 0; k < end; ++k, ++i) add(k, lanes[i]);
    dot[0] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    return false;
  }

  template <bool kLearning, bool kPaged, class Index>
  bool gather_wide(const BlockView<Index>& b, std::int64_t begin, std::int64_t end,
                   double* dot) const noexcept {
    const Rule rule = rule_;
    const float* x = b.values + begin;
    double* current = current_.data();
    const std::int64_t n = end - begin;
    Index all = 0;
    bool absent = false;
    const Own<Index, kPaged> own(*this, b, begin);
    const auto row = [&](std::int64_t k) -> const double* {
      if constexpr (kLearning && kMasked) {
        all |= own.keys[k];
        const std::uint64_t at = own.inside(k);
        if constexpr (kPaged) absent |= at < Store::kPiece;
        return own.base + at * own.kWidth;
      } else if constexpr (kLearning) {
        return own[k];
      } else {
        return row_of<false>(b, begin, begin + k);
      }
    };
    const auto some = [&](std::int64_t k) {
      const auto [weights, marks] = load_rows([&](int i) { return row(k + i); });
      const Wide v = rule.at(weights, marks);
      if constexpr (kLearning && kKept) store_wide(current + k, v);
      return v * widen(x + k);
    };
    double lanes[4];
    Wide sums[4 / kWide] = {};
    std::int64_t k = 0;
    for (; k + 4 <= n; k += 4)
      for (int i = 0; i < 4 / kWide; ++i) sums[i] += some(k + i * kWide);
    std::memcpy(lanes, sums, sizeof lanes);
    for (; k < n; ++k) {
      const double* at = row(k);
      const double v = rule.at(at[0], at[1]);
      if constexpr (kLearning && kKept) current[k] = v;
      lanes[k % 4] += v * static_cast<double>(x[k]);
    }
    dot[0] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    if constexpr (kMasked) return absent || all < 0 || !store_.inside(static_cast<std::uint64_t>(all));
    return false;
  }

  // Makes sure that every feature of the example has a row, or could have one.
  template <class Index>
  Status admit(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    if (kKept && !at_least(current_, end - begin)) return Status::out_of_memory;
    if constexpr (kMasked) {
      if (store_.inside(0)) return Status::ok;  // gather will tell
    }
    return admit_each(b, begin, end);
  }
  template <class Index>
  Status admit_each(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    Index all = 0;
    for (std::int64_t k = begin; k < end; ++k) all |= b.indices[k];
    if (all < 0) return Status::bad_index;
    if constexpr (Store::kDirect) {
      if (!paged() && store_.inside(static_cast<std::uint64_t>(all))) [[likely]]
        return Status::ok;
      for (std::int64_t k = begin; k < end; ++k) {
        const auto key = static_cast<std::uint64_t>(b.indices[k]);
        if (!store_.possible(key)) return Status::bad_index;
        if (!store_.has(key) && !store_.reserve(key)) return Status::out_of_memory;
      }
    } else {
      if (!example_rows_.admit(store_, b.indices + begin, end - begin, all)) return Status::out_of_memory;
    }
    return Status::ok;
  }

  // The gradient to every row of the example.
  template <class Index>
  void push(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    if constexpr (Store::kDirect) {
      for (std::int64_t k = begin; store_.marks() && k < end; ++k)
        store_.mark(static_cast<std::uint64_t>(b.indices[k]));
    }
    if constexpr (kVectors) {
      if constexpr (kMasked) {
        if (paged()) return push_wide<true>(b, begin, end);
      }
      return push_wide<false>(b, begin, end);
    }
    const Rule& rule = rule_;
    const double* gradient = gradient_.data();
    const double g = gradient[0];
    const Own<Index> own(*this, b, begin);
    if constexpr (M == 1 && Store::kDistinct && requires { rule.push_many(own, b.values, end, g); }) {
      if (Store::kDirect && !paged()) {
        // While it computes, let the rows of the next example come from memory. Nobody has looked at their
        // keys yet.
        const std::int64_t next = std::min(2 * end - begin, b.nnz);
        for (std::int64_t k = end; k < next; ++k) {
          const auto key = static_cast<std::uint64_t>(b.indices[k]);
          if constexpr (Store::kDirect) {
            if (store_.inside(key)) __builtin_prefetch(store_.at(key));
          }
        }
      }
      rule.push_many(own, b.values + begin, end - begin, g);
      return;
    }
    for (std::int64_t k = begin; k < end; ++k)
      rule.push(own[k - begin], m(), M == 1 ? &g : gradient, static_cast<double>(b.values[k]));
  }

  template <bool kPaged, class Index>
  void push_wide(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    const Rule rule = rule_;
    const float* x = b.values + begin;
    const double* current = current_.data();
    const std::int64_t n = end - begin;
    const double g = gradient_[0];
    const Wide now = wide_of(rule.now());
    const Own<Index, kPaged> own(*this, b, begin);
    std::int64_t k = 0;
    for (; k + kWide <= n; k += kWide) {
      const auto row = [&](int i) { return own[k + i]; };
      if (kShared && !distinct(row)) [[unlikely]] {
        for (int i = 0; i < kWide; ++i) rule.push(row(i), 1, &g, static_cast<double>(x[k + i]));
        continue;
      }
      Wide v;
      if constexpr (kKept) {
        v = load_wide(current + k);
      } else {
        const auto [weights, marks] = load_rows(row);
        v = rule.at(weights, marks);
      }
      store_rows(row, {v - g * widen(x + k), now});
    }
    for (; k < n; ++k) rule.push(own[k], 1, &g, static_cast<double>(x[k]));
  }

  // The rows of one example, to be written to. Its own copy of what leads there: compilers must think that a
  // row may overlap anything reached through a pointer, and would load it again after each.
  template <class Index, bool kPaged = false>
  struct Own {
    static constexpr int kWidth = M == 1 ? Rule::width(1) : 0;
    const Index* keys;
    double* base = nullptr;
    std::uint64_t mask = 0;
    const std::uint32_t* places = nullptr;
    double* const* found;
    const Store& store;

    Own(const LinearOf& model, const BlockView<Index>& b, std::int64_t begin) noexcept
        : keys(b.indices + begin), found(model.example_rows_.rows()), store(model.store_) {
      if constexpr (kShared) found = model.prefetched_rows_.rows();
      if constexpr (kMasked) {
        base = store.base();
        mask = store.mask();
        places = store.places();
      }
    }
    std::uint64_t inside(std::int64_t k) const noexcept {  // which row, held inside
      const std::uint64_t key = static_cast<std::uint64_t>(keys[k]) & mask;
      if constexpr (kPaged) return Store::row_in(places, key);
      return key;
    }
    double* operator[](std::int64_t k) const noexcept {
      if constexpr (!Store::kDirect || kShared) {
        return found[k];
      } else if constexpr (kPaged) {
        return base + Store::row_in(places, static_cast<std::uint64_t>(keys[k])) * kWidth;
      } else if constexpr (kMasked) {
        return base + static_cast<std::uint64_t>(keys[k]) * kWidth;
      } else {
        return store.at(static_cast<std::uint64_t>(keys[k]));
      }
    }
  };

  // The loss's slope in every column. False: the model has diverged.
  bool slopes(double factor, double label, double weight, double offset, double* scores, bool& any) noexcept {
    for (int c = 0; c < m(); ++c) {
      const double p = spec_.clip(rule_.scale() * factor * dot_[c] + intercept[c] + offset);
      const double slope =
          weight * spec_.loss->slope(p, spec_.loss->target(label, c, m()), spec_.loss_parameter);
      if (!(std::fabs(p) <= kLargest && std::fabs(slope) <= kLargest)) return false;
      scores[c] = p;
      gradient_[c] = slope;
      any = any || slope != 0;
    }
    return true;
  }

  template <class Index>
  Outcome learn_rows(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n,
                     double* scores) noexcept {
    if (!this->same_kind(b)) return {Status::mixed_names, 0};
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t r = order == nullptr ? i : order[i];
      if (!b.holds(r)) return {Status::bad_block, i};
      const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
      if (order == nullptr) b.fetch_after(r);
      if (const Status status = admit(b, begin, end); status != Status::ok) return {status, i};
      if constexpr (!Store::kDirect) {
        example_rows_.find(store_, rule_, b, order, i, n);
      }
      if constexpr (kShared) {
        if (!prefetched_rows_.advance(store_, b, order, i, n)) return {Status::out_of_memory, i};
      }
      const bool closer = gather<true>(b, begin, end, lanes_.data(), dot_.data());
      if (kMasked && closer) [[unlikely]] {
        if (const Status status = admit_each(b, begin, end); status != Status::ok) return {status, i};
        gather<true>(b, begin, end, lanes_.data(), dot_.data());
      }

      const double factor = row_factor(spec_.normalize, b, begin, end);
      const double weight = b.weights == nullptr ? 1 : b.weights[r];
      bool any = false;
      if (!slopes(factor, b.labels[r], weight, b.offset(r), scores + i * m(), any))
        return {Status::diverged, i};

      const double rate = rate_factor_ * spec_.schedule(t);
      rule_.begin(rate);
      if (any) {
        if (spec_.fit_intercept) rule_.push_intercept(intercept.data(), gradient_.data(), m(), rate);
        const double gain = rule_.gain(rate) * factor;
        for (int c = 0; c < m(); ++c) gradient_[c] *= gain;
        push(b, begin, end);
      }
      rule_.end(rate);
      ++t;
      if (!b.named() && end > begin)
        features = std::max(features, static_cast<std::int64_t>(b.indices[end - 1]) + 1);
      if constexpr (!Store::kDirect) {
        if (any && !example_rows_.catch_up(store_, rule_, b, begin, end))
          return {Status::out_of_memory, i + 1};
      }
      if (rule_.stale()) [[unlikely]]
        rule_.rescale(store_, m());
    }
    return {Status::ok, n};
  }

  template <class Index>
  Outcome score_rows(const BlockView<Index>& b, double* scores) const noexcept {
    std::unique_ptr<double[]> lanes;  // its own: several threads may score at once
    if constexpr (M != 1) {
      lanes.reset(new (std::nothrow) double[4 * static_cast<std::size_t>(m_)]);
      if (lanes == nullptr) return {Status::out_of_memory, 0};
    }
    for (std::int64_t r = 0; r < b.rows; ++r) {
      if (!b.holds(r)) return {Status::bad_block, r};
      double* out = scores + r * m();
      gather<false>(b, b.indptr[r], b.indptr[r + 1], lanes.get(), out);
      const double factor = row_factor(spec_.normalize, b, b.indptr[r], b.indptr[r + 1]);
      for (int c = 0; c < m(); ++c)
        out[c] = spec_.clip(rule_.scale() * factor * out[c] + intercept[c] + b.offset(r));
    }
    return {Status::ok, b.rows};
  }

  static constexpr double kLargest = 1e150;  // beyond it a square would overflow: the model has diverged

  std::vector<double> gradient_, dot_;
  std::vector<double> lanes_;  // scratch of gather
  std::vector<double> zeros_;  // a row that is not there
  mutable std::vector<double>
      current_;                        // what gather brought current, for push; written to by learning alone
  ExampleRows<Rule, M> example_rows_;  // table: the example's rows
  PrefetchedRows prefetched_rows_;     // fixed size: the same
};

}  // namespace riata
