// The features of Vowpal Wabbit text that look like most: a blank, a name, and perhaps a colon and a number.
//
// They are read from stop to stop (see stops.hpp). Whatever looks different is left to the careful reader of
// vw.hpp, which alone knows what is wrong with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "riata/decimal.hpp"
#include "riata/named.hpp"
#include "riata/stops.hpp"

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

class Quick {
 public:
  Quick(const char* text, std::size_t size, RowBuilder& row) noexcept
      : text_(text), size_(size), stops_(text, size, widest_find_places()), row_(row) {}

  // Memory for as many features as the first stops promise.
  bool prepare() noexcept {
    stops_.pass_to(0);
    const std::size_t count = stops_.count(), seen = stops_.stops()[count - 1] + std::size_t{1};
    const std::size_t features = count * (size_ / seen + 1);
    return row_.prepare(features + features / 8 + 16, size_ + size_ / 4);
  }

  // Reads features from p, a blank, as many as look like most; leaves p behind them. False: no memory.
  bool read(const Space& space, const char*& p) noexcept {
    return row_.naming() ? read_as<true>(space, p) : read_as<false>(space, p);
  }

 private:
  template <bool kNaming>
  bool read_as(const Space& space, const char*& p) noexcept {
    stops_.pass_to(static_cast<std::size_t>(p - text_));
    bool more = true;
    while (more) {
      const std::size_t count = stops_.count();
      const std::size_t most = stops_.stops()[count - 1] - stops_.stops()[0] +
                               (kNaming ? count : 1) * std::max<std::size_t>(16, space.prefix_size());
      RowBuilder::Room room;
      if (!row_.open(count, most, room)) return false;
      more = read_window<kNaming>(space, room);
      if (!row_.close(room)) return false;
    }
    p = text_ + stops_.stops()[0];
    return true;
  }

  // Reads as long as stops last; false if it had another reason to end.
  template <bool kNaming>
  bool read_window(const Space& space, RowBuilder::Room& out) noexcept {
    const char* const text = text_;
    const std::uint32_t *stops = stops_.stops(), *colons = stops_.colons();
    const std::uint32_t *const first_stop = stops, *const first_colon = colons;
    const std::uint32_t* last = stops + stops_.count() - 1;
    const std::size_t before = space.prefix_size(), most = before < 16 ? 16 - before : 0;
    const Words2 prefix = words_of(space.prefix), behind = ~kSizes.of[16 - most].own;
    const char* const prefixed = text + 1 - before;  // where a name and room for its prefix start
    const Sizes::Size* const sizes = kSizes.of + (16 - most);
    const std::uint32_t* const digits = space.digits + 1;
    RowBuilder::Room room = out;
    std::int64_t stop = *stops;
    bool odd = text[stop] != ' ';
    while (!odd && stops != last) {
      // With a number or without: which one comes next nobody can foretell, so there is no branch.
      const std::int64_t end = stops[1], next = *colons;
      const std::int64_t given = (next - end) >> 63, length = (end - next) & given, colon = end - length;
      const std::int64_t digit = (static_cast<unsigned char>(text[colon + 1]) - std::int64_t{'1'}) & given;
      std::uint32_t value;
      if ((length & ~2) == 0 && static_cast<std::uint64_t>(digit + 1) < 10) {
        value = digits[digit];
      } else {
        float number = 0;
        odd = length < 2 || !read_until(text, text + colon + 1, text + end, number);
        number *= space.weight;
        odd = odd || !std::isfinite(number);
        if (odd) break;
        value = std::bit_cast<std::uint32_t>(number);
      }
      if (text[end] != ' ') {
        odd = text[end] != '\n' && text[end] != '|';
        if (odd) break;
        last = stops + 1;
      }
      const auto size = static_cast<std::size_t>(colon - stop - 1);
      if (size - 1 < most) [[likely]] {
        Words2 name;
        std::memcpy(&name, prefixed + stop, 16);
        name = (name & behind & sizes[size].own) | prefix;
        const Words2 mixed = name ^ sizes[size].seed;
        room.keys[room.size] = static_cast<std::int64_t>(fold(mixed[0], mixed[1]) >> 1);
        if constexpr (kNaming) std::memcpy(room.names + room.name_end, &name, 16);
      } else {
        odd = size == 0;
        if (odd) break;
        char* const name = room.names + room.name_end;
        space.write(name, text + stop + 1, size);
        room.keys[room.size] = static_cast<std::int64_t>(key_of_padded_name(name, before + size));
      }
      std::memcpy(room.values + room.size, &value, sizeof value);
      const bool counts = value << 1 != 0;
      room.size += counts;
      if constexpr (kNaming) {
        room.name_end += counts ? before + size : 0;
        room.name_ends[room.size] = static_cast<std::int64_t>(room.name_end);
      }
      stop = end;
      ++stops;
      colons -= given;
    }
    out = room;
    stops_.pass(static_cast<std::size_t>(stops - first_stop), static_cast<std::size_t>(colons - first_colon));
    return !odd && text[stop] == ' ';
  }

  const char* const text_;
  const std::size_t size_;
  Stops stops_;
  RowBuilder& row_;
};

}  // namespace riata::vw
