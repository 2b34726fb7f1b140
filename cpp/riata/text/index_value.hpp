// Words such as 123:4, 123:-4.5 and 123:0.25, many at a time: a whole number of up to 8 digits, a colon, a
// decimal number, a blank.
//
// In three steps, so that each is a short loop without surprises: the marks (marks.hpp) say where the parts
// of the words end; of each word, both numbers are brought to the right end of 16 bytes and their digits
// joined, pairs, quadruples, eights, without a branch that depends on the length of anything; then the
// decimal numbers are divided by their powers of ten and rounded, several at once.
//
// A float is as number.hpp would have read it: the double before the last rounding has an error below 8 units
// in the last place (the digits above 2^53, their power of ten, the quotient), and where that is too much to
// be sure of the float, the word is left to others.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "riata/text/marks.hpp"
#include "riata/text/number.hpp"

namespace riata {

#if defined(RIATA_HAS_WIDE)

struct Pairs {
  static constexpr int kMost = 128;  // read at once
  static constexpr int kSlack = 8;   // entries behind the last that may be written to
  static constexpr int kReach = 16;  // bytes before the first word that must be readable

  int count = 0;
  bool regular = true;                // all keys ascend; no value is zero or in doubt
  std::int32_t keys[kMost + kSlack];  // the whole numbers
  float values[kMost + kSlack];       // the decimal ones

  // What the steps hand on.
  struct Digits {
    std::int32_t zero, key, high, low;  // of the decimal number, eight and eight
  };
  alignas(16) Digits digits[1 + kMost + kSlack];  // from digits[1]
  double power[kMost + kSlack];                   // what divides them, with their sign
  std::uint32_t tails[kMost + kSlack];            // what the last rounding dropped
  int n_odd = 0;                                  // those read one by one...
  int odd_places[kMost];
  float odd_values[kMost];  // ...and what they are

  static constexpr std::uint32_t kDropped = (1u << 29) - 1, kHalf = 1u << 28;
  static constexpr bool near_midpoint(std::uint32_t tail) noexcept { return tail - (kHalf - 8) <= 16; }
  bool in_doubt(int i) const noexcept { return near_midpoint(tails[i]); }
};

namespace detail {

struct PairTables {
  alignas(32) std::uint8_t last[32];                  // last + n: the last n of 16 bytes
  alignas(32) std::array<std::uint8_t, 32> join[17];  // moves up what is before a point, f digits behind it
  double power[64];                                   // 10^f, and -10^f from 32; f = 16: no point at all
};

inline constexpr PairTables kPairTables = [] {
  PairTables t{};
  for (int i = 16; i < 32; ++i) t.last[i] = 0xFF;
  double p = 1;
  for (int f = 0; f <= 16; ++f, p *= 10) {
    for (int j = 0; j < 16; ++j) {
      const bool stays = f == 16 || 15 - j < f;
      t.join[f][static_cast<std::size_t>(j)] = static_cast<std::uint8_t>(j);
      t.join[f][static_cast<std::size_t>(16 + j)] = static_cast<std::uint8_t>(stays    ? j
                                                                              : j == 0 ? 0x80
                                                                                       : j - 1);
    }
    t.power[f] = f == 16 ? 1 : p;
    t.power[32 + f] = -t.power[f];
  }
  return t;
}();

// The 16 bytes before `a` and the 16 before `b`.
RIATA_FOR_AVX2 inline __m256i two_halves(const void* a, const void* b) noexcept {
  const __m128i low = _mm_loadu_si128(static_cast<const __m128i*>(a) - 1);
  const __m128i high = _mm_loadu_si128(static_cast<const __m128i*>(b) - 1);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

// Word i, where its decimal number is long, has an exponent or is written in another odd way. False if it is
// no such word.
inline bool read_odd(const char* origin, const std::uint16_t* places, int i, Pairs& pairs) noexcept {
  const char* const p = origin + static_cast<std::uint16_t>(places[2 * i - 1] + 1);
  const char *const colon = origin + places[2 * i], *const end = origin + places[2 * i + 1];
  if (*colon != ':' || colon - p < 1 || colon - p > 8) return false;
  for (const char* q = p; q < colon; ++q) {
    if (!is_digit(*q)) return false;
  }
  const Number<float> number = read_number<float>(colon + 1);
  if (number.error != NumberError::none || number.end != end) return false;
  const auto key = static_cast<std::int32_t>(read_digits8(p, static_cast<int>(colon - p)));
  pairs.digits[1 + i] = {0, key, 0, number.value != 0};
  pairs.odd_places[pairs.n_odd] = i;
  pairs.odd_values[pairs.n_odd++] = number.value;
  pairs.power[i] = 1;
  return true;
}

// Digits to integers: the words from `first` on, of those that end at places[1], places[3], ...; the first of
// all begins behind places[-1]. Returns how many are read in all, stopping behind a word that ends in
// anything but a blank and before one that is odd. Calls nothing, so that its constants stay in registers.
RIATA_FOR_AVX2 inline int join_simple(const char* origin, const std::uint16_t* places, int first, int most,
                                      Pairs& pairs) noexcept {
  const PairTables& tables = kPairTables;
  const __m256i zero = _mm256_set1_epi8('0'), nine = _mm256_set1_epi8(9), dot = _mm256_set1_epi8('.' - '0');
  const __m256i tens = _mm256_set1_epi16(0x010A), hundreds = _mm256_set1_epi32(0x00010064),
                myriads = _mm256_set1_epi32(0x00012710);
  std::ptrdiff_t begin = static_cast<std::uint16_t>(places[2 * first - 1] + 1);
  for (std::ptrdiff_t i = first; i < most; ++i) {
    const std::ptrdiff_t colon = places[2 * i], end = places[2 * i + 1];
    const char *const c = origin + colon, *const e = origin + end;
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
    const __m256i order = _mm256_load_si256(reinterpret_cast<const __m256i*>(tables.join[f].data()));
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

// Integers to floats, and whether all is regular, `last` being the key before the first.
[[gnu::noinline]] RIATA_FOR_AVX2 inline void round_pairs(std::int32_t last, Pairs& pairs) noexcept {
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
    const auto tail = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(x)) & Pairs::kDropped;
    pairs.keys[i] = word.key;
    pairs.values[i] = static_cast<float>(x);
    pairs.tails[i] = tail;
    irregular |=
        Pairs::near_midpoint(tail) | (word.key <= pairs.digits[i].key) | ((word.high | word.low) == 0);
  }
  for (int k = 0; k < pairs.n_odd; ++k) pairs.values[pairs.odd_places[k]] = pairs.odd_values[k];
  pairs.regular = irregular == 0;
}

}  // namespace detail

// The words behind the mark before the next one, at most kMost of them, as far as the marks go, which stay as
// they are. Stops behind a word that ends in anything but a blank, before one that it cannot read.
RIATA_FOR_AVX2 inline void read_pairs(const Marks& marks, std::int32_t last, Pairs& pairs) noexcept {
  const int most = std::min((marks.count - marks.next) / 2, Pairs::kMost);
  const std::uint16_t* const places = marks.at(marks.next);
  pairs.n_odd = 0;
  int n = 0;
  for (bool more = true; more;) {
    n = detail::join_simple(marks.origin, places, n, most, pairs);
    more = n < most && (n == 0 || marks.origin[places[2 * n - 1]] == ' ') &&
           detail::read_odd(marks.origin, places, n, pairs);
    n += more;
    more = more && marks.origin[places[2 * n - 1]] == ' ';
  }
  pairs.count = n;
  detail::round_pairs(last, pairs);
}

#endif

}  // namespace riata
