// The values of an example as each group of a bank sees them: all the same, or divided by the root mean square of what the
// group has learned of their feature.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "riata/bank/row.hpp"
#include "riata/linear/example.hpp"
#include "riata/linear/scale_kernels.hpp"

namespace riata {

class ScaledValues {
 public:
  // The n values of an example whose rows are found. Groups learn from those that count. False: memory is exhausted.
  bool look(const BankLayout& layout, double* const* rows, const float* x, std::int64_t n,
            const std::uint8_t* counts) noexcept {
    const int at = layout.sums_at();
    n_ = 0;  // nothing to take back yet
    if (!at_least(of_, layout.groups)) return false;
    if (!layout.scaled) {
      std::fill(of_.begin(), of_.end(), x);
      return true;
    }
    if (!at_least(values_, layout.groups * (n + 1)) || !at_least(before_, layout.sums() * n)) return false;
    for (std::int64_t k = 0; k < n; ++k)
      std::copy_n(rows[k] + at, layout.sums(), before_.data() + k * layout.sums());
    n_ = n;
    for (int g = 0; g < layout.groups; ++g) {
      float* const out = values_.data() + g * (n + 1);
      (counts[g] ? kernels_.learn(rows, at + kScaleSums * g, x, n, out)
                 : kernels_.apply(rows, at + kScaleSums * g, x, n, out));
      of_[static_cast<std::size_t>(g)] = out;
    }
    return true;
  }
  // The rows know no more than before.
  void take_back(const BankLayout& layout, double* const* rows) noexcept {
    for (std::int64_t k = 0; k < n_; ++k)
      std::copy_n(before_.data() + k * layout.sums(), layout.sums(), rows[k] + layout.sums_at());
  }
  const float* const* all() const noexcept { return of_.data(); }
  const float* of(int g) const noexcept { return of_[static_cast<std::size_t>(g)]; }

 private:
  const ScaleKernels& kernels_ = best_scale_kernels();
  std::vector<const float*> of_;  // of each group
  std::vector<float> values_;
  std::vector<double> before_;  // the sums of all rows
  std::int64_t n_ = 0;
};

}  // namespace riata
