// The logistic loss of many scores at once.
#pragma once

#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

struct LogLossKernels {
  // The losses of n scores for their labels, 1 or something else: the bits of Logistic::value.
  void (*losses)(std::int64_t n, const double* scores, const double* labels, double* losses) noexcept;
};

RIATA_DECLARE_KERNELS(LogLossKernels, log_loss_kernels)

}  // namespace riata
