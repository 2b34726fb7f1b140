// Words of Vowpal Wabbit text to keys and values: see common_features.hpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "riata/block/named_row_builder.hpp"
#include "riata/simd/instructions.hpp"
#include "riata/text/decimal.hpp"

#if defined(RIATA_HAS_WIDE)
#include <immintrin.h>
#endif

namespace riata::vw {

// The namespace of the features that are read: what stands before their names, and what their values are
// multiplied by.
struct Space {
  const char* name = nullptr;
  std::size_t size = 0;
  float weight = 1;
  ShortName prefix = 0;      // the name and ^, where these have up to 15 bytes
  std::uint32_t digits[10];  // the bits of the weight times 0 to 9

  Space() noexcept { set_weight(1); }
  std::size_t prefix_size() const noexcept { return size + (size > 0); }

  void set_weight(float factor) noexcept {
    weight = factor;
    for (int digit = 0; digit < 10; ++digit)
      digits[digit] = std::bit_cast<std::uint32_t>(factor * static_cast<float>(digit));
  }
  void set_name(const char* start, std::size_t length) noexcept {
    name = start;
    size = length;
    prefix = 0;
    if (size > 0 && size < 15) {
      std::memcpy(&prefix, start, size);
      prefix |= static_cast<ShortName>('^') << (8 * size);
    }
  }
  // Writes the prefix and the name of a feature, which starts at `from`.
  void write(char* to, const char* from, std::size_t length) const noexcept {
    std::memcpy(to, name, size);
    to[size] = '^';
    std::memcpy(to + prefix_size(), from, length);
  }
};

// Two words, the bytes of a name of up to 16, in one register where there are such.
using Words2 = std::uint64_t __attribute__((vector_size(16)));

constexpr Words2 words_of(ShortName wide) noexcept {
  return Words2{static_cast<std::uint64_t>(wide), static_cast<std::uint64_t>(wide >> 64)};
}

// By the size of such a name: which bytes are its own, and what the words are mixed with to make its key.
struct Sizes {
  struct Size {
    Words2 own, seed;
  };
  Size of[17] = {};
  constexpr Sizes() noexcept {
    for (std::size_t size = 0; size <= 16; ++size) {
      std::uint64_t low = 0, high = 0;
      key_seeds(size, low, high);
      of[size] = {words_of(kMasks.mask[size]), Words2{low, high}};
    }
  }
};
inline constexpr Sizes kSizes{};

// Many words of one namespace, each a name and perhaps a colon and a number: word k stands between places[k]
// and places[k + 1], its name before ends[k], and values[k] is the byte behind that one.
struct WordList {
  const char* text;
  const std::uint32_t* places;
  const std::uint32_t* ends;
  const char* values;
  std::size_t count;
};

// The value of word k, multiplied by the weight; false if it is not a number, or none that a float holds.
inline bool value_of_word(const WordList& words, std::size_t k, const Space& space,
                          std::uint32_t& value) noexcept {
  const std::size_t colon = words.ends[k], end = words.places[k + 1], length = end - colon;
  // With a digit or without: which one comes next nobody can foretell, so there is no branch.
  const std::size_t given = std::size_t{0} - (length != 0);
  const std::size_t digit = (static_cast<unsigned char>(words.values[k]) - std::size_t{'1'}) & given;
  if ((length & ~std::size_t{2}) == 0 && digit + 1 < 10) {
    value = space.digits[digit + 1];
    return true;
  }
  float number = 0;
  const char *const from = words.text + colon + 1, *const to = words.text + end;
  if (length < 2 || !read_until(words.text, from, to, number)) return false;
  number *= space.weight;
  value = std::bit_cast<std::uint32_t>(number);
  return std::isfinite(number);
}

// Writes values until one is odd, and says how many; `zeros` is set if one of them is zero. Up to 15 more may
// be overwritten behind them.
inline std::size_t read_values(const WordList& words, const Space& space, float* values,
                               bool& zeros) noexcept {
  for (std::size_t k = 0; k < words.count; ++k) {
    std::uint32_t value = 0;
    if (!value_of_word(words, k, space, value)) return k;
    zeros |= value << 1 == 0;
    std::memcpy(values + k, &value, sizeof value);
  }
  return words.count;
}

#if defined(RIATA_HAS_WIDE)
// The same, sixteen at a time: what has no value and what looks like 0.0371 is done at once.
RIATA_FOR_AVX512 inline std::size_t read_values_avx512(const WordList& words, const Space& space,
                                                       float* values, bool& zeros) noexcept {
  const __m512 weight = _mm512_set1_ps(space.weight);
  const __m512 table = _mm512_castsi512_ps(_mm512_maskz_loadu_epi32(0x3FF, space.digits));
  for (std::size_t k = 0; k < words.count; k += 16) {
    const std::size_t left = words.count - k;
    const auto all = static_cast<__mmask16>(left < 16 ? (1u << left) - 1 : 0xFFFFu);
    const std::uint32_t* const next = words.places + k + 1;
    const __m512i end = _mm512_mask_loadu_epi32(_mm512_set1_epi32(static_cast<int>(*next)), all, next);
    const __m512i length = _mm512_maskz_sub_epi32(all, end, _mm512_maskz_loadu_epi32(all, words.ends + k));
    __m512 found = weight;
    unsigned others = _mm512_test_epi32_mask(length, length);
    const __m128i first = _mm_maskz_loadu_epi8(all, words.values + k);
    const __m512i digit = _mm512_sub_epi32(_mm512_maskz_cvtepu8_epi32(0xFFFF, first), _mm512_set1_epi32('0'));
    const __mmask16 digits = _mm512_mask_cmplt_epu32_mask(
        _mm512_cmpeq_epi32_mask(length, _mm512_set1_epi32(2)), digit, _mm512_set1_epi32(10));
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
    _mm512_storeu_ps(values + k, found);
    zeros |= _mm512_mask_cmp_ps_mask(all, found, _mm512_setzero_ps(), _CMP_EQ_OQ) != 0;
    for (; others != 0; others &= others - 1) {
      const std::size_t other = k + static_cast<unsigned>(std::countr_zero(others));
      std::uint32_t value = 0;
      if (!value_of_word(words, other, space, value)) return other;
      zeros |= value << 1 == 0;
      std::memcpy(values + other, &value, sizeof value);
    }
  }
  return words.count;
}
#endif

// The key of a name of any length; name and prefix are put together at `room`.
[[gnu::noinline]] inline std::uint64_t key_of_long_name(const Space& space, const char* name,
                                                        std::size_t size, char* room) noexcept {
  space.write(room, name, size);
  return key_of_padded_name(room, space.prefix_size() + size);
}

// Writes keys, and names where these are wanted, until a word has no name; says how many.
template <bool kNaming>
[[gnu::always_inline]] inline std::size_t read_names(const WordList& words, const Space& space,
                                                     RowBuilder::Room& room) noexcept {
  const std::size_t before = space.prefix_size(), most = before < 16 ? 16 - before : 0;
  const Words2 prefix = words_of(space.prefix), behind = ~kSizes.of[16 - most].own;
  const char* const prefixed = words.text + 1 - before;  // where a name and room for its prefix start
  const Sizes::Size* const sizes = kSizes.of + (16 - most);
  std::int64_t* const keys = room.keys + room.size;
  std::size_t name_end = room.name_end;
  for (std::size_t k = 0; k < words.count; ++k) {
    const std::size_t place = words.places[k], size = words.ends[k] - place - 1;
    if (size - 1 < most) [[likely]] {
      Words2 name;
      std::memcpy(&name, prefixed + place, 16);
      name = (name & behind & sizes[size].own) | prefix;
      const Words2 mixed = name ^ sizes[size].seed;
      keys[k] = static_cast<std::int64_t>(fold(mixed[0], mixed[1]) >> 1);
      if constexpr (kNaming) std::memcpy(room.names + name_end, &name, 16);
    } else {
      if (size == 0) return k;
      keys[k] = static_cast<std::int64_t>(
          key_of_long_name(space, words.text + place + 1, size, room.names + name_end));
    }
    if constexpr (kNaming) {
      name_end += before + size;
      room.name_ends[room.size + k + 1] = static_cast<std::int64_t>(name_end);
    }
  }
  return words.count;
}

// Writes the words to the room until one is odd, and says how many they are.
using ReadWords = std::size_t (*)(const WordList& words, const Space& space, RowBuilder::Room& room) noexcept;

using ReadValues = std::size_t (*)(const WordList& words, const Space& space, float* values,
                                   bool& zeros) noexcept;

template <bool kNaming, ReadValues kReadValues>
[[gnu::always_inline]] inline std::size_t read_words_with(WordList words, const Space& space,
                                                          RowBuilder::Room& room) noexcept {
  words.count = read_names<kNaming>(words, space, room);
  words.count = kReadValues(words, space, room.values + room.size, room.zeros);
  room.size += words.count;
  if (kNaming && words.count > 0) room.name_end = static_cast<std::size_t>(room.name_ends[room.size]);
  return words.count;
}

template <bool kNaming>
std::size_t read_words(const WordList& words, const Space& space, RowBuilder::Room& room) noexcept {
  return read_words_with<kNaming, read_values>(words, space, room);
}
#if defined(RIATA_HAS_WIDE)
template <bool kNaming>
RIATA_FOR_AVX2 std::size_t read_words_avx2(const WordList& words, const Space& space,
                                           RowBuilder::Room& room) noexcept {
  return read_words_with<kNaming, read_values>(words, space, room);
}
template <bool kNaming>
RIATA_FOR_AVX512 std::size_t read_words_avx512(const WordList& words, const Space& space,
                                               RowBuilder::Room& room) noexcept {
  return read_words_with<kNaming, read_values_avx512>(words, space, room);
}
#endif

template <bool kNaming>
ReadWords widest_read_words() noexcept {
#if defined(RIATA_HAS_WIDE)
  switch (best_instructions()) {
    case Instructions::avx512:
      return &read_words_avx512<kNaming>;
    case Instructions::avx2:
      return &read_words_avx2<kNaming>;
    case Instructions::plain:
      break;
  }
#endif
  return &read_words<kNaming>;
}

}  // namespace riata::vw
