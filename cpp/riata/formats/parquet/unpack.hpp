// Small numbers packed into as few bits as they need, and values to the rows that have one: eight or sixteen
// at a time where the processor can.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata::parquet {

static_assert(std::endian::native == std::endian::little, "Parquet's numbers are little-endian");

using Byte = std::uint8_t;

inline constexpr int kWidest = 32;              // bits of a number
inline constexpr std::size_t kUnpackRoom = 16;  // codes that may be read behind those to be spread

// Packed numbers: they begin at a whole byte, and nothing is readable at `end`.
struct Packed {
  const Byte* begin;
  const Byte* end;
  int width;
};

}  // namespace riata::parquet

namespace riata {

struct UnpackKernels {
  // As many of the first `count` values, in eights, as can be read in whole words; returns how many.
  std::size_t (*unpack)(parquet::Packed packed, std::uint32_t* to, std::size_t count) noexcept;
  std::uint32_t (*largest)(const std::uint32_t* codes, std::size_t count) noexcept;
  // The next of `codes` for every bit that is 1 of the `count` from bit `at` on, `missing` for the others. Codes
  // and bits behind the last may be read: kUnpackRoom codes, eight bytes.
  void (*spread)(const std::uint32_t* codes, const std::uint8_t* bits, std::size_t at, std::uint32_t* to,
                 std::size_t count, std::uint32_t missing) noexcept;
};
RIATA_DECLARE_KERNELS(UnpackKernels, unpack_kernels)

}  // namespace riata
