// What bytes are: compared many at a time, which gives a bit for each.
#include "riata/words/ascii_kernels.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace riata::RIATA_TARGET {
namespace {

#if defined(__AVX512VBMI2__)

bool fold_block(const char* text, char* folded, AsciiMasks& masks) noexcept {
  const __m512i x = _mm512_loadu_si512(text);
  if (_mm512_movepi8_mask(x) != 0) return false;
  const auto below = [](__m512i y, char first, char count) {
    const __m512i from = _mm512_sub_epi8(y, _mm512_set1_epi8(first));
    return _mm512_cmplt_epu8_mask(from, _mm512_set1_epi8(count));
  };
  const auto equals = [x](char c) { return _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(c)); };
  const __m512i lower = _mm512_or_si512(x, _mm512_set1_epi8(0x20));
  _mm512_storeu_si512(folded, _mm512_mask_mov_epi8(x, below(x, 'A', 26), lower));
  masks = {below(lower, 'a', 26), below(x, '0', 10), equals('\''), equals('_'), equals('.') | equals(',')};
  return true;
}

#else

#if defined(__AVX2__)
constexpr int kWidth = 32;
#else
constexpr int kWidth = 16;
#endif
using Bytes = unsigned char __attribute__((vector_size(kWidth)));

#if defined(__AVX2__)
std::uint64_t bits_of(Bytes x) noexcept {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8((__m256i)x));
}
// Whether bytes are less than a limit: there is no such instruction for unsigned ones.
Bytes less(Bytes x, unsigned char limit) noexcept {
  const Bytes most = Bytes{} + static_cast<unsigned char>(limit - 1);
  return (Bytes)_mm256_cmpeq_epi8(_mm256_min_epu8((__m256i)x, (__m256i)most), (__m256i)x);
}
#elif defined(__SSE2__)
std::uint64_t bits_of(Bytes x) noexcept { return static_cast<std::uint32_t>(_mm_movemask_epi8((__m128i)x)); }
Bytes less(Bytes x, unsigned char limit) noexcept {
  const Bytes most = Bytes{} + static_cast<unsigned char>(limit - 1);
  return (Bytes)_mm_cmpeq_epi8(_mm_min_epu8((__m128i)x, (__m128i)most), (__m128i)x);
}
#else
std::uint64_t bits_of(Bytes x) noexcept {
  std::uint64_t halves[2];
  __builtin_memcpy(halves, &x, sizeof x);
  const auto eight = [](std::uint64_t half) {  // the highest bits of eight bytes, side by side
    return (half & 0x8080808080808080u) * 0x0002040810204081u >> 56;
  };
  return eight(halves[0]) | eight(halves[1]) << 8;
}
Bytes less(Bytes x, unsigned char limit) noexcept { return (Bytes)(x < limit); }
#endif

bool fold_block(const char* text, char* folded, AsciiMasks& masks) noexcept {
  Bytes all[64 / kWidth], high{};
  __builtin_memcpy(all, text, 64);
  for (const Bytes& x : all) high |= x;
  if (bits_of(high) != 0) return false;
  masks = {};
  for (int k = 0; k < 64 / kWidth; ++k) {
    const Bytes x = all[k], lower = x | 0x20, letters = less(lower - 'a', 26);
    const Bytes out = (letters & lower) | (~letters & x);
    __builtin_memcpy(folded + k * kWidth, &out, kWidth);
    const int at = k * kWidth;
    masks.letters |= bits_of(letters) << at;
    masks.digits |= bits_of(less(x - '0', 10)) << at;
    masks.apostrophes |= bits_of((Bytes)(x == '\'')) << at;
    masks.connectors |= bits_of((Bytes)(x == '_')) << at;
    masks.points |= bits_of((Bytes)(x == '.') | (Bytes)(x == ',')) << at;
  }
  return true;
}

#endif

std::size_t fold(const char* text, std::size_t blocks, char* folded, AsciiMasks* masks) noexcept {
  std::size_t block = 0;
  while (block < blocks && fold_block(text + 64 * block, folded + 64 * block, masks[block])) ++block;
  return block;
}

}  // namespace

const AsciiKernels ascii_kernels{fold};

}  // namespace riata::RIATA_TARGET
