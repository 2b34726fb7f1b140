// Both numbers of a word are brought to the right end of 16 bytes and their digits joined, pairs, quadruples,
// eights, without a branch that depends on the length of anything; then the decimal numbers are divided by
// their powers of ten and rounded, several at once.
#include "riata/text/index_value_kernels.hpp"

#include "riata/simd/intrinsics.hpp"

namespace riata::RIATA_TARGET {

#if defined(__AVX2__)

namespace {

struct PairTables {
  alignas(32) std::uint8_t last[32];      // last + n: the last n of 16 bytes
  alignas(32) std::uint8_t join[17][32];  // moves up what is before a point, f digits behind it
  double power[64];                       // 10^f, and -10^f from 32; f = 16: no point at all
};

constexpr PairTables kPairTables = [] {
  PairTables t{};
  for (int i = 16; i < 32; ++i) t.last[i] = 0xFF;
  double p = 1;
  for (int f = 0; f <= 16; ++f, p *= 10) {
    for (int j = 0; j < 16; ++j) {
      const bool stays = f == 16 || 15 - j < f;
      t.join[f][j] = static_cast<std::uint8_t>(j);
      t.join[f][16 + j] = static_cast<std::uint8_t>(stays ? j : j == 0 ? 0x80 : j - 1);
    }
    t.power[f] = f == 16 ? 1 : p;
    t.power[32 + f] = -t.power[f];
  }
  return t;
}();

// The 16 bytes before `a` and the 16 before `b`.
__m256i two_halves(const void* a, const void* b) noexcept {
  const __m128i low = _mm_loadu_si128(static_cast<const __m128i*>(a) - 1);
  const __m128i high = _mm_loadu_si128(static_cast<const __m128i*>(b) - 1);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

// Calls nothing, so that its constants stay in registers.
int join(const char* text, const std::uint32_t* places, int first, int most, Pairs& pairs) noexcept {
  const PairTables& tables = kPairTables;
  const __m256i zero = _mm256_set1_epi8('0'), nine = _mm256_set1_epi8(9), dot = _mm256_set1_epi8('.' - '0');
  const __m256i tens = _mm256_set1_epi16(0x010A), hundreds = _mm256_set1_epi32(0x00010064),
                myriads = _mm256_set1_epi32(0x00012710);
  std::ptrdiff_t begin = static_cast<std::uint32_t>(places[2 * first - 1] + 1);
  for (std::ptrdiff_t i = first; i < most; ++i) {
    const std::ptrdiff_t colon = places[2 * i], end = places[2 * i + 1];
    const char *const c = text + colon, *const e = text + end;
    const std::size_t negative = c[1] == '-';
    const auto n = static_cast<std::size_t>(colon - begin);
    const auto m = static_cast<std::size_t>(end - colon - 1) - negative;
    if (*c != ':' || n - 1 >= 8 || m - 1 >= 16) return static_cast<int>(i);
    const __m256i own = two_halves(tables.last + 16 + n, tables.last + 16 + m);
    const __m256i x = _mm256_and_si256(_mm256_sub_epi8(two_halves(c, e), zero), own);
    // Bytes that are no digits, the decimal number's in the upper half. It may hold one point, not at its
    // end.
    const auto others =
        ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(x, nine), x)));
    const auto points =
        static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(x, dot))) & 0x7FFF0000u;
    if (others != points || (points & (points - 1)) != 0) return static_cast<int>(i);
    const std::size_t f = _lzcnt_u32(points | 0x8000u);
    const __m256i order = _mm256_load_si256(reinterpret_cast<const __m256i*>(tables.join[f]));
    const __m256i fours =
        _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_shuffle_epi8(x, order), tens), hundreds);
    const __m256i eights = _mm256_madd_epi16(_mm256_packus_epi32(fours, fours), myriads);
    const __m128i word =
        _mm_blend_epi32(_mm256_castsi256_si128(eights), _mm256_extracti128_si256(eights, 1), 0b1100);
    _mm_store_si128(reinterpret_cast<__m128i*>(&pairs.digits[1 + i]), word);
    pairs.power[i] = tables.power[f + 32 * negative];
    if (*e != ' ') return static_cast<int>(i + 1);
    begin = end + 1;
  }
  return most;
}

// The bits of a double that a float has no room for, and half of what they count to.
constexpr std::uint32_t kDropped = (1u << 29) - 1, kHalf = 1u << 28;

std::uint64_t bits_of(double x) noexcept {
  std::uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}

void round(std::int32_t last, Pairs& pairs) noexcept {
  constexpr int kStep = Pairs::kSlack;
  const int n = pairs.count, whole = (n + kStep - 1) / kStep * kStep;
  for (int i = 0; i < kStep; ++i) {  // entries behind the last that do no harm: whole steps are fastest
    pairs.digits[1 + n + i] = {0, 1'000'000'000 + i, 0, 1};
    pairs.power[n + i] = 1;
  }
  pairs.digits[0].key = last;
  std::int32_t irregular = 0;
  for (int i = 0; i < whole; ++i) {
    const Pairs::Digits& word = pairs.digits[1 + i];
    const double x = (word.high * 1e8 + word.low) / pairs.power[i];
    const auto tail = static_cast<std::uint32_t>(bits_of(x)) & kDropped;
    pairs.keys[i] = word.key;
    pairs.values[i] = static_cast<float>(x);
    pairs.doubts[i] = tail - (kHalf - 8) <= 16;
    irregular |= pairs.doubts[i] | (word.key <= pairs.digits[i].key) | ((word.high | word.low) == 0);
  }
  for (int k = 0; k < pairs.n_odd; ++k) pairs.values[pairs.odd_places[k]] = pairs.odd_values[k];
  pairs.regular = irregular == 0;
}

}  // namespace

const IndexValueKernels index_value_kernels{join, round};

#else

const IndexValueKernels index_value_kernels{nullptr, nullptr};

#endif

}  // namespace riata::RIATA_TARGET
