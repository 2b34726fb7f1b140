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

std::uint32_t* list_block(std::uint64_t bits, std::uint32_t base, std::uint32_t* to) noexcept {
  alignas(64) static constexpr struct Numbers {
    unsigned char of[64];
    constexpr Numbers() : of{} {
      for (int k = 0; k < 64; ++k) of[k] = static_cast<unsigned char>(k);
    }
  } numbers;
  const __m512i packed = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(numbers.of));
  const __m512i from = _mm512_set1_epi32(static_cast<int>(base));
  const auto put = [&](int k, __m128i sixteen) {
    _mm512_storeu_si512(to + k, _mm512_add_epi32(_mm512_cvtepu8_epi32(sixteen), from));
  };
  const int count = __builtin_popcountll(bits);
  put(0, _mm512_castsi512_si128(packed));
  if (count > 16) {
    put(16, _mm512_extracti32x4_epi32(packed, 1));
    put(32, _mm512_extracti32x4_epi32(packed, 2));
    put(48, _mm512_extracti32x4_epi32(packed, 3));
  }
  return to + count;
}

#else

// Sixteen at a time, however many there are: that is hard to foresee.
std::uint32_t* list_block(std::uint64_t bits, std::uint32_t base, std::uint32_t* to) noexcept {
  std::uint32_t* const end = to + __builtin_popcountll(bits);
  for (; bits != 0; to += 16) {
    for (int k = 0; k < 16; ++k) {
      to[k] = base + static_cast<std::uint32_t>(bits == 0 ? 0 : __builtin_ctzll(bits));
      bits &= bits - 1;
    }
  }
  return end;
}

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

std::uint32_t* list_bits(const std::uint64_t* bits, std::size_t blocks, std::uint32_t* to) noexcept {
  for (std::size_t k = 0; k < blocks; ++k) to = list_block(bits[k], static_cast<std::uint32_t>(64 * k), to);
  return to;
}

}  // namespace

const AsciiKernels ascii_kernels{fold, list_bits};

}  // namespace riata::RIATA_TARGET
