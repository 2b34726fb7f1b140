// Delimiters, 64 bytes at a time: the bytes are compared, which gives a bit for each, and the places of the
// bits are written as if there always were as many as usual, because how many there are is hard to foresee.
#include "riata/text/delimiter_kernels.hpp"

#include "riata/simd/bytes.hpp"

namespace riata::RIATA_TARGET {
namespace {

struct Matches {
  std::uint64_t all, within, colons;

  // The first delimiter or colon behind each delimiter. The bits between are ones, through which a carry runs.
  std::uint64_t name_ends(bool open) const noexcept {
    const std::uint64_t marks = all | colons, behind = all << 1 | std::uint64_t{open};
    return ((~marks + (behind & ~marks)) | behind) & marks;
  }
  bool open(bool before) const noexcept { return (all | colons) == 0 ? before : all > colons; }
};

int count_of(std::uint64_t bits) noexcept { return __builtin_popcountll(bits); }

#if defined(__AVX512VBMI2__)

Matches match(const char* p, const Delimiters& which) noexcept {
  const __m512i x = _mm512_loadu_si512(p);
  const auto equals = [x](char c) { return _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(c)); };
  const std::uint64_t within = equals(which.within[0]) | equals(which.within[1]);
  const std::uint64_t low = _mm512_cmple_epu8_mask(x, _mm512_set1_epi8(static_cast<char>(which.low)));
  return {within | low | equals(which.breaks[0]) | equals(which.breaks[1]), within, equals(':')};
}

std::uint32_t* write_places(std::size_t at, std::uint64_t bits, std::uint32_t* out) noexcept {
  alignas(64) static constexpr std::uint8_t kNumbers[64] = {
      0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
      22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
      44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  const int found = count_of(bits);
  const __m512i base = _mm512_set1_epi32(static_cast<int>(at));
  const __m512i offsets = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(kNumbers));
  const auto put = [&](int k, __m128i sixteen) {
    _mm512_storeu_si512(out + k, _mm512_add_epi32(base, _mm512_cvtepu8_epi32(sixteen)));
  };
  put(0, _mm512_castsi512_si128(offsets));
  if (found > 16) [[unlikely]] {
    put(16, _mm512_extracti32x4_epi32(offsets, 1));
    put(32, _mm512_extracti32x4_epi32(offsets, 2));
    put(48, _mm512_extracti32x4_epi32(offsets, 3));
  }
  return out + found;
}

char* write_bytes(const char* from, std::uint64_t bits, char* out) noexcept {
  _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(bits, _mm512_loadu_si512(from)));
  return out + count_of(bits);
}

#else

Matches match(const char* p, const Delimiters& which) noexcept {
  Matches found{};
  for (unsigned k = 0; k < 64; k += sizeof(Bytes)) {
    const Bytes x = load(p + k);
    const Bytes within = equal(x, which.within[0]) | equal(x, which.within[1]);
    const Bytes breaks = equal(x, which.breaks[0]) | equal(x, which.breaks[1]) | at_most(x, which.low);
    found.all |= bits_of(within | breaks) << k;
    found.within |= bits_of(within) << k;
    found.colons |= bits_of(equal(x, ':')) << k;
  }
  return found;
}

std::uint32_t* write_places(std::size_t at, std::uint64_t bits, std::uint32_t* out) noexcept {
  std::uint32_t* const end = out + count_of(bits);
  while (bits != 0) {
    for (int k = 0; k < 8; ++k) {  // of none it would be undefined: the highest bit is one more to be found
      const std::uint64_t some = bits | std::uint64_t{1} << 63;
      out[k] = static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(__builtin_ctzll(some));
      bits &= bits - 1;
    }
    out += 8;
  }
  return end;
}

char* write_bytes(const char* from, std::uint64_t bits, char* out) noexcept {
  for (; bits != 0; bits &= bits - 1) *out++ = from[__builtin_ctzll(bits)];
  return out;
}

#endif

template <bool kNames>
DelimiterLists find(const char* text, std::size_t begin, std::size_t end, const Delimiters& which,
                    DelimiterLists lists) noexcept {
  const Delimiters same = which;  // a copy that nothing written can change
  for (std::size_t at = begin; at < end; at += 64) {
    const Matches found = match(text + at, same);
    lists.places = write_places(at, found.all, lists.places);
    if constexpr (kNames) {
      const std::uint64_t ends = found.name_ends(lists.open);
      lists.name_ends = write_places(at, ends, lists.name_ends);
      lists.values = write_bytes(text + at + 1, ends, lists.values);
      lists.open = found.open(lists.open);
    }
    for (std::uint64_t rest = found.all & ~found.within; rest != 0; rest &= rest - 1) {
      const std::uint64_t before = (rest ^ (rest - 1)) >> 1;
      *lists.breaks++ = lists.count + static_cast<std::uint32_t>(count_of(found.all & before));
    }
    lists.count += static_cast<std::uint32_t>(count_of(found.all));
  }
  return lists;
}

}  // namespace

const DelimiterKernels delimiter_kernels{find<false>, find<true>};

}  // namespace riata::RIATA_TARGET
