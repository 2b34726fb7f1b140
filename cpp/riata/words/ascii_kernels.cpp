// What bytes are: compared many at a time, which gives a bit for each.
#include "riata/words/ascii_kernels.hpp"

#include "riata/simd/bytes.hpp"

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

bool fold_block(const char* text, char* folded, AsciiMasks& masks) noexcept {
  Bytes high{};
  for (int k = 0; k < 64; k += kByteCount) high |= load(text + k);
  if (bits_of(high) != 0) return false;
  masks = {};
  for (int at = 0; at < 64; at += kByteCount) {
    const Bytes x = load(text + at), lower = x | 0x20, letters = at_most(lower - 'a', 25);
    const Bytes out = (letters & lower) | (~letters & x);
    __builtin_memcpy(folded + at, &out, sizeof out);
    masks.letters |= bits_of(letters) << at;
    masks.digits |= bits_of(at_most(x - '0', 9)) << at;
    masks.apostrophes |= bits_of(equal(x, '\'')) << at;
    masks.connectors |= bits_of(equal(x, '_')) << at;
    masks.points |= bits_of(equal(x, '.') | equal(x, ',')) << at;
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
