// Algorithm 1 with logit, eq. 17 and eq. 19: the update most models have, eight numbers at a time.
#pragma once

#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

// Nothing that is learned passes these: the products of the updates then stay within the range of doubles,
// whatever the feature values, so that no infinity and no NaN ever enters the state.
inline constexpr double kLargestMean = 1e50, kLargestPrecision = 1e100, kLargestWeight = 1e20;

// Mean and variance of the score in every column, eq. 6, and what they are summed over: an example and its
// rows. Row i has `columns` means and `columns` precisions, both less the prior's; behind them, with `own`, as
// many of the prior that the row has for itself, less the common one.
//
// With one column, kernels take rows eight at a time: there are rows, zeros in x, and room for variances, up to
// a multiple of 8.
struct ScoreMoments {
  std::int64_t rows = 0;
  int columns = 1, views = 1;
  double* const* state = nullptr;
  bool intercept_first = false;  // row 0 is the intercept
  bool own = false;
  const double* x = nullptr;                     // rows x views
  const double* precisions = nullptr;            // columns: the common prior's
  const double* intercept_precisions = nullptr;  // columns
  double mean = 0;                               // the common prior's
  double* variances = nullptr;                   // rows x columns, out
  double* means = nullptr;                       // columns, out: mu_t
  double* spreads = nullptr;                     // columns, out: sigma_t^2
};

// The same with a label, to be learned.
struct Taylor : ScoreMoments {
  const double* y = nullptr;  // columns: -1 or +1
  double weight = 1;
  const double* const* next = nullptr;  // rows to fetch meanwhile
  std::int64_t next_rows = 0;
};

// taylor_kernels.cpp.
struct TaylorKernels {
  // Where rows of so many bytes, less than 2^32, begin; returns the bitwise or of all indices.
  std::uint32_t (*places)(std::int64_t n, const std::int32_t* indices, std::uintptr_t base,
                          std::uint64_t bytes, const double** rows) noexcept;
  // Values as doubles; returns the largest index.
  std::uint32_t (*lay_out)(std::int64_t n, const std::int32_t* indices, const float* values,
                           double* x) noexcept;
  void (*gather)(const Taylor&) noexcept;  // writes variances, means and spreads
  void (*step)(const Taylor&) noexcept;    // reads them, and moves the rows
  // What n components give for and against a label of 1 (eq. 8), weighted: added to sums[0] and sums[1].
  void (*average)(int n, const double* means, const double* spreads, const double* log_weights,
                  double* sums) noexcept;
  // The same, and the label is y: log_weights, times `keep`, gain `weight` times the log of the chance each
  // had given it.
  void (*credit)(int n, const double* means, const double* spreads, double y, double weight, double keep,
                 double* log_weights, double* sums) noexcept;
};

RIATA_DECLARE_KERNELS(TaylorKernels, taylor_kernels)

}  // namespace riata
