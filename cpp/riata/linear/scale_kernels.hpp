// Values divided by the running root mean square of their feature, whose sums stand in its row from `at` on: how often the
// feature was not zero, and the sum of its squares.
#pragma once

#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

inline constexpr int kScaleSums = 2;

struct ScaleKernels {
  // Adds each value to the sums of its row, and divides it by the root of their quotient. Rows: no two of them the same.
  void (*learn)(double* const* rows, int at, const float* x, std::int64_t n, float* out) noexcept;
  // The same where rows may be the same.
  void (*learn_shared)(double* const* rows, int at, const float* x, std::int64_t n, float* out) noexcept;
  // By the sums as they are; values of features never seen become 1 or -1.
  void (*apply)(const double* const* rows, int at, const float* x, std::int64_t n, float* out) noexcept;
};

RIATA_DECLARE_KERNELS(ScaleKernels, scale_kernels)

}  // namespace riata
