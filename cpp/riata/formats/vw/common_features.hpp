// The features of Vowpal Wabbit text that look like most: a blank, a name, and perhaps a colon and a number.
//
// Where they begin and end is found ahead (see delimiters.hpp), and all of them up to the end of a line or of a
// namespace are read at once. Whatever looks different is left to the careful reader of reader.hpp, which alone
// knows what is wrong with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "riata/block/named_row_builder.hpp"
#include "riata/formats/vw/words.hpp"
#include "riata/text/delimiters.hpp"

namespace riata::vw {

class CommonFeatures {
 public:
  CommonFeatures(const char* text, std::size_t size, RowBuilder& row) noexcept
      : text_(text), size_(size), scan_(text, size, {{' ', ' '}, {'|', '|'}, ' '}, true), row_(row) {}

  // Memory for as many features as the first delimiters promise.
  bool prepare() noexcept {
    if (DelimiterScan::possible(size_)) scan_.need(1);
    const std::size_t count = scan_.count(),
                      seen = count > 0 ? scan_.places()[count - 1] + std::size_t{1} : 8;
    const std::size_t features = (count + 1) * (size_ / seen + 1);
    return row_.prepare(features + features / 8 + 16, size_ + size_ / 4);
  }

  // Reads features from p, a blank, as many as look like most; leaves p behind them. False: no memory.
  bool read(const Space& space, const char*& p) noexcept {
    // Where a digit times the weight may be too large, the careful reader finds out which.
    if (!DelimiterScan::possible(size_) || !std::isfinite(space.digits[9])) return true;
    scan_.pass_to(static_cast<std::size_t>(p - text_));
    // The newline at the end of the text is always there.
    for (bool more = true; more && (scan_.need(2) || scan_.count() > 0);) {
      const std::uint32_t* const places = scan_.places();
      const std::size_t count = std::min(scan_.before_break(), scan_.count() - 1);
      const char after = text_[places[count]];
      // Names may hold control characters: what stands before one is left to the careful reader.
      const bool usual = after == ' ' || after == '\n' || after == '|';
      const WordList words{text_, places, scan_.name_ends(), scan_.values(),
                           usual || count == 0 ? count : count - 1};
      const std::size_t longest = std::max<std::size_t>(16, space.prefix_size());
      RowBuilder::Room room;
      if (!row_.open(count + 16, places[count] - places[0] + (row_.naming() ? count + 1 : 1) * longest, room))
        return false;
      const std::size_t read = row_.naming() ? read_words<true>(kernels_, words, space, room)
                                             : read_words<false>(kernels_, words, space, room);
      if (!row_.close(room)) return false;
      p = text_ + places[read];
      scan_.pass(read);
      more = read == count && count > 0 && after == ' ';
    }
    return true;
  }

 private:
  const char* const text_;
  const std::size_t size_;
  DelimiterScan scan_;
  RowBuilder& row_;
  const WordKernels& kernels_ = best_word_kernels();
};

}  // namespace riata::vw
