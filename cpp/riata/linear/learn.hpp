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

#include "riata/base/fetch_line.hpp"
#include "riata/linear/adagrad_kernels.hpp"
#include "riata/linear/example.hpp"
#include "riata/linear/example_rows.hpp"
#include "riata/linear/feature_scale.hpp"
#include "riata/linear/kernels.hpp"
#include "riata/linear/prefetched_rows.hpp"
#include "riata/linear/rules/rule.hpp"
#include "riata/linear/score.hpp"
#include "riata/stores/store.hpp"

namespace riata {

template <class Rule, AnyStore Store, int M>  // M columns, or 0: known only at run time
  requires LinearRule<Rule, Store>
class LinearModel final : public BothIndices<LinearModel<Rule, Store, M>, ScoredLinear<Rule, Store, M>> {
  using Scored = ScoredLinear<Rule, Store, M>;
  using Both = BothIndices<LinearModel, Scored>;
  friend Both;
  using Scored::intercept, Scored::features, Scored::t, Scored::rate_factor_;
  using Scored::kernels_, Scored::scale_kernels_, Scored::kDecays, Scored::kAdaGrad, Scored::gather;
  using Scored::m, Scored::m_, Scored::spec_, Scored::rule_, Scored::store_, Scored::waiting_;

 public:
  explicit LinearModel(const LinearSpec& spec)
      : Both(spec),
        gradient_(static_cast<std::size_t>(m_)),
        dot_(static_cast<std::size_t>(m_)),
        residuals_(static_cast<std::size_t>(m_)),
        strength_(static_cast<std::size_t>(m_)),
        sums_(4 * static_cast<std::size_t>(m_)),
        example_rows_(spec.columns, spec.scaled ? kScaleSums : 0),
        prefetched_rows_(this->stored_width_) {}

 private:
  using Status = Outcome::Status;

  // Several features may have the same row, and a key does not tell where it is.
  static constexpr bool kShared = Store::kDirect && !Store::kDistinct;
  // Rows of two doubles in an array whose size is a power of two, unless it is kept in pieces: a kernel finds them by
  // their keys, which it holds inside the array by a mask.
  static constexpr bool kArray = M == 1 && kDecays && Store::kDirect && !kShared;
  // What gather brought current is that still when it is pushed: no other feature has moved it meanwhile.
  static constexpr bool kKept = M == 1 && kDecays && Rule::kStill && !kShared;

  bool in_array() const noexcept {
    if constexpr (kArray) return !store_.paged() && !spec_.scaled;
    return false;
  }
  template <class Index>
  ArrayRows<Index> array_rows(const BlockView<Index>& b, std::int64_t begin) const noexcept {
    return {b.indices + begin, store_.base(), store_.mask()};
  }
  double* kept() noexcept { return kKept || kAdaGrad ? current_.data() : nullptr; }
  // Of an example of at most as many features as current_ has room for.
  AdaGradScratch scratch() noexcept {
    const std::size_t each = current_.size() / 3;
    return {current_.data(), current_.data() + each, current_.data() + 2 * each};
  }

  // The rows of the example at hand, in its order.
  double* const* found_rows() const noexcept {
    if constexpr (kShared)
      return prefetched_rows_.rows();
    else if constexpr (Store::kDirect)
      return rows_.data();
    else
      return example_rows_.rows();
  }

  // The sum of weights times values of the example at hand. False: in the array, a key lies outside, so the sum is of other
  // rows.
  template <class Index>
  bool gather_example(const BlockView<Index>& b, std::int64_t begin, std::int64_t end,
                      const float* x) noexcept {
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
    if (kAdaGrad && !at_least(current_, 3 * (end - begin))) return Status::out_of_memory;
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

  // The example's values as they are learned, once its rows are found; null: memory is exhausted. `learn`: they count from
  // now on.
  template <class Index>
  const float* scaled_values(const BlockView<Index>& b, std::int64_t begin, std::int64_t end,
                             bool learn) noexcept {
    const float* const given = b.values + begin;
    if (!spec_.scaled) return given;
    const std::int64_t n = end - begin;
    if (!at_least(values_, n + 1)) return nullptr;
    if constexpr (!Store::kDirect) {
      if (!waiting_.empty()) [[unlikely]]
        example_rows_.for_new([&](std::int64_t k, double* row) {
          const auto found = waiting_.find(static_cast<std::uint64_t>(b.indices[begin + k]));
          if (found == waiting_.end()) return;
          std::copy_n(found->second.data(), kScaleSums, row + this->row_width());
          if (learn) waiting_.erase(found);
        });
    }
    const int at = this->row_width();
    if (!learn) {
      scale_kernels_.apply(found_rows(), at, given, n, values_.data());
      return values_.data();
    }
    note_writes(b, begin, end);
    if constexpr (kShared)
      scale_kernels_.learn_shared(found_rows(), at, given, n, values_.data());
    else
      scale_kernels_.learn(found_rows(), at, given, n, values_.data());
    return values_.data();
  }

  template <class Index>
  void note_writes(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    if constexpr (Store::kDirect) {
      for (std::int64_t k = begin; store_.tracks_writes() && k < end; ++k)
        store_.note_write(static_cast<std::uint64_t>(b.indices[k]));
    }
  }

  // The gradient to every row of the example.
  template <class Index>
  void push(const BlockView<Index>& b, std::int64_t begin, std::int64_t end, const float* x) noexcept {
    if (!spec_.scaled) note_writes(b, begin, end);
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
    } else if constexpr (kAdaGrad) {
      if constexpr (!kShared) fetch_next(b, begin, end);
      rule_.template push_rows<kShared>(found_rows(), x, n, g, scratch());
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
        if (!store_.inside(key)) continue;
        const double* const row = store_.at(key);
        fetch_line(row);
        if (this->stored_width_ > 3) fetch_line(row + this->stored_width_ - 1);
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
  bool make_implicit(const BlockView<Index>& b, std::int64_t r, const float* x, double weight, double factor,
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
      const std::int64_t n = b.indptr[r + 1] - b.indptr[r];
      if constexpr (kAdaGrad) {
        strength_[0] += rule_.template prepare_rows<kShared>(rows, x, n, gradient_[0], factor, scratch());
      } else {
        const int columns = m_;  // in four partial sums by place, as kernels have them
        std::fill(sums_.begin(), sums_.end(), 0.0);
        for (std::int64_t k = 0; k < n; ++k)
          rule_.prepare(rows[k], columns, gradient_.data(), factor * static_cast<double>(x[k]),
                        sums_.data() + k % 4 * columns);
        for (int c = 0; c < columns; ++c)
          strength_[c] += (sums_[c] + sums_[columns + c]) + (sums_[2 * columns + c] + sums_[3 * columns + c]);
      }
      for (int c = 0; c < m() && !rule_.is_explicit(); ++c)
        gradient_[c] = weight * loss.implicit(scores[c], loss.target(label, c, m()), spec_.loss_parameter,
                                              weight * strength_[c]);
    }
    return true;
  }

  // The step of an example whose slopes are known and not all zero.
  template <class Index>
  void take_step(const BlockView<Index>& b, std::int64_t begin, std::int64_t end, const float* x, double rate,
                 double factor) noexcept {
    if (spec_.fit_intercept) rule_.push_intercept(intercept.data(), gradient_.data(), m(), rate);
    const double gain = rule_.gain(rate) * factor;
    for (int c = 0; c < m(); ++c) gradient_[c] *= gain;
    push(b, begin, end, x);
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
      const double weight = b.weights == nullptr ? 1 : b.weights[r];
      const bool left_out = this->held != nullptr && this->held[i] != 0, counts = !left_out && weight > 0;
      const float* const x = scaled_values(b, begin, end, counts);
      if (x == nullptr) return {Status::out_of_memory, i};
      if (!gather_example(b, begin, end, x)) [[unlikely]] {
        if (const Status status = find_rows(b, order, i, n, begin, end, true); status != Status::ok)
          return {status, i};
        gather_example(b, begin, end, x);
      }

      const double factor = row_factor(spec_.normalize, x, end - begin);
      if (left_out) {
        for (int c = 0; c < m(); ++c)
          scores[i * m() + c] = spec_.clip(rule_.scale() * factor * dot_[c] + intercept[c] + b.offset(r));
        continue;
      }
      bool any = false;
      if (!slopes(factor, b.labels[r], weight, b.offset(r), scores + i * m(), any))
        return {Status::diverged, i};
      const double rate = rate_factor_ * spec_.schedule(t);
      rule_.begin(rate);
      if (Rule::kImplicit && any) any = make_implicit(b, r, x, weight, factor, scores + i * m());
      if (any) take_step(b, begin, end, x, rate, factor);
      rule_.end(rate);
      ++t;
      if (!b.named() && end > begin)
        features = std::max(features, static_cast<std::int64_t>(b.indices[end - 1]) + 1);
      if constexpr (!Store::kDirect) {
        if ((any || (spec_.scaled && counts)) && !example_rows_.keep_live(store_, rule_, b, begin, end))
          return {Status::out_of_memory, i + 1};
      }
      if (rule_.stale()) [[unlikely]]
        rule_.rescale(store_, m());
    }
    return {Status::ok, n};
  }

  static constexpr double kLargest = 1e150;  // beyond it a square would overflow: the model has diverged

  std::vector<float> values_;  // of the example, scaled
  std::vector<double> gradient_, dot_;
  std::vector<double> residuals_, strength_;  // of implicit steps
  std::vector<double> sums_;                  // scratch of gather
  std::vector<double> current_;               // what gather brought current, and other scratch of kernels
  std::vector<double*> rows_;                 // arrays: the rows of the example
  ExampleRows<Rule, M> example_rows_;         // table: the same
  PrefetchedRows prefetched_rows_;            // shared rows: the same
};

}  // namespace riata
