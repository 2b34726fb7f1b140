#include "riata/block/drop_zeros.hpp"
#include "riata/simd/intrinsics.hpp"

namespace riata::RIATA_TARGET {
namespace {

std::size_t copy(const std::int64_t* keys, const float* values, std::size_t width, std::int64_t* to_keys,
                 float* to_values) noexcept {
  std::size_t kept = 0;
#if defined(__AVX512VL__)
  for (std::size_t i = 0; i < width; i += 8) {
    const __m256 v = _mm256_loadu_ps(values + i);
    const __mmask8 some = _mm256_cmp_ps_mask(v, _mm256_setzero_ps(), _CMP_NEQ_UQ);
    // Compressed in a register: to do it on the way to memory takes many times as long on some processors.
    _mm512_storeu_si512(to_keys + kept, _mm512_maskz_compress_epi64(some, _mm512_loadu_si512(keys + i)));
    _mm256_storeu_ps(to_values + kept, _mm256_maskz_compress_ps(some, v));
    kept += static_cast<std::size_t>(_mm_popcnt_u32(some));
  }
#else
  for (std::size_t i = 0; i < width; ++i) {  // which are zero is a matter of chance: the next overwrites them
    to_keys[kept] = keys[i];
    to_values[kept] = values[i];
    kept += values[i] != 0;
  }
#endif
  return kept;
}

}  // namespace

const DropZerosKernels drop_zeros_kernels{copy};

}  // namespace riata::RIATA_TARGET
