#include <utility>

#include "riata/formats/parquet/unpack.hpp"
#include "riata/simd/intrinsics.hpp"

namespace riata::RIATA_TARGET {
namespace {

using parquet::Byte;
using parquet::kWidest;
using parquet::Packed;

std::uint64_t load_word(const void* p) noexcept {
  std::uint64_t word;
  __builtin_memcpy(&word, p, 8);
  return word;
}

std::size_t least(std::size_t a, std::size_t b) noexcept { return a < b ? a : b; }

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
struct AllGroups {
  UnpackGroups of[kWidest + 1];
};
constexpr AllGroups kUnpackGroups = []<std::size_t... w>(std::index_sequence<w...>) {
  return AllGroups{{&unpack_groups<w>...}};
}(std::make_index_sequence<kWidest + 1>{});

std::size_t unpack_one_by_one(Packed packed, std::uint32_t* to, std::size_t count) noexcept {
  const auto width = static_cast<std::size_t>(packed.width);
  const auto room = static_cast<std::size_t>(packed.end - packed.begin);
  const std::size_t margin = 7 * width / 8 + 8;  // from the start of a group to the end of its last word
  if (width == 0 || room < margin) return 0;
  const std::size_t groups = least(count / 8, (room - margin) / width + 1);
  kUnpackGroups.of[width](packed.begin, to, groups);
  return 8 * groups;
}

std::uint32_t largest_one_by_one(const std::uint32_t* codes, std::size_t count) noexcept {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = largest < codes[i] ? codes[i] : largest;
  return largest;
}

void spread_one_by_one(const std::uint32_t* codes, const Byte* bits, std::size_t at, std::uint32_t* to,
                       std::size_t count, std::uint32_t missing) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const bool there = (bits[(at + i) / 8] >> ((at + i) % 8) & 1) != 0;
    to[i] = there ? *codes : missing;
    codes += there;
  }
}

#if defined(__AVX512VBMI__)

constexpr int kWidestShift = 25;    // bits that are within four bytes wherever they begin
constexpr __mmask16 kAll = 0xFFFF;  // what is not masked, compilers call uninitialised

// For each of sixteen values: which four bytes hold it, and where in them it begins.
struct Places {
  Byte bytes[64];
  std::uint32_t shifts[16];
};
struct AllPlaces {
  Places of[kWidestShift + 1];
};
constexpr AllPlaces kPlaces = [] {
  AllPlaces all{};
  for (std::size_t width = 1; width <= kWidestShift; ++width) {
    for (std::size_t i = 0; i < 16; ++i) {
      all.of[width].shifts[i] = static_cast<std::uint32_t>(i * width % 8);
      for (std::size_t b = 0; b < 4; ++b)
        all.of[width].bytes[4 * i + b] = static_cast<Byte>(i * width / 8 + b);
    }
  }
  return all;
}();

std::size_t unpack(Packed packed, std::uint32_t* to, std::size_t count) noexcept {
  const auto width = static_cast<std::size_t>(packed.width);
  const auto room = static_cast<std::size_t>(packed.end - packed.begin);
  std::size_t done = 0;
  if (width > 0 && packed.width <= kWidestShift) {
    const Places& places = kPlaces.of[width];
    const __m512i bytes = _mm512_loadu_si512(places.bytes);
    const __m512i shifts = _mm512_loadu_si512(places.shifts);
    const __m512i mask = _mm512_set1_epi32(static_cast<int>((1U << width) - 1));
    for (std::size_t at = 0; done + 16 <= count && at + 64 <= room; done += 16, at += 2 * width) {
      const __m512i words =
          _mm512_maskz_permutexvar_epi8(~__mmask64{0}, bytes, _mm512_loadu_si512(packed.begin + at));
      _mm512_storeu_si512(to + done, _mm512_and_si512(_mm512_maskz_srlv_epi32(kAll, words, shifts), mask));
    }
  }
  const Packed rest{packed.begin + done / 8 * width, packed.end, packed.width};
  return done + unpack_one_by_one(rest, to + done, count - done);
}

std::uint32_t find_largest(const std::uint32_t* codes, std::size_t count) noexcept {
  __m512i largest = _mm512_setzero_si512();
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16)
    largest = _mm512_maskz_max_epu32(kAll, largest, _mm512_loadu_si512(codes + i));
  std::uint32_t each[16];
  _mm512_storeu_si512(each, largest);
  const std::uint32_t whole = largest_one_by_one(each, 16), rest = largest_one_by_one(codes + i, count - i);
  return whole < rest ? rest : whole;
}

void spread(const std::uint32_t* codes, const Byte* bits, std::size_t at, std::uint32_t* to,
            std::size_t count, std::uint32_t missing) noexcept {
  const __m512i none = _mm512_set1_epi32(static_cast<int>(missing));
  std::size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const auto there = static_cast<__mmask16>(load_word(bits + (at + i) / 8) >> ((at + i) % 8));
    _mm512_storeu_si512(to + i, _mm512_mask_expand_epi32(none, there, _mm512_loadu_si512(codes)));
    codes += _mm_popcnt_u32(there);
  }
  spread_one_by_one(codes, bits, at + i, to + i, count - i, missing);
}

constexpr UnpackKernels kKernels{unpack, find_largest, spread};

#else

constexpr UnpackKernels kKernels{unpack_one_by_one, largest_one_by_one, spread_one_by_one};

#endif

}  // namespace

const UnpackKernels unpack_kernels = kKernels;

}  // namespace riata::RIATA_TARGET
