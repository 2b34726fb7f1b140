// Where words end in a text: the places of its stops, found many bytes at a time, in order.
//
// A stop is a blank or any other byte up to it (tabs, newlines, control characters), or a bar. Colons, which
// stand inside words, are found beside them. A reader that walks from stop to stop looks at no other byte of
// a word to find its end, and where the next word begins does not wait for the last one to be understood.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "riata/instructions.hpp"
#include "riata/number.hpp"

#if defined(RIATA_HAS_WIDE)
#include <immintrin.h>
#endif

namespace riata {

// Writes places of text[begin, end), begin and end being multiples of 64, and returns one past the last of
// them. Up to kPlaceSlack places more may be overwritten behind them.
struct Places {
  std::uint32_t* stops;
  std::uint32_t* colons;
};
using FindPlaces = Places (*)(const char* text, std::size_t begin, std::size_t end, Places out) noexcept;
inline constexpr std::size_t kPlaceSlack = 64;

namespace detail {

inline std::uint32_t* put_places(std::size_t at, std::uint64_t bits, std::uint32_t* out) noexcept {
  for (; bits != 0; bits &= bits - 1)
    *out++ = static_cast<std::uint32_t>(at + static_cast<unsigned>(std::countr_zero(bits)));
  return out;
}

inline Places find_places(const char* text, std::size_t begin, std::size_t end, Places out) noexcept {
  for (std::size_t at = begin; at < end; at += 64) {
    std::uint64_t stops = 0, colons = 0;
#if defined(__SSE2__)
    for (unsigned k = 0; k < 64; k += 16) {
      const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at + k));
      const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(' ')), x);
      const int stop = _mm_movemask_epi8(_mm_or_si128(low, _mm_cmpeq_epi8(x, _mm_set1_epi8('|'))));
      const int colon = _mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(':')));
      stops |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(stop)) << k;
      colons |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(colon)) << k;
    }
#else
    for (unsigned k = 0; k < 64; ++k) {
      const char c = text[at + k];
      stops |= static_cast<std::uint64_t>(static_cast<unsigned char>(c) <= ' ' || c == '|') << k;
      colons |= static_cast<std::uint64_t>(c == ':') << k;
    }
#endif
    out = {put_places(at, stops, out.stops), put_places(at, colons, out.colons)};
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
    std::uint64_t stops = 0, colons = 0;
    for (unsigned k = 0; k < 64; k += 32) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at + k));
      const __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(x, blank), x);
      const int stop = _mm256_movemask_epi8(_mm256_or_si256(low, _mm256_cmpeq_epi8(x, bar)));
      stops |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(stop)) << k;
      const int found = _mm256_movemask_epi8(_mm256_cmpeq_epi8(x, colon));
      colons |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(found)) << k;
    }
    out = {put_places_avx2(at, stops, out.stops), put_places_avx2(at, colons, out.colons)};
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
    const std::uint64_t stops = _mm512_cmple_epu8_mask(x, blank) | _mm512_cmpeq_epi8_mask(x, bar);
    const std::uint64_t colons = _mm512_cmpeq_epi8_mask(x, colon);
    out = {put_places_avx512(at, stops, count, out.stops), put_places_avx512(at, colons, count, out.colons)};
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
  // The next colons, at least all before the last of the stops, and one behind it.
  const std::uint32_t* colons() const noexcept { return colons_ + colon_; }

  // Passes over some stops and colons.
  void pass(std::size_t stops, std::size_t colons) noexcept {
    from_ += stops;
    colon_ += colons;
    if (count() < kAhead) refill();
  }
  // Passes over all that is before this place of the text.
  void pass_to(std::size_t place) noexcept {
    if (count() < kAhead) refill();
    for (;;) {
      std::size_t stops = 0, colons = 0;
      while (stops < count() && this->stops()[stops] < place) ++stops;
      while (this->colons()[colons] < place) ++colons;
      if (stops == 0 && colons == 0) return;
      pass(stops, colons);
    }
  }

 private:
  static constexpr std::size_t kWindow = 4096;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  void refill() noexcept {
    Places out = {std::copy(stops_ + from_, stops_ + to_, stops_),
                  std::copy(colons_ + colon_, colons_ + colon_end_, colons_)};
    from_ = colon_ = 0;
    while (out.stops < stops_ + kAhead && done_ < size_) {
      const std::size_t end = std::min(done_ + kWindow, (size_ + 63) / 64 * 64);
      // A name or a number longer than the window: its colons, one after another, are not of use.
      if (out.colons > colons_ + kWindow) out.colons = colons_ + kWindow;
      out = find_(text_, done_, end, out);
      done_ = end;
    }
    while (out.stops < stops_ + kAhead) *out.stops++ = static_cast<std::uint32_t>(size_);
    to_ = static_cast<std::size_t>(out.stops - stops_);
    colon_end_ = static_cast<std::size_t>(out.colons - colons_);
    colons_[colon_end_] = kNone;
  }

  const char* text_;
  std::size_t size_;
  FindPlaces find_;
  std::size_t done_ = 0;  // bytes looked at
  std::size_t from_ = 0, to_ = 0, colon_ = 0, colon_end_ = 0;
  std::uint32_t stops_[kAhead + kWindow + kPlaceSlack];
  std::uint32_t colons_[2 * kWindow + kPlaceSlack + 1];
};

}  // namespace riata
