// The features of Vowpal Wabbit text that look like most: a blank, a name, and perhaps a colon and a number.
//
// Where they begin and end is found ahead (see stops.hpp), and all of them up to the end of a line or of a
// namespace are read at once. Whatever looks different is left to the careful reader of vw.hpp, which alone
// knows what is wrong with it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "riata/block/named_row_builder.hpp"
#include "riata/formats/vw/words.hpp"
#include "riata/text/stops.hpp"

namespace riata::vw {

class Quick {
 public:
  Quick(const char* text, std::size_t size, RowBuilder& row) noexcept
      : text_(text),
        size_(size),
        stops_(text, size, widest_find_places()),
        row_(row),
        read_words_(row.naming() ? widest_read_words<true>() : widest_read_words<false>()) {}

  // Memory for as many features as the first stops promise.
  bool prepare() noexcept {
    stops_.pass_to(0);
    const std::size_t count = stops_.count(), seen = stops_.stops()[count - 1] + std::size_t{1};
    const std::size_t features = count * (size_ / seen + 1);
    return row_.prepare(features + features / 8 + 16, size_ + size_ / 4);
  }

  // Reads features from p, a blank, as many as look like most; leaves p behind them. False: no memory.
  bool read(const Space& space, const char*& p) noexcept {
    stops_.pass_to(static_cast<std::size_t>(p - text_));
    for (bool more = true; more;) {
      const std::uint32_t* const stops = stops_.stops();
      const std::size_t count = stops_.words();
      const char after = text_[stops[count]];
      // Names may hold control characters: what stands before one is left to the careful reader.
      const bool plain = after == ' ' || after == '\n' || after == '|';
      const WordList words{text_, stops, stops_.ends(), stops_.firsts(),
                           plain || count == 0 ? count : count - 1};
      const std::size_t longest = std::max<std::size_t>(16, space.prefix_size());
      RowBuilder::Room room;
      if (!row_.open(count + 16, stops[count] - stops[0] + (row_.naming() ? count + 1 : 1) * longest, room))
        return false;
      const std::size_t read = read_words_(words, space, room);
      if (!row_.close(room)) return false;
      stops_.pass(read);
      more = read == count && after == ' ';
    }
    p = text_ + stops_.stops()[0];
    return true;
  }

 private:
  const char* const text_;
  const std::size_t size_;
  Stops stops_;
  RowBuilder& row_;
  const ReadWords read_words_;
};

}  // namespace riata::vw
