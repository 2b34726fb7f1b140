// Where the words of a text and their parts end: the places of all colons, blanks and control characters,
// found 64 bytes at a time, a window of the text after the other.
//
// Whoever walks along such a list knows where the next word ends before he has looked at this one, and
// nothing that depends on the length of a word is left to guess for the processor.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "riata/simd/instructions.hpp"

#if defined(RIATA_HAS_WIDE)
#include <immintrin.h>
#endif

namespace riata {

struct Marks {
  static constexpr int kWindow = 4096;
  static constexpr int kSlack = 64;  // lists are written in large steps

  const char* origin = nullptr;  // places count from here
  int count = 0;
  int next = 0;                              // the first that is not used up
  std::uint16_t list[1 + kWindow + kSlack];  // begins as if there were a mark right before the origin

  Marks() noexcept { list[0] = 0xFFFF; }

  // The place of mark i; at(i)[-1] is that of the mark before.
  const std::uint16_t* at(int i) const noexcept { return list + 1 + i; }

  // Passes over the marks before p.
  void skip_to(const char* p) noexcept {
    while (next < count && origin + *at(next) < p) ++next;
  }
};

#if defined(RIATA_HAS_WIDE)

namespace detail {

inline void begin_window(Marks& marks, const char* p) noexcept {
  marks.origin = p;
  marks.next = 0;
}

// What lies behind the end of the text may hold anything.
inline void end_window(Marks& marks, const std::uint16_t* end, int size) noexcept {
  marks.count = static_cast<int>(end - marks.at(0));
  while (marks.count > 0 && *marks.at(marks.count - 1) >= size) --marks.count;
}

inline int window_size(const char* p, const char* end) noexcept {
  return static_cast<int>(std::min<std::ptrdiff_t>(end - p, Marks::kWindow));
}

// Bit i is set where p[i] is to be marked, i < 32.
RIATA_FOR_AVX2 inline std::uint32_t to_mark32(const char* p) noexcept {
  const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(x, _mm256_set1_epi8(' ')), x);
  const __m256i colon = _mm256_cmpeq_epi8(x, _mm256_set1_epi8(':'));
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_or_si256(low, colon)));
}

}  // namespace detail

// The marks of the window that begins at p. The text must be followed by 64 bytes that can be read.
RIATA_FOR_AVX2 inline void mark_window_avx2(Marks& marks, const char* p, const char* end) noexcept {
  constexpr int kStep = 6;  // places written without asking whether there are so many
  const int size = detail::window_size(p, end);
  detail::begin_window(marks, p);
  std::uint16_t* out = marks.list + 1;
  for (int at = 0; at < size; at += 64) {
    std::uint64_t bits =
        detail::to_mark32(p + at) | static_cast<std::uint64_t>(detail::to_mark32(p + at + 32)) << 32;
    std::uint16_t* const after = out + std::popcount(bits);
    while (bits != 0) {
      for (int i = 0; i < kStep; ++i) {
        out[i] = static_cast<std::uint16_t>(at + static_cast<int>(_tzcnt_u64(bits)));
        bits = _blsr_u64(bits);
      }
      out += kStep;
    }
    out = after;
  }
  detail::end_window(marks, out, size);
}

RIATA_FOR_AVX512 inline void mark_window_avx512(Marks& marks, const char* p, const char* end) noexcept {
  const int size = detail::window_size(p, end);
  detail::begin_window(marks, p);
  alignas(64) std::uint8_t count[64];
  for (int i = 0; i < 64; ++i) count[i] = static_cast<std::uint8_t>(i);
  const __m512i from_zero = _mm512_load_si512(count);
  const __m512i colon = _mm512_set1_epi8(':'), blank = _mm512_set1_epi8(' ');
  std::uint16_t* out = marks.list + 1;
  for (int at = 0; at < size; at += 64) {
    const __m512i x = _mm512_loadu_si512(p + at);
    const std::uint64_t bits = _mm512_cmpeq_epi8_mask(x, colon) | _mm512_cmple_epu8_mask(x, blank);
    const __m512i found = _mm512_maskz_compress_epi8(bits, from_zero);
    const __m512i base = _mm512_set1_epi16(static_cast<short>(at));
    const __m512i first = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(found));
    _mm512_storeu_si512(out, _mm512_add_epi16(base, first));
    const int n = std::popcount(bits);
    if (n > 32) {
      const __m512i second = _mm512_cvtepu8_epi16(_mm512_maskz_extracti64x4_epi64(0xFF, found, 1));
      _mm512_storeu_si512(out + 32, _mm512_add_epi16(base, second));
    }
    out += n;
  }
  detail::end_window(marks, out, size);
}

inline void mark_window(Instructions instructions, Marks& marks, const char* p, const char* end) noexcept {
  if (instructions == Instructions::avx512) {
    mark_window_avx512(marks, p, end);
  } else {
    mark_window_avx2(marks, p, end);
  }
}

#endif

}  // namespace riata
