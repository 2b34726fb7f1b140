// Scores by a few weights among many features.
#pragma once

#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "riata/base/model_lock.hpp"
#include "riata/block/block.hpp"
#include "riata/sketch/active_features.hpp"

namespace riata {

class Scorer {
 public:
  // weights: a row a key, a column an output.
  void set(std::vector<std::int64_t> new_keys, std::vector<double> new_weights,
           std::vector<double> new_intercept) {
    for (const std::int64_t key : keys_) slots_[key] = 0;
    keys_ = std::move(new_keys);
    weights_ = std::move(new_weights);
    intercept = std::move(new_intercept);
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      if (!slots_.reserve(static_cast<std::uint64_t>(keys_[k]) + 1)) throw std::bad_alloc();
      slots_[keys_[k]] = static_cast<std::int32_t>(k + 1);
    }
  }

  template <class Index>
  Accumulated score(const BlockView<Index>& b, double* scores) const noexcept {
    const std::size_t m = intercept.size();
    for (std::int64_t i = 0; i < b.rows; ++i) {
      if (!b.holds(i)) return Accumulated::bad_block;
      double* out = scores + static_cast<std::size_t>(i) * m;
      for (std::size_t c = 0; c < m; ++c) out[c] = intercept[c] + b.offset(i);
      for (std::int64_t k = b.indptr[i]; k < b.indptr[i + 1]; ++k) {
        const std::int32_t slot = b.indices[k] < 0 ? 0 : slots_.find(b.indices[k]);
        if (slot == 0) continue;
        const double* row = weights_.data() + static_cast<std::size_t>(slot - 1) * m;
        for (std::size_t c = 0; c < m; ++c) out[c] += row[c] * static_cast<double>(b.values[k]);
      }
    }
    return Accumulated::ok;
  }

  std::vector<double> intercept;
  mutable ModelLock guard;  // taken by threads that share it

 private:
  std::vector<std::int64_t> keys_;
  std::vector<double> weights_;
  ActiveSlots slots_;
};

}  // namespace riata
