// Kernels of checksums: see checksum.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

struct ChecksumKernels {
  // So many times 64 bytes, into eight sums. `step` counts those before, all of them.
  void (*add)(const char* data, std::size_t count, std::uint64_t step, std::uint64_t* sums) noexcept;
  // Numbers to 32 bits each: below 2^32 they stay as they are, of others all bits have a part in it.
  void (*narrow)(const std::int64_t* numbers, std::size_t count, std::uint32_t* out) noexcept;
};
RIATA_DECLARE_KERNELS(ChecksumKernels, checksum_kernels)

}  // namespace riata
