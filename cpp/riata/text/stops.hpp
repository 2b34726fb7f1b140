// Where words begin and end in a text, found many bytes at a time, in order.
//
// A stop is a blank or any other byte up to it (tabs, newlines, control characters), or a bar; between two of
// them is a word, whose name ends at its first colon, or else where the word does. So each word has two
// places, whatever is in it: a reader goes from word to word without a branch, looks at no other byte to find
// an end, and does not wait for one word to be understood before the next.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "riata/simd/instructions.hpp"
#include "riata/text/number.hpp"

#if defined(RIATA_HAS_WIDE)
#include <immintrin.h>
#endif

namespace riata {

// Where the next places go. Up to kPlaceSlack places more may be overwritten behind them.
struct Places {
  std::uint32_t* stops;
  std::uint32_t* ends;      // of the names: that of the word behind each stop
  char* firsts;             // the byte behind each of these, where values begin
  std::uint32_t* breaks;    // which stops, all being counted from 0, are no blanks
  std::uint32_t count = 0;  // stops so far
  bool open = false;        // the end that belongs to the last stop is still to come
};
// Finds those of text[begin, end), begin and end being multiples of 64, and returns where the next ones go.
using FindPlaces = Places (*)(const char* text, std::size_t begin, std::size_t end, Places out) noexcept;
inline constexpr std::size_t kPlaceSlack = 64;

namespace detail {

// What is found among 64 bytes.
struct PlaceBits {
  std::uint64_t stops, colons, blanks;

  // The first stop or colon behind each stop. The bits between are ones, through which a carry runs.
  std::uint64_t ends(bool open) const noexcept {
    const std::uint64_t marks = stops | colons, behind = stops << 1 | std::uint64_t{open};
    return ((~marks + (behind & ~marks)) | behind) & marks;
  }
  bool open(bool before) const noexcept { return (stops | colons) == 0 ? before : stops > colons; }
};

// Notes the breaks, which are rare, and what is to be known about the next 64 bytes.
inline void note_breaks(const PlaceBits& bits, Places& out) noexcept {
  for (std::uint64_t rest = bits.stops & ~bits.blanks; rest != 0; rest &= rest - 1)
    *out.breaks++ =
        out.count + static_cast<std::uint32_t>(std::popcount(bits.stops & ((rest ^ (rest - 1)) >> 1)));
  out.count += static_cast<std::uint32_t>(std::popcount(bits.stops));
  out.open = bits.open(out.open);
}

inline std::uint32_t* put_places(std::size_t at, std::uint64_t bits, std::uint32_t* out) noexcept {
  for (; bits != 0; bits &= bits - 1)
    *out++ = static_cast<std::uint32_t>(at + static_cast<unsigned>(std::countr_zero(bits)));
  return out;
}

inline void put_firsts(const char* text, const std::uint32_t* begin, const std::uint32_t* end,
                       char*& out) noexcept {
  while (begin != end) *out++ = text[*begin++ + 1];
}

inline Places find_places(const char* text, std::size_t begin, std::size_t end, Places out) noexcept {
  for (std::size_t at = begin; at < end; at += 64) {
    PlaceBits found{};
#if defined(__SSE2__)
    const auto bits = [](__m128i marks, unsigned shift) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(marks))) << shift;
    };
    for (unsigned k = 0; k < 64; k += 16) {
      const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at + k));
      const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(' ')), x);
      found.stops |= bits(_mm_or_si128(low, _mm_cmpeq_epi8(x, _mm_set1_epi8('|'))), k);
      found.colons |= bits(_mm_cmpeq_epi8(x, _mm_set1_epi8(':')), k);
      found.blanks |= bits(_mm_cmpeq_epi8(x, _mm_set1_epi8(' ')), k);
    }
#else
    for (unsigned k = 0; k < 64; ++k) {
      const char c = text[at + k];
      found.stops |= static_cast<std::uint64_t>(static_cast<unsigned char>(c) <= ' ' || c == '|') << k;
      found.colons |= static_cast<std::uint64_t>(c == ':') << k;
      found.blanks |= static_cast<std::uint64_t>(c == ' ') << k;
    }
#endif
    out.stops = put_places(at, found.stops, out.stops);
    const std::uint32_t* const ends = out.ends;
    out.ends = put_places(at, found.ends(out.open), out.ends);
    put_firsts(text, ends, out.ends, out.firsts);
    note_breaks(found, out);
  }
  return out;
}

#if defined(RIATA_HAS_WIDE)
// Whole rounds without a look at how many are left: it is nearly always the same number of rounds.
RIATA_FOR_AVX2 inline std::uint32_t* put_places_avx2(std::size_t at, std::uint64_t bits,
                                                     std::uint32_t* out) noexcept {
  std::uint32_t* const next = out + std::popcount(bits);
  do {
    for (int k = 0; k < 12; ++k) {
      out[k] = static_cast<std::uint32_t>(at + static_cast<unsigned>(std::countr_zero(bits)));
      bits &= bits - 1;
    }
    out += 12;
  } while (bits != 0);
  return next;
}

RIATA_FOR_AVX2 inline Places find_places_avx2(const char* text, std::size_t begin, std::size_t end,
                                              Places out) noexcept {
  const __m256i blank = _mm256_set1_epi8(' '), bar = _mm256_set1_epi8('|'), colon = _mm256_set1_epi8(':');
  for (std::size_t at = begin; at < end; at += 64) {
    PlaceBits found{};
    for (unsigned k = 0; k < 64; k += 32) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at + k));
      const __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(x, blank), x);
      const int stops = _mm256_movemask_epi8(_mm256_or_si256(low, _mm256_cmpeq_epi8(x, bar)));
      const int colons = _mm256_movemask_epi8(_mm256_cmpeq_epi8(x, colon));
      const int blanks = _mm256_movemask_epi8(_mm256_cmpeq_epi8(x, blank));
      found.stops |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(stops)) << k;
      found.colons |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(colons)) << k;
      found.blanks |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(blanks)) << k;
    }
    out.stops = put_places_avx2(at, found.stops, out.stops);
    const std::uint32_t* const ends = out.ends;
    out.ends = put_places_avx2(at, found.ends(out.open), out.ends);
    put_firsts(text, ends, out.ends, out.firsts);
    note_breaks(found, out);
  }
  return out;
}

RIATA_FOR_AVX512 inline std::uint32_t* put_places_avx512(std::size_t at, std::uint64_t bits, __m512i count,
                                                         std::uint32_t* out) noexcept {
  const __m512i base = _mm512_set1_epi32(static_cast<int>(at));
  const __m512i offsets = _mm512_maskz_compress_epi8(bits, count);
  const auto found = static_cast<unsigned>(std::popcount(bits));
  // Masked by all ones: what the plain forms leave undefined, some compilers warn of.
  const __m128i first = _mm512_maskz_extracti32x4_epi32(0xFF, offsets, 0);
  _mm512_storeu_si512(out, _mm512_add_epi32(base, _mm512_maskz_cvtepu8_epi32(0xFFFF, first)));
  if (found > 16) {
    alignas(64) std::uint8_t rest[64];
    _mm512_store_si512(rest, offsets);
    for (unsigned k = 16; k < found; ++k) out[k] = static_cast<std::uint32_t>(at + rest[k]);
  }
  return out + found;
}

RIATA_FOR_AVX512 inline Places find_places_avx512(const char* text, std::size_t begin, std::size_t end,
                                                  Places out) noexcept {
  const __m512i blank = _mm512_set1_epi8(' '), bar = _mm512_set1_epi8('|'), colon = _mm512_set1_epi8(':');
  alignas(64) std::uint8_t numbers[64];
  for (unsigned k = 0; k < 64; ++k) numbers[k] = static_cast<std::uint8_t>(k);
  const __m512i count = _mm512_load_si512(numbers);
  for (std::size_t at = begin; at < end; at += 64) {
    const __m512i x = _mm512_loadu_si512(text + at);
    const PlaceBits found{_mm512_cmple_epu8_mask(x, blank) | _mm512_cmpeq_epi8_mask(x, bar),
                          _mm512_cmpeq_epi8_mask(x, colon), _mm512_cmpeq_epi8_mask(x, blank)};
    out.stops = put_places_avx512(at, found.stops, count, out.stops);
    const std::uint64_t ends = found.ends(out.open);
    out.ends = put_places_avx512(at, ends, count, out.ends);
    const __m512i firsts = _mm512_maskz_compress_epi8(ends, _mm512_loadu_si512(text + at + 1));
    const int found_ends = std::popcount(ends);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out.firsts),
                     _mm512_maskz_extracti32x4_epi32(0xFF, firsts, 0));
    if (found_ends > 16) _mm512_storeu_si512(out.firsts, firsts);
    out.firsts += found_ends;
    note_breaks(found, out);
  }
  return out;
}
#endif

}  // namespace detail

// The widest way that this processor knows.
inline FindPlaces widest_find_places() noexcept {
#if defined(RIATA_HAS_WIDE)
  switch (best_instructions()) {
    case Instructions::avx512:
      return &detail::find_places_avx512;
    case Instructions::avx2:
      return &detail::find_places_avx2;
    case Instructions::plain:
      break;
  }
#endif
  return &detail::find_places;
}

// The places of a text, a few thousand bytes ahead of the reader.
class Stops {
 public:
  static constexpr std::size_t kAhead = 2;  // stops that are always there

  // Of `text`, behind which kPadding bytes are readable; what they hold may give places beyond the text.
  Stops(const char* text, std::size_t size, FindPlaces find) noexcept
      : text_(text), size_(size), find_(find) {}

  // The next stops, ascending, and how many they are: kAhead at least. Beyond the text they are its end.
  const std::uint32_t* stops() const noexcept { return stops_ + from_; }
  std::size_t count() const noexcept { return to_ - from_; }
  // Where the names end in the words behind them, each of which reaches to the next stop.
  const std::uint32_t* ends() const noexcept { return ends_ + from_; }
  const char* firsts() const noexcept { return firsts_ + from_; }
  // How many of the words there are known come before a stop other than a blank, or are all.
  std::size_t words() const noexcept {
    const std::uint64_t next = *break_ - std::uint64_t{passed_};
    return next < count() ? static_cast<std::size_t>(next) : count() - 1;
  }

  // Passes over some stops.
  void pass(std::size_t stops) noexcept {
    from_ += stops;
    passed_ += static_cast<std::uint32_t>(stops);
    while (*break_ < passed_) ++break_;
    if (count() < kAhead) refill();
  }
  // Passes over all that are before this place of the text.
  void pass_to(std::size_t place) noexcept {
    if (count() < kAhead) refill();
    for (;;) {
      std::size_t stops = 0;
      while (stops < count() && this->stops()[stops] < place) ++stops;
      if (stops == 0) return;
      pass(stops);
    }
  }

 private:
  static constexpr std::size_t kWindow = 4096;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void refill() noexcept {
    const std::ptrdiff_t ends = next_.ends - ends_, left = ends - static_cast<std::ptrdiff_t>(from_);
    std::copy(stops_ + from_, stops_ + to_, stops_);
    if (left > 0) {
      std::copy(ends_ + from_, ends_ + ends, ends_);
      std::copy(firsts_ + from_, firsts_ + ends, firsts_);
    }
    if (left < 0) next_.open = false;  // the word that has no end yet is passed over
    next_.stops = stops_ + (to_ - from_);
    next_.ends = ends_ + std::max<std::ptrdiff_t>(left, 0);
    next_.firsts = firsts_ + (next_.ends - ends_);
    std::uint32_t* kept = breaks_;
    for (const std::uint32_t* at = break_; at != next_.breaks; ++at) *kept++ = *at;
    next_.breaks = kept;
    from_ = 0;
    while (next_.stops < stops_ + kAhead && done_ < size_) {
      const std::size_t end = std::min(done_ + kWindow, (size_ + 63) / 64 * 64);
      next_ = find_(text_, done_, end, next_);
      done_ = end;
    }
    while (next_.stops < stops_ + kAhead) {
      *next_.stops++ = static_cast<std::uint32_t>(size_);
      ++next_.count;
    }
    to_ = static_cast<std::size_t>(next_.stops - stops_);
    *next_.breaks = kNone;
    break_ = breaks_;
  }

  const char* text_;
  std::size_t size_;
  FindPlaces find_;
  std::size_t done_ = 0;  // bytes looked at
  std::size_t from_ = 0, to_ = 0;
  std::uint32_t passed_ = 0;  // stops
  std::uint32_t stops_[kAhead + kWindow + kPlaceSlack];
  std::uint32_t ends_[kAhead + kWindow + kPlaceSlack];
  char firsts_[kAhead + kWindow + kPlaceSlack];
  std::uint32_t breaks_[kAhead + kWindow + kPlaceSlack] = {kNone};
  const std::uint32_t* break_ = breaks_;  // the next one
  Places next_ = {stops_, ends_, firsts_, breaks_};
};

}  // namespace riata
