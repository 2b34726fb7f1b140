// Kernels that fold ASCII and say what its bytes are, 64 at a time. See folded.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

struct AsciiMasks {  // a bit a byte, the first in the lowest
  std::uint64_t letters, digits, apostrophes, connectors, points;
};

struct AsciiKernels {
  // Folds blocks of 64 bytes up to the first that holds anything but ASCII; how many.
  std::size_t (*fold)(const char* text, std::size_t blocks, char* folded, AsciiMasks* masks) noexcept;
};
RIATA_DECLARE_KERNELS(AsciiKernels, ascii_kernels)

}  // namespace riata
