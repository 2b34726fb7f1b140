// Small numbers packed into as few bits as they need, and values to the rows that have one: eight or sixteen
// at a time where the processor can.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "riata/simd/instructions.hpp"

#if defined(RIATA_HAS_WIDE)
#include <immintrin.h>
#endif

namespace riata::parquet {

static_assert(std::endian::native == std::endian::little, "Parquet's numbers are little-endian");

using Byte = std::uint8_t;

inline constexpr int kWidest = 32;              // bits of a number
inline constexpr std::size_t kUnpackRoom = 16;  // codes that may be read behind those to be spread

inline std::uint64_t load_word(const void* p) noexcept {
  std::uint64_t word;
  std::memcpy(&word, p, 8);
  return word;
}

// Packed numbers: they begin at a whole byte, and nothing is readable at `end`.
struct Packed {
  const Byte* begin;
  const Byte* end;
  int width;
};

namespace detail {

// Groups of eight values of a width that the compiler knows.
template <std::size_t kWidth>
void unpack_groups(const Byte* p, std::uint32_t* to, std::size_t groups) noexcept {
  constexpr std::uint64_t mask = (std::uint64_t{1} << kWidth) - 1;
  for (std::size_t g = 0; g < groups; ++g, p += kWidth, to += 8) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      ((to[i] = static_cast<std::uint32_t>((load_word(p + i * kWidth / 8) >> (i * kWidth % 8)) & mask)), ...);
    }(std::make_index_sequence<8>{});
  }
}

using UnpackGroups = void (*)(const Byte*, std::uint32_t*, std::size_t) noexcept;
inline constexpr auto kUnpackGroups = []<std::size_t... w>(std::index_sequence<w...>) {
  return std::array<UnpackGroups, kWidest + 1>{&unpack_groups<w>...};
}(std::make_index_sequence<kWidest + 1>{});

}  // namespace detail

// As many of the first `count` values, in eights, as can be read in whole words; returns how many.
inline std::size_t unpack_plain(Packed packed, std::uint32_t* to, std::size_t count) noexcept {
  const auto width = static_cast<std::size_t>(packed.width);
  const auto room = static_cast<std::size_t>(packed.end - packed.begin);
  const std::size_t margin = 7 * width / 8 + 8;  // from the start of a group to the end of its last word
  if (width == 0 || room < margin) return 0;
  const std::size_t groups = std::min(count / 8, (room - margin) / width + 1);
  detail::kUnpackGroups[width](packed.begin, to, groups);
  return 8 * groups;
}

inline std::uint32_t largest_plain(const std::uint32_t* codes, std::size_t count) noexcept {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, codes[i]);
  return largest;
}

// The next of `codes` for every bit that is 1 of the `count` from bit `at` on, `missing` for the others.
// Codes and bits behind the last may be read: kUnpackRoom codes, eight bytes.
inline void spread_plain(const std::uint32_t* codes, const Byte* bits, std::size_t at, std::uint32_t* to,
                         std::size_t count, std::uint32_t missing) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const bool there = (bits[(at + i) / 8] >> ((at + i) % 8) & 1) != 0;
    to[i] = there ? *codes : missing;
    codes += there;
  }
}

#if defined(RIATA_HAS_WIDE)
namespace detail {

inline constexpr int kWidestShift = 25;    // bits that are within four bytes wherever they begin
inline constexpr __mmask16 kAll = 0xFFFF;  // what is not masked, compilers call uninitialised

// For each of sixteen values: which four bytes hold it, and where in them it begins.
struct Places {
  std::array<Byte, 64> bytes;
  std::array<std::uint32_t, 16> shifts;
};
inline constexpr auto kPlaces = [] {
  std::array<Places, kWidestShift + 1> all{};
  for (std::size_t width = 1; width < all.size(); ++width) {
    for (std::size_t i = 0; i < 16; ++i) {
      all[width].shifts[i] = static_cast<std::uint32_t>(i * width % 8);
      for (std::size_t b = 0; b < 4; ++b) all[width].bytes[4 * i + b] = static_cast<Byte>(i * width / 8 + b);
    }
  }
  return all;
}();

}  // namespace detail

RIATA_FOR_AVX512 inline std::size_t unpack_avx512(Packed packed, std::uint32_t* to,
                                                  std::size_t count) noexcept {
  const auto width = static_cast<std::size_t>(packed.width);
  const auto room = static_cast<std::size_t>(packed.end - packed.begin);
  std::size_t done = 0;
  if (width > 0 && packed.width <= detail::kWidestShift) {
    const detail::Places& places = detail::kPlaces[width];
    const __m512i bytes = _mm512_loadu_si512(places.bytes.data());
    const __m512i shifts = _mm512_loadu_si512(places.shifts.data());
    const __m512i mask = _mm512_set1_epi32(static_cast<int>((1U << width) - 1));
    for (std::size_t at = 0; done + 16 <= count && at + 64 <= room; done += 16, at += 2 * width) {
      const __m512i words =
          _mm512_maskz_permutexvar_epi8(~__mmask64{0}, bytes, _mm512_loadu_si512(packed.begin + at));
      _mm512_storeu_si512(to + done,
                          _mm512_and_si512(_mm512_maskz_srlv_epi32(detail::kAll, words, shifts), mask));
    }
  }
  const Packed rest{packed.begin + done / 8 * width, packed.end, packed.width};
  return done + unpack_plain(rest, to + done, count - done);
}

RIATA_FOR_AVX512 inline std::uint32_t largest_avx512(const std::uint32_t* codes, std::size_t count) noexcept {
  __m512i largest = _mm512_setzero_si512();
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16)
    largest = _mm512_maskz_max_epu32(detail::kAll, largest, _mm512_loadu_si512(codes + i));
  std::array<std::uint32_t, 16> each;
  _mm512_storeu_si512(each.data(), largest);
  return std::max(largest_plain(each.data(), each.size()), largest_plain(codes + i, count - i));
}

RIATA_FOR_AVX512 inline void spread_avx512(const std::uint32_t* codes, const Byte* bits, std::size_t at,
                                           std::uint32_t* to, std::size_t count,
                                           std::uint32_t missing) noexcept {
  const __m512i none = _mm512_set1_epi32(static_cast<int>(missing));
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const auto there = static_cast<__mmask16>(load_word(bits + (at + i) / 8) >> ((at + i) % 8));
    _mm512_storeu_si512(to + i, _mm512_mask_expand_epi32(none, there, _mm512_loadu_si512(codes)));
    codes += _mm_popcnt_u32(there);
  }
  spread_plain(codes, bits, at + i, to + i, count - i, missing);
}
#endif

// What is best on this processor.
struct Unpacking {
  decltype(&unpack_plain) unpack = unpack_plain;
  decltype(&largest_plain) largest = largest_plain;
  decltype(&spread_plain) spread = spread_plain;

  static Unpacking best() noexcept {
#if defined(RIATA_HAS_WIDE)
    if (best_instructions() == Instructions::avx512) return {unpack_avx512, largest_avx512, spread_avx512};
#endif
    return {};
  }
};

}  // namespace riata::parquet
