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
  Wide prefix = 0;  // the name and ^, where these have up to 15 bytes

  std::size_t prefix_size() const noexcept { return size + (size > 0); }

  void set(const char* start, std::size_t length) noexcept {
    name = start;
    size = length;
    weight = 1;
    prefix = 0;
    if (size > 0 && size < 15) {
      std::memcpy(&prefix, start, size);
      prefix |= static_cast<Wide>('^') << (8 * size);
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

constexpr Words2 words_of(Wide wide) noexcept {
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
      : text_(text), stops_(text, size, widest_find_places()), row_(row) {}

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
    const std::uint32_t* stops = stops_.stops();
    const std::uint32_t* colons = stops_.colons();
    const std::uint32_t *const first_stop = stops, *const first_colon = colons;
    const std::uint32_t* const last = stops + stops_.count() - 1;
    const std::size_t before = space.prefix_size();
    const std::size_t most = before < 16 ? 16 - before : 0;
    const Words2 prefix = words_of(space.prefix), behind = ~kSizes.of[before < 16 ? before : 16].own;
    const float weight = space.weight;
    RowBuilder::Room room = out;
    std::int64_t stop = *stops;
    bool more = text[stop] == ' ';
    while (more) {
      if (stops == last) break;
      // With a number or without: which one comes next nobody can foretell, so there is no branch.
      const std::int64_t end = stops[1];
      const std::int64_t given = (*colons - end) >> 63, length = (end - *colons) & given;
      const std::int64_t colon = end - length;
      const std::int64_t digit = 1 + ((static_cast<unsigned char>(text[colon + 1]) - '1') & given);
      float value = weight * static_cast<float>(static_cast<int>(digit));
      if ((length & ~2) != 0 || static_cast<std::uint64_t>(digit) > 9) {
        float number = 0;  // its own: what is handed out by address does not stay in a register
        more = length >= 2 && read_until(text, text + colon + 1, text + end, number);
        value = number * weight;
        if (!more || !std::isfinite(value)) {
          more = false;
          break;
        }
      }
      const auto size = static_cast<std::size_t>(colon - stop - 1), whole = before + size;
      const char after = text[end];
      if (after != ' ') {
        more = false;
        if (after != '\n' && after != '|') break;
      }
      const bool counts = std::bit_cast<std::uint32_t>(value) << 1 != 0;
      if (size - 1 < most) [[likely]] {
        Words2 name;
        std::memcpy(&name, text + stop + 1 - before, 16);
        name = (name & kSizes.of[whole].own & behind) | prefix;
        const Words2 mixed = name ^ kSizes.of[whole].seed;
        room.keys[room.size] = static_cast<std::int64_t>(fold(mixed[0], mixed[1]) >> 1);
        if constexpr (kNaming) std::memcpy(room.names + room.name_end, &name, 16);
      } else {
        if (size == 0) {
          more = false;
          break;
        }
        char* const name = room.names + room.name_end;
        space.write(name, text + stop + 1, size);
        room.keys[room.size] = static_cast<std::int64_t>(key_of_padded_name(name, whole));
      }
      room.values[room.size] = value;
      room.size += counts;
      if constexpr (kNaming) {
        room.name_end += counts ? whole : 0;
        room.name_ends[room.size] = static_cast<std::int64_t>(room.name_end);
      }
      stop = end;
      ++stops;
      colons -= given;
    }
    out = room;
    stops_.pass(static_cast<std::size_t>(stops - first_stop), static_cast<std::size_t>(colons - first_colon));
    return more;
  }

  const char* const text_;
  Stops stops_;
  RowBuilder& row_;
};

}  // namespace riata::vw
