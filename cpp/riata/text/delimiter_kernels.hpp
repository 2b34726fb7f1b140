// Kernels that find the delimiters of a text: what they are told and what they write. See delimiters.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

// Which bytes are delimiters. Those that end more than a word or a cell, newlines above all, are breaks.
struct Delimiters {
  char within[2];     // no breaks; the two may be the same
  char breaks[2];     // the same
  unsigned char low;  // all other bytes up to this one are breaks too: NUL at least
};

// Lists that a kernel appends to. Up to kDelimiterSlack entries behind the last may be overwritten.
struct DelimiterLists {
  std::uint32_t* places;
  std::uint32_t* breaks;  // which delimiters, all of them being counted, are breaks
  std::uint32_t count;    // delimiters so far
  std::uint32_t* name_ends;
  char* values;
  bool open;  // the name behind the last delimiter has not ended yet
};
inline constexpr std::size_t kDelimiterSlack = 64;

struct DelimiterKernels {
  using Find = DelimiterLists (*)(const char* text, std::size_t begin, std::size_t end,
                                  const Delimiters& which, DelimiterLists lists) noexcept;
  Find find;        // those of text[begin, end), which is a multiple of 64 bytes: places and breaks
  Find find_names;  // all lists; the byte at `end` is looked at too, and a colon is no delimiter
};
RIATA_DECLARE_KERNELS(DelimiterKernels, delimiter_kernels)

}  // namespace riata
