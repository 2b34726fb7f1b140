// How the texts of a column become features: see words/.
#pragma once

#include <cstdint>

namespace riata {

// `date`: it is no text of words, but a date, whose parts are features.
enum class NgramWeight : std::uint8_t { count, presence, log, date };

struct Ngrams {  // from and up to so many; 0: none
  static constexpr int kMostWords = 8, kMostChars = 16;
  int words_low = 1, words_high = 2, chars_low = 0, chars_high = 0;

  bool valid() const noexcept {
    const auto fine = [](int low, int high, int most) {
      return (low == 0 && high == 0) || (low >= 1 && low <= high && high <= most);
    };
    return fine(words_low, words_high, kMostWords) && fine(chars_low, chars_high, kMostChars);
  }
};

struct TextSpec {
  Ngrams ngrams;
  NgramWeight weight = NgramWeight::log;
  bool norm = false;  // the values of a text are divided by their length
};

}  // namespace riata
