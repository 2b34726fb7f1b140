#include <cstring>

#include "riata/simd/vector.hpp"
#include "riata/stores/lookup.hpp"

namespace riata::RIATA_TARGET {
namespace {

constexpr std::uint64_t kLow = 0xFFFFFFFF;
constexpr std::uint32_t kNextGroup = 1u << kLookupGroup;  // stands for a slot of the next group

RIATA_INLINE std::uint32_t match(const std::uint8_t* tags, std::uint8_t tag) noexcept {
#ifdef __SSE2__
  const __m128i group = _mm_loadu_si128(reinterpret_cast<const __m128i*>(tags));
  return static_cast<std::uint32_t>(
      _mm_movemask_epi8(_mm_cmpeq_epi8(group, _mm_set1_epi8(static_cast<char>(tag)))));
#else
  std::uint32_t some = 0;
  for (std::uint64_t i = 0; i < kLookupGroup; ++i) some |= std::uint32_t{tags[i] == tag} << i;
  return some;
#endif
}

template <class Index>
RIATA_INLINE double* guess_one(const LookupView& table, Index key) noexcept {
  const auto bits = static_cast<std::uint64_t>(key);
  const std::uint64_t sum = (bits & kLow) * table.a + (bits >> 32) * table.b;
  const std::uint64_t mixed = ((sum ^ (sum >> 32)) & kLow) * kLookupMultiplier;
  const std::uint64_t hash = (mixed ^ (mixed >> 32)) & kLow;
  const std::uint64_t group = (hash * (hash < table.bound ? table.low : table.high)) >> 32;
  const std::uint32_t tag = static_cast<std::uint32_t>(hash) & 0xFF;
  const std::uint32_t some =
      match(table.heads + group * sizeof(LookupHead), static_cast<std::uint8_t>(tag == 0 ? 1 : tag));
  return table.first_row +
         (group * kLookupGroup + static_cast<std::uint64_t>(__builtin_ctz(some | kNextGroup))) * table.words;
}

template <class Index>
RIATA_INLINE std::uint64_t differs(Index key, const double* row) noexcept {
  std::uint64_t word;
  std::memcpy(&word, row - 1, sizeof word);
  return std::uint64_t{word != (static_cast<std::uint64_t>(key) << 1 | 1)};
}

#ifdef __AVX2__
RIATA_INLINE __m256i all_of(std::uint64_t x) noexcept {
  return _mm256_set1_epi64x(static_cast<long long>(x));
}
RIATA_INLINE __m256i upper(__m256i x) noexcept { return _mm256_srli_epi64(x, 32); }
RIATA_INLINE __m256i load_keys(const std::int64_t* keys) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(keys));
}
RIATA_INLINE __m256i load_keys(const std::int32_t* keys) noexcept {
  return _mm256_cvtepi32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(keys)));
}

struct FourKeys {  // the same for four keys at once
  __m256i a, b, low, high, bound, group_bytes, first_row, first_head;
  std::uint64_t words;
  RIATA_INLINE explicit FourKeys(const LookupView& table) noexcept
      : a(all_of(table.a)),
        b(all_of(table.b)),
        low(all_of(table.low)),
        high(all_of(table.high)),
        bound(all_of(table.bound)),
        group_bytes(all_of(kLookupGroup * table.words * sizeof(double))),
        first_row(all_of(reinterpret_cast<std::uintptr_t>(table.first_row))),
        first_head(all_of(reinterpret_cast<std::uintptr_t>(table.heads))),
        words(table.words) {}

  template <class Index>
  RIATA_INLINE void guess(const Index* keys, double** rows) const noexcept {
    const __m256i key = load_keys(keys);
    const __m256i sum = _mm256_add_epi64(_mm256_mul_epu32(key, a), _mm256_mul_epu32(upper(key), b));
    const __m256i mixed = _mm256_mul_epu32(_mm256_xor_si256(sum, upper(sum)), all_of(kLookupMultiplier));
    const __m256i hash = _mm256_and_si256(_mm256_xor_si256(mixed, upper(mixed)), all_of(kLow));
    const __m256i groups = _mm256_blendv_epi8(high, low, _mm256_cmpgt_epi64(bound, hash));
    const __m256i group = upper(_mm256_mul_epu32(hash, groups));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(rows),
                        _mm256_add_epi64(first_row, _mm256_mul_epu32(group, group_bytes)));
    alignas(32) const __m128i* heads[4];
    _mm256_store_si256(reinterpret_cast<__m256i*>(heads),
                       _mm256_add_epi64(first_head, _mm256_mul_epu32(group, all_of(sizeof(LookupHead)))));
    const __m256i tag = _mm256_max_epu8(hash, all_of(1));
    match_two(heads[0], heads[2], _mm256_shuffle_epi8(tag, __m256i{}), rows[0], rows[2]);
    match_two(heads[1], heads[3], _mm256_shuffle_epi8(tag, _mm256_set1_epi8(8)), rows[1], rows[3]);
  }
  // From the first row of a group to that of the slot whose tag is equal, in two groups at once.
  RIATA_INLINE void match_two(const __m128i* head_a, const __m128i* head_b, __m256i tag, double*& row_a,
                              double*& row_b) const noexcept {
    const __m256i tags =
        _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(head_a)), _mm_loadu_si128(head_b), 1);
    const auto some = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(tags, tag)));
    row_a += static_cast<std::uint64_t>(__builtin_ctz(some | kNextGroup)) * words;
    row_b += static_cast<std::uint64_t>(__builtin_ctz(some >> kLookupGroup | kNextGroup)) * words;
    __builtin_prefetch(row_a);
    __builtin_prefetch(row_b);
  }
};

template <class Index>
RIATA_INLINE std::uint64_t differ_four(const Index* keys, double* const* rows) noexcept {
  const __m128d first = _mm_loadh_pd(_mm_load_sd(rows[0] - 1), rows[1] - 1);
  const __m128d last = _mm_loadh_pd(_mm_load_sd(rows[2] - 1), rows[3] - 1);
  const __m256i words = _mm256_castpd_si256(_mm256_insertf128_pd(_mm256_castpd128_pd256(first), last, 1));
  const __m256i key = load_keys(keys);
  const __m256i equal = _mm256_cmpeq_epi64(words, _mm256_or_si256(_mm256_add_epi64(key, key), all_of(1)));
  return static_cast<std::uint64_t>(_mm256_movemask_pd(_mm256_castsi256_pd(equal))) ^ 15;
}
#endif

template <class Index>
void guess(const LookupView& given, const Index* keys, std::size_t n, double** rows) noexcept {
  const LookupView table = given;
  std::size_t k = 0;
#ifdef __AVX2__
  const FourKeys four(table);
  for (; n >= 4 && k < n; k += 4) {  // the last four overlap
    const std::size_t at = k < n - 4 ? k : n - 4;
    four.guess(keys + at, rows + at);
  }
#endif
  for (; k < n; ++k) {
    rows[k] = guess_one(table, keys[k]);
    __builtin_prefetch(rows[k]);
  }
}

template <class Index>
std::size_t check(const Index* keys, std::size_t n, double* const* rows, std::uint32_t* others) noexcept {
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < n; begin += 64) {
    const std::size_t end = n < begin + 64 ? n : begin + 64;
    std::uint64_t wrong = 0;
    std::size_t k = begin;
#ifdef __AVX2__
    for (; k + 4 <= end; k += 4) wrong |= differ_four(keys + k, rows + k) << (k - begin);
#endif
    for (; k < end; ++k) wrong |= differs(keys[k], rows[k]) << (k - begin);
    for (; wrong != 0; wrong &= wrong - 1)
      others[count++] = static_cast<std::uint32_t>(begin + static_cast<std::size_t>(__builtin_ctzll(wrong)));
  }
  return count;
}

}  // namespace

const LookupKernels lookup_kernels{guess<std::int32_t>, guess<std::int64_t>, check<std::int32_t>,
                                   check<std::int64_t>};

}  // namespace riata::RIATA_TARGET
