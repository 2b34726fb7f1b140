// The derivatives of the logit link at the samples of eqs. 52 and 53.
#pragma once

#include "riata/simd/instructions.hpp"

namespace riata {

struct SampleKernels {
  // Slope and curvature of ln F at z + step * s[j], for j < n.
  void (*logit)(int n, const double* s, double z, double step, double* slopes, double* curvatures) noexcept;
};

RIATA_DECLARE_KERNELS(SampleKernels, sample_kernels)

}  // namespace riata
