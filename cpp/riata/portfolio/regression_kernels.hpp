// The arithmetic of one example of a Gaussian regression, for some columns that see the same values.
//
// In units of the noise's variance, the weight of a row has the variance v = 1 / (prior precision + gain). With S the sum
// of x^2 v over the rows and N the variance of the noise (1, or more where the example counts for less), the posterior of
// one weight, the others being as uncertain as they are, is exactly
//
//   mean += x v (y - M) / (N + S),   gain += x^2 / (N + S - x^2 v).
#pragma once

#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

struct GaussianColumns {
  std::int64_t rows = 0;
  int columns = 0;
  int distance = 0;                // from the mean of a column to its gain
  double* const* state = nullptr;  // where the means of these columns begin in every row
  const double* x = nullptr;       // rows
  bool intercept_first = false;
  const double* precisions = nullptr;  // columns: of the prior
  double intercept_precision = 1;
  double* means = nullptr;            // columns: M
  double* spreads = nullptr;          // columns: S
  const double* residuals = nullptr;  // columns: y - M
  const double* noise = nullptr;      // columns: N
};

struct RegressionKernels {
  void (*gather)(const GaussianColumns&) noexcept;  // writes means and spreads
  void (*step)(const GaussianColumns&) noexcept;    // moves the rows
};

RIATA_DECLARE_KERNELS(RegressionKernels, regression_kernels)

}  // namespace riata
