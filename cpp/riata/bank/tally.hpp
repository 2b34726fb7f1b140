// What the scores of many settings say of some examples of two classes: losses, and histograms that AUC, calibration and
// accuracy are read from.
#pragma once

#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

struct TallyKernels {
  // Of n scores and their labels, -1 or 1: the chances of a label of 1, the log losses where no chance counts as less than `smallest`, and where scores fall
  // on a line from 0 to `length` that has all of them, score / (1 + |score|).
  void (*look)(std::int64_t n, const double* scores, const double* y, double smallest, double length,
               double* chances, double* losses, double* places) noexcept;
};

RIATA_DECLARE_KERNELS(TallyKernels, tally_kernels)

}  // namespace riata
