// Kernels of index_value.hpp, and what they hand on.
#pragma once

#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

struct Pairs {
  static constexpr int kMost = 128;  // read at once
  static constexpr int kSlack = 8;   // entries behind the last that may be written to
  static constexpr int kReach = 16;  // bytes before the first word that must be readable

  int count = 0;
  bool regular = true;                  // all keys ascend; no value is zero or in doubt
  std::int32_t keys[kMost + kSlack];    // the whole numbers
  float values[kMost + kSlack];         // the decimal ones
  std::int32_t doubts[kMost + kSlack];  // 1 where the last rounding may have gone the wrong way

  struct Digits {
    std::int32_t zero, key, high, low;  // of the decimal number, eight and eight
  };
  alignas(16) Digits digits[1 + kMost + kSlack];  // from digits[1]
  double power[kMost + kSlack];                   // what divides them, with their sign
  int n_odd = 0;                                  // those read one by one...
  int odd_places[kMost];
  float odd_values[kMost];  // ...and what they are
};

struct IndexValueKernels {
  // Digits to integers: the words from `first` on, of those that end at places[1], places[3], ...; the first of
  // all begins behind places[-1]. Returns how many are read in all, stopping behind a word that ends in
  // anything but a blank and before one that is odd.
  int (*join)(const char* text, const std::uint32_t* places, int first, int most, Pairs& pairs) noexcept;
  // Integers to floats, and whether all is regular, `last` being the key before the first.
  void (*round)(std::int32_t last, Pairs& pairs) noexcept;
};
// Without wide instructions there are none: both are null.
RIATA_DECLARE_KERNELS(IndexValueKernels, index_value_kernels)

}  // namespace riata
