// Many bytes at a time, for kernel sources (see instructions.hpp): as many as a register has, at most 32. A comparison
// gives bytes each of whose bits are all equal, and bits_of a bit for each of them. With AVX-512, kernels may compare 64
// at once, into masks, without this.
#pragma once

#include <cstdint>

#include "riata/simd/vector.hpp"

namespace riata::RIATA_TARGET {

#ifdef __AVX2__
inline constexpr int kByteCount = 32;
#else
inline constexpr int kByteCount = 16;
#endif
using Bytes = unsigned char __attribute__((vector_size(kByteCount)));

RIATA_INLINE Bytes load(const char* p) noexcept {
  Bytes x;
  __builtin_memcpy(&x, p, sizeof x);
  return x;
}
RIATA_INLINE Bytes equal(Bytes x, char c) noexcept { return (Bytes)(x == static_cast<unsigned char>(c)); }

// There is no such instruction for unsigned bytes before AVX-512.
RIATA_INLINE Bytes at_most(Bytes x, unsigned char limit) noexcept {
#if defined(__AVX2__)
  return (Bytes)_mm256_cmpeq_epi8(_mm256_min_epu8((__m256i)x, (__m256i)(Bytes{} + limit)), (__m256i)x);
#elif defined(__SSE2__)
  return (Bytes)_mm_cmpeq_epi8(_mm_min_epu8((__m128i)x, (__m128i)(Bytes{} + limit)), (__m128i)x);
#else
  return (Bytes)(x <= limit);
#endif
}

RIATA_INLINE std::uint64_t bits_of(Bytes x) noexcept {
#if defined(__AVX2__)
  return static_cast<std::uint32_t>(_mm256_movemask_epi8((__m256i)x));
#elif defined(__SSE2__)
  return static_cast<std::uint32_t>(_mm_movemask_epi8((__m128i)x));
#else
  std::uint64_t halves[2];
  __builtin_memcpy(halves, &x, sizeof x);
  const auto eight = [](std::uint64_t half) {  // the highest bits of eight bytes, side by side
    return (half & 0x8080808080808080u) * 0x0002040810204081u >> 56;
  };
  return eight(halves[0]) | eight(halves[1]) << 8;
#endif
}

}  // namespace riata::RIATA_TARGET
