// Kernels that fold ASCII and say what its bytes are, 64 at a time, and that list where bits are set. See folded.hpp
// and word_places.hpp.
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
  // Writes the numbers of the bits that are set, of words of 64 one behind another; where the next would go. 64 numbers
  // more may be overwritten.
  std::uint32_t* (*list_bits)(const std::uint64_t* bits, std::size_t blocks, std::uint32_t* to) noexcept;
};
RIATA_DECLARE_KERNELS(AsciiKernels, ascii_kernels)

}  // namespace riata
