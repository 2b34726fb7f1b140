// Features of a row side by side, without those whose value is zero.
#pragma once

#include <cstddef>
#include <cstdint>

#include "riata/simd/instructions.hpp"

#if defined(RIATA_HAS_WIDE)
#include <immintrin.h>
#endif

namespace riata {

// Copies the keys and values of `width` cells, a multiple of kCompactRoom, that are not zero; how many they
// are. As many as there are cells may be written, and kCompactRoom more.
using Compact = std::size_t (*)(const std::int64_t* keys, const float* values, std::size_t width,
                                std::int64_t* to_keys, float* to_values) noexcept;
inline constexpr std::size_t kCompactRoom = 8;

inline std::size_t compact_plain(const std::int64_t* keys, const float* values, std::size_t width,
                                 std::int64_t* to_keys, float* to_values) noexcept {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < width; ++i) {  // what is zero is a matter of chance: written over by the next
    to_keys[kept] = keys[i];
    to_values[kept] = values[i];
    kept += values[i] != 0;
  }
  return kept;
}

#if defined(RIATA_HAS_WIDE)
RIATA_FOR_AVX512 inline std::size_t compact_avx512(const std::int64_t* keys, const float* values,
                                                   std::size_t width, std::int64_t* to_keys,
                                                   float* to_values) noexcept {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < width; i += 8) {
    const __m256 v = _mm256_loadu_ps(values + i);
    const __mmask8 some = _mm256_cmp_ps_mask(v, _mm256_setzero_ps(), _CMP_NEQ_UQ);
    // Compressed in a register: to do it on the way to memory takes many times as long on some processors.
    _mm512_storeu_si512(to_keys + kept, _mm512_maskz_compress_epi64(some, _mm512_loadu_si512(keys + i)));
    _mm256_storeu_ps(to_values + kept, _mm256_maskz_compress_ps(some, v));
    kept += static_cast<std::size_t>(_mm_popcnt_u32(some));
  }
  return kept;
}
#endif

inline Compact best_compact() noexcept {
#if defined(RIATA_HAS_WIDE)
  if (best_instructions() == Instructions::avx512) return compact_avx512;
#endif
  return compact_plain;
}

}  // namespace riata
