// One step of FTRL-Proximal for one weight, and the kernel that takes it for all rows of an example.
#pragma once

#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

struct FtrlStep {
  double per_alpha, beta, l1, l2;  // 1 / alpha: quotients are slow

  // w, z and s = sqrt(n) of Algorithm 1, moved by the gradient g. No branch on w.
  [[gnu::always_inline]] void move(double& w, double& z, double& s, double g) const noexcept {
    const double after = __builtin_sqrt(s * s + g * g);
    z += g - (after - s) * per_alpha * w;
    s = after;
    const double moved = -(z - __builtin_copysign(l1, z)) / ((beta + s) * per_alpha + l2);
    w = __builtin_fabs(z) <= l1 ? 0 : moved;
  }
};

struct FtrlKernels {
  // Rows of one column, no two of them the same, and the values of their features.
  void (*push)(const FtrlStep&, double* const* rows, const float* x, std::int64_t n,
               double gradient) noexcept;
};

RIATA_DECLARE_KERNELS(FtrlKernels, ftrl_kernels)

}  // namespace riata
