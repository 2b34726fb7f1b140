// Numbers of columns in parts of their scales, many at once.
#pragma once

#include <cstddef>

#include "riata/simd/instructions.hpp"

namespace riata {

struct ColumnScale {  // a number x is the value (x - centre) / scale
  double centre = 0, scale = 1;
};

struct ScaledNumbersKernels {
  // Replaces numbers by the values that their columns make of them, as `scaled_number` does; how many are zero then.
  std::size_t (*scale)(float* numbers, const ColumnScale* columns, std::size_t count) noexcept;
};
RIATA_DECLARE_KERNELS(ScaledNumbersKernels, scaled_numbers_kernels)

}  // namespace riata
