#include "riata/formats/vw/word_kernels.hpp"

#include "riata/simd/intrinsics.hpp"

namespace riata::RIATA_TARGET {
namespace {

using vw::WordList;

#if defined(__AVX512VBMI2__)

__m128i before16(const char* end) noexcept {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(end - 16));
}

// Sixteen numbers such as 0.0371, in the text before ends[0] to ends[15], and how many digits each has behind
// its point: 1 to 10, or kNoFraction where there is none to be read, which gives 0. False if one of them
// looks different after all or has a digit too many for a float; sixteen bytes before each end are readable.
constexpr int kNoFraction = 0x80;
bool read_fractions16(const char* text, const std::uint32_t* ends, __m512i counts, __m512& values) noexcept {
  // Of the sixteen bytes before an end, how many follow each; every 16 bytes are for themselves throughout.
  const __m512i behind = _mm512_maskz_broadcast_i32x4(
      0xFFFF, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  const __m512i zero = _mm512_set1_epi8('0'), tens = _mm512_set1_epi16(1 << 8 | 10),
                hundreds = _mm512_set1_epi32(1 << 16 | 100), thousands = _mm512_set1_epi32(1 << 16 | 10000);
  __m512i fours[4];  // digits of numbers k, k + 4, k + 8, k + 12
  std::uint64_t wrong = 0;
  for (int k = 0; k < 4; ++k) {
    __m512i x = _mm512_zextsi128_si512(before16(text + ends[k]));
    x = _mm512_inserti32x4(x, before16(text + ends[k + 4]), 1);
    x = _mm512_inserti32x4(x, before16(text + ends[k + 8]), 2);
    x = _mm512_inserti32x4(x, before16(text + ends[k + 12]), 3);
    const __m512i count = _mm512_shuffle_epi8(counts, _mm512_set1_epi8(static_cast<char>(4 * k)));
    const __m512i place = _mm512_sub_epi8(behind, count);
    const __m512i digits = _mm512_maskz_sub_epi8(_mm512_cmplt_epi8_mask(behind, count), x, zero);
    wrong |= _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9));
    wrong |= _mm512_mask_cmpneq_epi8_mask(_mm512_cmpeq_epi8_mask(behind, count), x, _mm512_set1_epi8('.'));
    wrong |= _mm512_mask_cmpneq_epi8_mask(_mm512_cmpeq_epi8_mask(place, _mm512_set1_epi8(1)), x, zero);
    fours[k] = _mm512_madd_epi16(_mm512_maddubs_epi16(digits, tens), hundreds);
  }
  const __m512i front = _mm512_madd_epi16(_mm512_packus_epi32(fours[0], fours[1]), thousands);
  const __m512i back = _mm512_madd_epi16(_mm512_packus_epi32(fours[2], fours[3]), thousands);
  const __m512 front_eights = _mm512_castsi512_ps(front), back_eights = _mm512_castsi512_ps(back);
  const __m512i high = _mm512_castps_si512(_mm512_shuffle_ps(front_eights, back_eights, 0x88));
  const __m512i low = _mm512_castps_si512(_mm512_shuffle_ps(front_eights, back_eights, 0xDD));
  const __m512i beyond = _mm512_or_si512(high, _mm512_maskz_srli_epi32(0xFFFF, low, 24));
  if ((wrong | _mm512_test_epi32_mask(beyond, beyond)) != 0) return false;
  // Below 2^24, so exact, as is the power of ten: one rounding.
  alignas(64) static constexpr float kPowers[16] = {1e0f, 1e1f, 1e2f,  1e3f, 1e4f, 1e5f, 1e6f, 1e7f,
                                                    1e8f, 1e9f, 1e10f, 1e0f, 1e0f, 1e0f, 1e0f, 1e0f};
  const __m512 powers = _mm512_maskz_permutexvar_ps(0xFFFF, counts, _mm512_load_ps(kPowers));
  values = _mm512_div_ps(_mm512_maskz_cvtepi32_ps(0xFFFF, low), powers);
  return true;
}

// What has no value, what is a digit and what looks like 0.0371 is done at once.
unsigned read_values(const WordList& words, std::size_t k, const float* digits_times_weight, float* values,
                     bool& zeros) noexcept {
  const __m512 weight = _mm512_set1_ps(digits_times_weight[1]);
  const __m512 table = _mm512_maskz_loadu_ps(0x3FF, digits_times_weight);
  const std::size_t left = words.count - k;
  const auto all = static_cast<__mmask16>(left < 16 ? (1u << left) - 1 : 0xFFFFu);
  const std::uint32_t* const next = words.places + k + 1;
  const __m512i end = _mm512_mask_loadu_epi32(_mm512_set1_epi32(static_cast<int>(*next)), all, next);
  const __m512i length = _mm512_maskz_sub_epi32(all, end, _mm512_maskz_loadu_epi32(all, words.ends + k));
  __m512 found = weight;
  unsigned others = _mm512_test_epi32_mask(length, length);
  const __m128i first = _mm_maskz_loadu_epi8(all, words.values + k);
  const __m512i digit = _mm512_sub_epi32(_mm512_maskz_cvtepu8_epi32(0xFFFF, first), _mm512_set1_epi32('0'));
  const __mmask16 digits = _mm512_mask_cmplt_epu32_mask(_mm512_cmpeq_epi32_mask(length, _mm512_set1_epi32(2)),
                                                        digit, _mm512_set1_epi32(10));
  found = _mm512_mask_permutexvar_ps(found, digits, digit, table);
  others &= ~static_cast<unsigned>(digits);
  const __m512i count = _mm512_sub_epi32(length, _mm512_set1_epi32(3));  // digits behind the point
  const __mmask16 fractions =
      _mm512_cmplt_epu32_mask(_mm512_sub_epi32(count, _mm512_set1_epi32(1)), _mm512_set1_epi32(10));
  if (fractions != 0 && *next >= 16) {
    alignas(64) std::uint32_t places[16];
    _mm512_store_si512(places, end);
    const __m512i counts = _mm512_mask_mov_epi32(_mm512_set1_epi32(kNoFraction), fractions, count);
    __m512 numbers;
    if (read_fractions16(words.text, places, counts, numbers)) {
      found = _mm512_mask_mul_ps(found, fractions, numbers, weight);
      others &= ~static_cast<unsigned>(fractions);
    }
  }
  _mm512_storeu_ps(values, found);
  zeros |= _mm512_mask_cmp_ps_mask(all, found, _mm512_setzero_ps(), _CMP_EQ_OQ) != 0;
  return others;
}

#else

unsigned read_values(const WordList& words, std::size_t k, const float* digits, float* values,
                     bool& zeros) noexcept {
  const std::size_t left = words.count - k, count = left < WordKernels::kAtOnce ? left : WordKernels::kAtOnce;
  unsigned others = 0, some = 0;
  for (std::size_t i = 0; i < count; ++i) {  // with a digit or without is a matter of chance: no branch
    const std::uint32_t length = words.places[k + i + 1] - words.ends[k + i];
    const unsigned digit = static_cast<unsigned char>(words.values[k + i]) - unsigned{'0'};
    const bool is_digit = (length == 2) & (digit < 10);
    const float value = digits[is_digit ? digit : 1];
    values[i] = value;
    some |= static_cast<unsigned>(value == 0);
    others |= static_cast<unsigned>((length != 0) & !is_digit) << i;
  }
  zeros = zeros || some != 0;
  return others;
}

#endif

}  // namespace

const WordKernels word_kernels{read_values};

}  // namespace riata::RIATA_TARGET
