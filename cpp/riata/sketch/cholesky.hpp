// The solution of a small symmetric system.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace riata {

// Solves L L' x = b, where rows of L without a diagonal count for nothing; b becomes x.
inline void substitute(const std::vector<double>& a, std::vector<double>& b) noexcept {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] = a[i * n + i] > 0 ? b[i] / a[i * n + i] : 0;
  }
  for (std::size_t i = n; i-- > 0;) {
    b[i] = a[i * n + i] > 0 ? b[i] / a[i * n + i] : 0;
    for (std::size_t k = 0; k < i; ++k) b[k] -= a[i * n + k] * b[i];
  }
}

// Solves A x = b for a positive semidefinite A, given by rows, whose lower half is overwritten by its factor; b
// becomes x. A coordinate that depends on those before it, up to rounding, stays at 0, and its equation counts
// for nothing. Returns those that do.
inline std::vector<std::size_t> solve_symmetric(std::vector<double>& a, std::vector<double>& b) {
  constexpr double kRounding = 1e-11;
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    double* row = a.data() + i * n;
    const double whole = row[i];
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = a.data() + j * n;
      double sum[4] = {0, 0, 0, 0};  // four partial sums: an order that does not depend on the machine
      std::size_t k = 0;
      for (; k + 4 <= j; k += 4)
        for (std::size_t m = 0; m < 4; ++m) sum[m] += row[k + m] * other[k + m];
      for (; k < j; ++k) sum[0] += row[k] * other[k];
      const double left = row[j] - ((sum[0] + sum[1]) + (sum[2] + sum[3]));
      if (j < i) {
        row[j] = other[j] > 0 ? left / other[j] : 0;
      } else {
        row[i] = left > kRounding * whole ? std::sqrt(left) : 0;
      }
    }
  }
  substitute(a, b);
  std::vector<std::size_t> dependent;
  for (std::size_t i = 0; i < n; ++i)
    if (!(a[i * n + i] > 0)) dependent.push_back(i);
  return dependent;
}

}  // namespace riata
