// The loop behind a linear model: a rule over a store, m columns wide.
//
// One example costs its non-zeros, twice: once to score it, once to push the gradient. Only rules and stores
// are templates; the loss is called once an example and column, through a pointer. The loops over rows that gain
// from wide instructions are kernels (kernels.hpp), which call nothing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <new>
#include <vector>

#include "riata/linear/example.hpp"
#include "riata/linear/example_rows.hpp"
#include "riata/linear/kernels.hpp"
#include "riata/linear/prefetched_rows.hpp"
#include "riata/linear/rules/rule.hpp"
#include "riata/linear/stored.hpp"
#include "riata/stores/store.hpp"

namespace riata {

template <class Rule, AnyStore Store, int M>  // M columns, or 0: known only at run time
  requires LinearRule<Rule, Store>
class LinearModel final : public BothIndices<LinearModel<Rule, Store, M>, StoredLinear<Rule, Store, M>> {
  using Stored = StoredLinear<Rule, Store, M>;
  using Both = BothIndices<LinearModel, Stored>;
  friend Both;
  using Stored::intercept, Stored::features, Stored::t, Stored::rate_factor_;
  using Stored::m, Stored::m_, Stored::spec_, Stored::rule_, Stored::store_;

 public:
  explicit LinearModel(const LinearSpec& spec)
      : Both(spec),
        gradient_(static_cast<std::size_t>(m_)),
        dot_(static_cast<std::size_t>(m_)),
        residuals_(static_cast<std::size_t>(m_)),
        strength_(static_cast<std::size_t>(m_)),
        sums_(4 * static_cast<std::size_t>(m_)),
        zeros_(static_cast<std::size_t>(Rule::width(spec.columns))),
        example_rows_(spec.columns) {}

 private:
  using Status = Outcome::Status;

  // Several features may have the same row, and a key does not tell where it is.
  static constexpr bool kShared = Store::kDirect && !Store::kDistinct;
  // Kernels know how to bring rows current.
  static constexpr bool kDecays = Rule::kDecay != DecayKind::none;
  // Rows of two doubles in an array whose size is a power of two, unless it is kept in pieces: a kernel finds them by
  // their keys, which it holds inside the array by a mask.
  static constexpr bool kArray = M == 1 && kDecays && Store::kDirect && !kShared;
  // What gather brought current is that still when it is pushed: no other feature has moved it meanwhile.
  static constexpr bool kKept = M == 1 && kDecays && Rule::kStill && !kShared;

  bool in_array() const noexcept {
    if constexpr (kArray) return !store_.paged();
    return false;
  }
  template <class Index>
  ArrayRows<Index> array_rows(const BlockView<Index>& b, std::int64_t begin) const noexcept {
    return {b.indices + begin, store_.base(), store_.mask()};
  }
  double* kept() noexcept { return kKept ? current_.data() : nullptr; }

  // The rows of the example at hand, in its order.
  double* const* found_rows() const noexcept {
    if constexpr (kShared)
      return prefetched_rows_.rows();
    else if constexpr (Store::kDirect)
      return rows_.data();
    else
      return example_rows_.rows();
  }

  // The sum of weights times values in every column, before scale(). In four partial sums, by place: the same bits
  // whichever way computes it. `sums` is room for them, where there are many columns.
  void gather(double* const* rows, const float* x, std::int64_t n, double* current, double* sums,
              double* dot) const noexcept {
    if constexpr (M == 1 && kDecays) {
      dot[0] = kernels_.pointers.gather(rule_.decay(), RowPointers{rows}, x, n, current).sum;
    } else if constexpr (M == 1) {
      double partial[4] = {};
      const auto add = [&](std::int64_t k, double& sum) {
        sum += rule_.current(rows[k], 1, 0) * static_cast<double>(x[k]);
      };
      std::int64_t k = 0;
      for (; k + 4 <= n; k += 4)
        for (int i = 0; i < 4; ++i) add(k + i, partial[i]);
      for (int i = 0; k < n; ++k, ++i) add(k, partial[i]);
      dot[0] = (partial[0] + partial[1]) + (partial[2] + partial[3]);
    } else {
      const int columns = m_;
      std::fill(sums, sums + 4 * columns, 0.0);
      if constexpr (kDecays) {
        kernels_.gather_columns(rule_.decay(), rows, x, n, columns, sums);
      } else {
        for (std::int64_t k = 0; k < n; ++k)
          for (int c = 0; c < columns; ++c)
            sums[k % 4 * columns + c] += rule_.current(rows[k], columns, c) * static_cast<double>(x[k]);
      }
      for (int c = 0; c < columns; ++c)
        dot[c] = (sums[c] + sums[columns + c]) + (sums[2 * columns + c] + sums[3 * columns + c]);
    }
  }

  // The same for the example at hand. False: in the array, a key lies outside, so the sum is of other rows.
  template <class Index>
  bool gather_example(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    const float* x = b.values + begin;
    if constexpr (kArray) {
      if (in_array()) {
        const Gathered all = kernels_.template array<Index>().gather(rule_.decay(), array_rows(b, begin), x,
                                                                     end - begin, kept());
        dot_[0] = all.sum;
        return all.keys >= 0 && store_.inside(static_cast<std::uint64_t>(all.keys));
      }
    }
    gather(found_rows(), x, end - begin, kept(), sums_.data(), dot_.data());
    return true;
  }

  // Finds the rows of example i of n, and makes room for those that are missing. In the array gather_example finds
  // them, and says if it could not: then, `closer`, here.
  template <class Index>
  Status find_rows(const BlockView<Index>& b, const std::int64_t* order, std::int64_t i, std::int64_t n,
                   std::int64_t begin, std::int64_t end, [[maybe_unused]] bool closer) noexcept {
    if (kKept && !at_least(current_, end - begin)) return Status::out_of_memory;
    if constexpr (kArray) {
      if (in_array() && !closer && store_.inside(0)) return Status::ok;
    }
    Index all = 0;
    std::uint64_t above = 0;  // has its highest bit where a key is negative, or the last, which no store has
    for (std::int64_t k = begin; k < end; ++k) {
      all |= b.indices[k];
      above |= static_cast<std::uint64_t>(b.indices[k]) + 1;
    }
    if (all < 0 || above > kKeyMask) return Status::bad_index;
    if constexpr (kShared) {  // all other keys have a row
      if (!store_.reserve(0) || !prefetched_rows_.advance(store_, b, order, i, n))
        return Status::out_of_memory;
    } else if constexpr (Store::kDirect) {
      if (store_.paged() || !store_.inside(static_cast<std::uint64_t>(all))) {
        bool was_paged;
        do {  // a store that turns into pages keeps the rows that hold something: look again at all of them
          was_paged = store_.paged();
          for (std::int64_t k = begin; k < end; ++k) {
            const auto key = static_cast<std::uint64_t>(b.indices[k]);
            if (store_.has(key)) [[likely]]
              continue;
            if (!store_.possible(key)) return Status::bad_index;
            if (!store_.reserve(key)) return Status::out_of_memory;
          }
        } while (store_.paged() != was_paged);
      }
      if (!in_array()) {
        if (!at_least(rows_, end - begin)) return Status::out_of_memory;
        double** const found = rows_.data();
        for (std::int64_t k = begin; k < end; ++k)
          found[k - begin] = store_.at(static_cast<std::uint64_t>(b.indices[k]));
      }
    } else {
      if (!example_rows_.make_room(store_, b.indices + begin, end - begin, all)) return Status::out_of_memory;
      example_rows_.find(store_, rule_, b, order, i, n);
    }
    return Status::ok;
  }

  // The gradient to every row of the example.
  template <class Index>
  void push(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    if constexpr (Store::kDirect) {
      for (std::int64_t k = begin; store_.tracks_writes() && k < end; ++k)
        store_.note_write(static_cast<std::uint64_t>(b.indices[k]));
    }
    const float* x = b.values + begin;
    const std::int64_t n = end - begin;
    const double g = gradient_[0];
    if constexpr (kArray) {
      if (in_array())
        return kernels_.template array<Index>().push(rule_.decay(), array_rows(b, begin), x, n, g, kept());
    }
    if constexpr (M == 1 && kDecays && kShared) {
      kernels_.push_shared(rule_.decay(), RowPointers{found_rows()}, x, n, g);
    } else if constexpr (M == 1 && kDecays) {
      kernels_.pointers.push(rule_.decay(), RowPointers{found_rows()}, x, n, g, kept());
    } else if constexpr (kDecays) {
      kernels_.push_columns(rule_.decay(), found_rows(), x, n, m_, gradient_.data());
    } else if constexpr (M == 1 && Rule::kPushesMany && Store::kDistinct) {
      fetch_next(b, begin, end);
      rule_.push_many(found_rows(), x, n, g);
    } else {
      double* const* const at = found_rows();
      for (std::int64_t k = 0; k < n; ++k)
        rule_.push(at[k], m(), M == 1 ? &g : gradient_.data(), static_cast<double>(x[k]));
    }
  }

  // While the rows of this example are worked on, let those of the next come from memory. Nobody has looked at their
  // keys yet.
  template <class Index>
  void fetch_next(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) const noexcept {
    if constexpr (Store::kDirect) {
      if (store_.paged()) return;
      const std::int64_t next = std::min(2 * end - begin, b.nnz);
      for (std::int64_t k = end; k < next; ++k) {
        const auto key = static_cast<std::uint64_t>(b.indices[k]);
        if (store_.inside(key)) __builtin_prefetch(store_.at(key));
      }
    }
  }

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

  // The slopes become those after the step. False: there is no step to take.
  template <class Index>
  bool make_implicit(const BlockView<Index>& b, std::int64_t r, double weight, double factor,
                     const double* scores) noexcept {
    if constexpr (Rule::kImplicit) {
      const Loss& loss = *spec_.loss;
      const double label = b.labels[r];
      if (!loss.classification && !rule_.is_explicit()) {
        for (int c = 0; c < m(); ++c) residuals_[c] = label - scores[c];
        if (rule_.learn_residuals(residuals_.data(), m(), weight, spec_.fit_intercept)) {
          for (int c = 0; c < m(); ++c) intercept[c] = label - b.offset(r);
          return false;
        }
      }
      for (int c = 0; c < m(); ++c) {
        if (!rule_.is_explicit()) gradient_[c] /= rule_.unit(c);
        strength_[c] = 0;
      }
      rule_.set_first(loss.parameter == "quantile" ? 1 / rule_.unit(0) : 1);
      if (spec_.fit_intercept) rule_.prepare_intercept(gradient_.data(), m(), strength_.data());
      double* const* const rows = found_rows();
      const float* x = b.values + b.indptr[r];
      for (std::int64_t k = 0; k < b.indptr[r + 1] - b.indptr[r]; ++k)
        rule_.prepare(rows[k], m(), gradient_.data(), factor * static_cast<double>(x[k]), strength_.data());
      for (int c = 0; c < m() && !rule_.is_explicit(); ++c)
        gradient_[c] = weight * loss.implicit(scores[c], loss.target(label, c, m()), spec_.loss_parameter,
                                              weight * strength_[c]);
    }
    return true;
  }

  // The step of an example whose slopes are known and not all zero.
  template <class Index>
  void take_step(const BlockView<Index>& b, std::int64_t begin, std::int64_t end, double rate,
                 double factor) noexcept {
    if (spec_.fit_intercept) rule_.push_intercept(intercept.data(), gradient_.data(), m(), rate);
    const double gain = rule_.gain(rate) * factor;
    for (int c = 0; c < m(); ++c) gradient_[c] *= gain;
    push(b, begin, end);
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
      if (const Status status = find_rows(b, order, i, n, begin, end, false); status != Status::ok)
        return {status, i};
      if (!gather_example(b, begin, end)) [[unlikely]] {
        if (const Status status = find_rows(b, order, i, n, begin, end, true); status != Status::ok)
          return {status, i};
        gather_example(b, begin, end);
      }

      const double factor = row_factor(spec_.normalize, b, begin, end);
      if (this->held != nullptr && this->held[i] != 0) {
        for (int c = 0; c < m(); ++c)
          scores[i * m() + c] = spec_.clip(rule_.scale() * factor * dot_[c] + intercept[c] + b.offset(r));
        continue;
      }
      const double weight = b.weights == nullptr ? 1 : b.weights[r];
      bool any = false;
      if (!slopes(factor, b.labels[r], weight, b.offset(r), scores + i * m(), any))
        return {Status::diverged, i};
      const double rate = rate_factor_ * spec_.schedule(t);
      rule_.begin(rate);
      if (Rule::kImplicit && any) any = make_implicit(b, r, weight, factor, scores + i * m());
      if (any) take_step(b, begin, end, rate, factor);
      rule_.end(rate);
      ++t;
      if (!b.named() && end > begin)
        features = std::max(features, static_cast<std::int64_t>(b.indices[end - 1]) + 1);
      if constexpr (!Store::kDirect) {
        if (any && !example_rows_.keep_live(store_, rule_, b, begin, end))
          return {Status::out_of_memory, i + 1};
      }
      if (rule_.stale()) [[unlikely]]
        rule_.rescale(store_, m());
    }
    return {Status::ok, n};
  }

  template <class Index>
  Outcome score_rows(const BlockView<Index>& b, double* scores) const noexcept {
    std::vector<double> sums;  // scratch of its own: several threads may score at once
    std::vector<double*> found;
    if (!at_least(sums, 2 * static_cast<std::int64_t>(m_))) return {Status::out_of_memory, 0};
    double* const zeros = const_cast<double*>(zeros_.data());  // rows are not written to here
    for (std::int64_t r = 0; r < b.rows; ++r) {
      if (!b.holds(r)) return {Status::bad_block, r};
      const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
      if (!at_least(found, end - begin)) return {Status::out_of_memory, r};
      for (std::int64_t k = begin; k < end; ++k) {
        const auto key = static_cast<std::uint64_t>(b.indices[k]);
        const double* row = store_.possible(key) ? store_.find(key) : nullptr;
        found[static_cast<std::size_t>(k - begin)] = row == nullptr ? zeros : const_cast<double*>(row);
      }
      double* out = scores + r * m();
      gather(found.data(), b.values + begin, end - begin, nullptr, sums.data(), out);
      const double factor = row_factor(spec_.normalize, b, begin, end);
      for (int c = 0; c < m(); ++c)
        out[c] = spec_.clip(rule_.scale() * factor * out[c] + intercept[c] + b.offset(r));
    }
    return {Status::ok, b.rows};
  }

  static constexpr double kLargest = 1e150;  // beyond it a square would overflow: the model has diverged

  const DecayKernels& kernels_ = best_linear_kernels().of(Rule::kDecay);
  std::vector<double> gradient_, dot_;
  std::vector<double> residuals_, strength_;  // of implicit steps
  std::vector<double> sums_;                  // scratch of gather
  std::vector<double> zeros_;                 // a row that is not there
  std::vector<double> current_;               // what gather brought current, for push
  std::vector<double*> rows_;                 // arrays: the rows of the example
  ExampleRows<Rule, M> example_rows_;         // table: the same
  PrefetchedRows prefetched_rows_;            // shared rows: the same
};

}  // namespace riata
