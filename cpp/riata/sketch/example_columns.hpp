// Examples in memory, by columns: what coordinate descent goes along.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "riata/block/block.hpp"

namespace riata {

class ExampleColumns {
 public:
  // A row that names a feature twice has the sum of both. The block is well formed, its indices below `features`.
  ExampleColumns(const BlockView<std::int32_t>& b, std::size_t features)
      : rows_(static_cast<std::size_t>(b.rows)), start_(features + 1, 0) {
    const std::int64_t begin = b.rows > 0 ? b.indptr[0] : 0, end = b.rows > 0 ? b.indptr[b.rows] : 0;
    for (std::int64_t k = begin; k < end; ++k) ++start_[static_cast<std::size_t>(b.indices[k]) + 1];
    for (std::size_t j = 0; j + 1 < start_.size(); ++j) start_[j + 1] += start_[j];
    row_.resize(static_cast<std::size_t>(end - begin));
    value_.resize(row_.size());
    filled_.assign(start_.begin(), start_.end() - 1);
    for (std::int64_t i = 0; i < b.rows; ++i)
      for (std::int64_t k = b.indptr[i]; k < b.indptr[i + 1]; ++k) {
        const auto j = static_cast<std::size_t>(b.indices[k]);
        std::size_t& at = filled_[j];
        if (at > start_[j] && row_[at - 1] == i) {
          value_[at - 1] += b.values[k];
          continue;
        }
        row_[at] = static_cast<std::int32_t>(i);
        value_[at++] = b.values[k];
      }
    // Not std::fmax: GCC 12 for ARM64 ends with an internal error when it makes vectors of that.
    for (std::size_t j = 0; j < features; ++j)
      each(j, [&](std::size_t, double v) { largest_ = std::max(largest_, std::fabs(v)); });
  }

  std::size_t rows() const noexcept { return rows_; }
  std::size_t features() const noexcept { return filled_.size(); }
  std::size_t entries(std::size_t j) const noexcept { return filled_[j] - start_[j]; }
  double largest() const noexcept { return largest_; }  // |value|

  template <class Visit>  // visit(row, value)
  void each(std::size_t j, Visit visit) const {
    for (std::size_t k = start_[j]; k < filled_[j]; ++k)
      visit(static_cast<std::size_t>(row_[k]), static_cast<double>(value_[k]));
  }

  bool equal(std::size_t j, std::size_t k) const noexcept {
    const std::size_t from = start_[j], other = start_[k];
    if (entries(j) != entries(k)) return false;
    for (std::size_t i = 0; i < entries(j); ++i)
      if (row_[from + i] != row_[other + i] || value_[from + i] != value_[other + i]) return false;
    return true;
  }
  // The same for columns that are equal.
  std::uint64_t hash(std::size_t j) const noexcept {
    std::uint64_t mixed = 0;
    for (std::size_t k = start_[j]; k < filled_[j]; ++k) {
      mixed = (mixed ^ static_cast<std::uint64_t>(row_[k])) * 0x9E3779B97F4A7C15u;
      mixed ^= (mixed >> 29) + std::bit_cast<std::uint32_t>(value_[k] + 0.0f);  // -0 as 0
    }
    return mixed;
  }

  // Four partial sums: an order that does not depend on the machine.
  double dot(std::size_t j, const double* with) const noexcept {
    double sum[4] = {0, 0, 0, 0};
    std::size_t k = start_[j];
    for (; k + 4 <= filled_[j]; k += 4)
      for (std::size_t i = 0; i < 4; ++i) sum[i] += static_cast<double>(value_[k + i]) * with[row_[k + i]];
    for (; k < filled_[j]; ++k) sum[0] += static_cast<double>(value_[k]) * with[row_[k]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }

 private:
  std::size_t rows_;
  std::vector<std::size_t> start_, filled_;  // of a column: where it begins; where it ends
  std::vector<std::int32_t> row_;
  std::vector<float> value_;
  double largest_ = 0;
};

}  // namespace riata
