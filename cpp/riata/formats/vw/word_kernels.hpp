// Kernels that read the values of words of Vowpal Wabbit text. See words.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata::vw {

// Many words of one namespace, each a name and perhaps a colon and a number: word k stands between places[k]
// and places[k + 1], its name before ends[k], and values[k] is the byte behind that one.
struct WordList {
  const char* text;
  const std::uint32_t* places;
  const std::uint32_t* ends;
  const char* values;
  std::size_t count;
};

}  // namespace riata::vw

namespace riata {

struct WordKernels {
  static constexpr std::size_t kAtOnce = 16;

  // The values of up to kAtOnce words from word k on: writes kAtOnce of them, whatever the last ones are. Bit i of
  // what it returns is set where that of word k + i is none of the most common ones (none at all, a digit,
  // perhaps a fraction) and is left to others. `digits` are 0 to 9 times the weight of the namespace; `zeros` is
  // set if a value is zero.
  unsigned (*read_values)(const vw::WordList& words, std::size_t k, const float* digits, float* values,
                          bool& zeros) noexcept;
};
RIATA_DECLARE_KERNELS(WordKernels, word_kernels)

}  // namespace riata
