// What the loop of a linear model needs to know about one example before its rows are found.
#pragma once

#include <cmath>
#include <cstdint>
#include <new>
#include <vector>

#include "riata/block/block.hpp"
#include "riata/linear/linear.hpp"

namespace riata {

// What the values of an example are multiplied with.
inline double row_factor(Normalize normalize, const float* x, std::int64_t n) noexcept {
  if (normalize == Normalize::none || n == 0) return 1;
  if (normalize == Normalize::sqrt_nnz) return 1 / std::sqrt(static_cast<double>(n));
  double sum = 0;
  for (std::int64_t k = 0; k < n; ++k) sum += static_cast<double>(x[k]) * x[k];
  return 1 / std::sqrt(sum);
}

// Scratch for an example with so many features. False: memory is exhausted.
template <class T>
bool at_least(std::vector<T>& scratch, std::int64_t nnz) noexcept {
  if (static_cast<std::size_t>(nnz) <= scratch.size()) return true;
  try {
    scratch.resize(2 * static_cast<std::size_t>(nnz));
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

}  // namespace riata
