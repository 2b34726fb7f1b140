// Scores of a linear model over a store: weights, brought current, times values. learn.hpp learns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "riata/linear/adagrad_kernels.hpp"
#include "riata/linear/example.hpp"
#include "riata/linear/feature_scale.hpp"
#include "riata/linear/kernels.hpp"
#include "riata/linear/stored.hpp"

namespace riata {

template <class Rule, AnyStore Store, int M>  // M columns, or 0: known only at run time
class ScoredLinear : public StoredLinear<Rule, Store> {
  using Stored = StoredLinear<Rule, Store>;
  using Status = Outcome::Status;

 protected:
  using Stored::m_, Stored::spec_, Stored::rule_, Stored::store_, Stored::waiting_;

 public:
  explicit ScoredLinear(const LinearSpec& spec)
      : Stored(spec), zeros_(static_cast<std::size_t>(this->stored_width_)) {}

  template <class Index>
  Outcome score_rows(const BlockView<Index>& b, double* scores) const noexcept {
    std::vector<double> sums;  // scratch of its own: several threads may score at once
    std::vector<double*> found;
    std::vector<float> values;
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
      const float* x = b.values + begin;
      if (spec_.scaled) {
        if (!at_least(values, end - begin + 1)) return {Status::out_of_memory, r};
        scale_kernels_.apply(found.data(), this->row_width(), x, end - begin, values.data());
        if (!waiting_.empty()) [[unlikely]]
          this->scale_values(b.indices + begin, x, end - begin, values.data());
        x = values.data();
      }
      gather(found.data(), x, end - begin, nullptr, sums.data(), out);
      const double factor = row_factor(spec_.normalize, x, end - begin);
      for (int c = 0; c < m(); ++c)
        out[c] = spec_.clip(rule_.scale() * factor * out[c] + this->intercept[c] + b.offset(r));
    }
    return {Status::ok, b.rows};
  }

 protected:
  // Kernels know how to bring rows current.
  static constexpr bool kDecays = Rule::kDecay != DecayKind::none;
  // AdaGrad: kernels keep what they need from one loop over the rows to the next.
  static constexpr bool kAdaGrad = M == 1 && Rule::kImplicit;

  // The sum of weights times values in every column, before scale(). In four partial sums, by place: the same bits
  // whichever way computes it. `sums` is room for them, where there are many columns.
  void gather(double* const* rows, const float* x, std::int64_t n, double* current, double* sums,
              double* dot) const noexcept {
    if constexpr (M == 1 && kDecays) {
      dot[0] = kernels_.pointers.gather(rule_.decay(), RowPointers{rows}, x, n, current).sum;
    } else if constexpr (kAdaGrad) {
      dot[0] = rule_.gather_rows(rows, x, n, {current, nullptr, nullptr});
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

  int m() const noexcept { return M == 0 ? m_ : M; }

  const DecayKernels& kernels_ = best_linear_kernels().of(Rule::kDecay);
  const ScaleKernels& scale_kernels_ = best_scale_kernels();

 private:
  std::vector<double> zeros_;  // a row that is not there
};

}  // namespace riata
