// Words of Vowpal Wabbit text to keys and values: see common_features.hpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "riata/block/named_row_builder.hpp"
#include "riata/formats/vw/word_kernels.hpp"
#include "riata/text/decimal.hpp"

namespace riata::vw {

// The namespace of the features that are read: what stands before their names, and what their values are
// multiplied by.
struct Space {
  const char* name = nullptr;
  std::size_t size = 0;
  float weight = 1;
  ShortName prefix = 0;  // the name and ^, where these have up to 15 bytes
  float digits[10];      // 0 to 9 times the weight

  Space() noexcept { set_weight(1); }
  std::size_t prefix_size() const noexcept { return size + (size > 0); }

  void set_weight(float factor) noexcept {
    weight = factor;
    for (int digit = 0; digit < 10; ++digit) digits[digit] = factor * static_cast<float>(digit);
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

// The value of word k, which has one, multiplied by the weight; false if it is not a number, or none that a
// float holds.
inline bool read_value(const WordList& words, std::size_t k, const Space& space, float& value) noexcept {
  const char *const from = words.text + words.ends[k] + 1, *const to = words.text + words.places[k + 1];
  if (from >= to || !read_until(words.text, from, to, value)) return false;
  value *= space.weight;
  return std::isfinite(value);
}

// Writes values until one is odd, and says how many; `zeros` is set if one of them is zero. Up to 15 more may
// be overwritten behind them.
inline std::size_t read_values(const WordKernels& kernels, const WordList& words, const Space& space,
                               float* values, bool& zeros) noexcept {
  for (std::size_t k = 0; k < words.count; k += WordKernels::kAtOnce) {
    unsigned others = kernels.read_values(words, k, space.digits, values + k, zeros);
    for (; others != 0; others &= others - 1) {
      const std::size_t other = k + static_cast<unsigned>(std::countr_zero(others));
      if (!read_value(words, other, space, values[other])) return other;
      zeros |= values[other] == 0;
    }
  }
  return words.count;
}

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
template <bool kNaming>
std::size_t read_words(const WordKernels& kernels, WordList words, const Space& space,
                       RowBuilder::Room& room) noexcept {
  words.count = read_names<kNaming>(words, space, room);
  words.count = read_values(kernels, words, space, room.values + room.size, room.zeros);
  room.size += words.count;
  if (kNaming && words.count > 0) room.name_end = static_cast<std::size_t>(room.name_ends[room.size]);
  return words.count;
}

}  // namespace riata::vw
