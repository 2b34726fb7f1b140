// Features of a row side by side, without those whose value is zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

inline constexpr std::size_t kDropZerosSlack = 8;

struct DropZerosKernels {
  // Copies the keys and values of `width` cells, a multiple of kDropZerosSlack, that are not zero; how many they
  // are. As many as there are cells may be written, and kDropZerosSlack more.
  std::size_t (*copy)(const std::int64_t* keys, const float* values, std::size_t width, std::int64_t* to_keys,
                      float* to_values) noexcept;
};
RIATA_DECLARE_KERNELS(DropZerosKernels, drop_zeros_kernels)

}  // namespace riata
