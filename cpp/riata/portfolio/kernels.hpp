// The arithmetic of one example: its values as members see them, AdaGrad with implicit steps, and averaging. The
// Bayesian members have theirs in bayesian/taylor.hpp.
#pragma once

#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

// An example's values in four views. Behind the last row there is room for eight more of each, and zeros in `raw`.
// The state of a row begins with how often its feature was not zero, and the sum of its squares.
struct Views {
  std::int64_t rows = 0;
  bool intercept_first = false;  // row 0 is 1 in every view, and no part of the row's length
  bool learn = false;            // keep the counts and sums, this example's included
  double* const* state = nullptr;
  double* raw = nullptr;       // the values as they are
  double* rms = nullptr;       // divided by the root mean square of the feature's values that were not zero
  double* unit = nullptr;      // raw, divided by the length of the row
  double* unit_rms = nullptr;  // rms, likewise
  double lengths[2] = {0, 0};  // of raw and of rms
};

// An example and its rows, for some columns that see the same values. A row has `columns` weights, and behind them
// as many sums of squared gradients.
struct AdaGradRows {
  std::int64_t rows = 0;
  int columns = 1;
  double* const* state = nullptr;
  const double* x = nullptr;      // rows, and eight zeros; with one column there are as many rows of zeros
  const double* rates = nullptr;  // columns
  const double* y = nullptr;      // columns: -1 or +1
  double* scores = nullptr;       // columns: the sum of x w
  double weight = 1;
  double* ratios = nullptr;  // room for 8 (rows + 1) numbers
};

// Some scores of an example, to be put right by how they did so far: single.hpp. Its state is kSingleWidth numbers: the
// precision (aa, ac, cc) and precision times mean (a, c), both less the prior's; and the loss so far.
inline constexpr int kSingleWidth = 6;
inline constexpr double kSinglePrior = 10;  // precision of a = 1 and of c = 0

struct Corrections {
  int n = 0;
  double* const* states = nullptr;  // n
  const double* scores = nullptr;   // n, the offset not added
  double offset = 0, y = 1, weight = 1;
};

// correction_kernels.cpp.
struct CorrectionKernels {
  // Factors, never below zero, and constants that put n scores right.
  void (*read)(int n, double* const* states, double* factors, double* constants) noexcept;
  void (*learn)(const Corrections&) noexcept;  // the label is y
};

// portfolio_kernels.cpp.
struct PortfolioKernels {
  void (*views)(Views&) noexcept;
  void (*gather)(const AdaGradRows&) noexcept;  // writes scores
  void (*step)(const AdaGradRows&) noexcept;    // reads them, an offset added, and moves the rows
  // The weighted chances that n scores give for and against a label of 1: sums[0] and sums[1].
  void (*average)(int n, const double* scores, const double* weights, double* sums) noexcept;
  // The log loss of each score for a label y.
  void (*losses)(int n, const double* scores, double y, double* losses) noexcept;
  // What the average would lose more, by the label whose log loss was `average`, without each one of them: added to
  // `worth`, `weight` times. At least two of the weights are not zero.
  void (*credit)(int n, const double* losses, const double* weights, double average, double weight,
                 double* worth) noexcept;
  // Weights times exp(-weight (loss - best)); returns their sum.
  double (*reweigh)(int n, const double* losses, double best, double weight, double* weights) noexcept;
};

RIATA_DECLARE_KERNELS(PortfolioKernels, portfolio_kernels)
RIATA_DECLARE_KERNELS(CorrectionKernels, correction_kernels)

}  // namespace riata
