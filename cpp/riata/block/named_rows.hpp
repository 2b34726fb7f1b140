// Rows of named features, and what goes into them: names as words, and which groups of features are crossed.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "riata/base/array.hpp"
#include "riata/text/parse_error.hpp"

namespace riata {

inline constexpr std::size_t kNameSlack = 32;  // bytes that may be written and read behind a name

struct NamedRows {
  Array<double> labels;
  Array<double> weights;
  Array<double> offsets;       // none as long as all are 0
  Array<std::int64_t> indptr;  // one more than there are rows
  Array<std::int64_t> keys;
  Array<float> values;
  Array<std::uint8_t> names;
  Array<std::int64_t> name_offsets;  // one more than there are features; in use only where names are kept
  Array<std::int64_t> lines;         // of each row, the first line of the text being 0
  std::int64_t n_lines = 0;          // read without error
};

using ShortName = unsigned __int128;  // a name of up to 16 bytes, zeros behind it

struct Masks {
  ShortName mask[17] = {};
  constexpr Masks() noexcept {
    for (int i = 1; i <= 16; ++i) mask[i] = mask[i - 1] << 8 | 0xFF;
  }
};
inline constexpr Masks kMasks{};

// The first `size` bytes at p, up to 16, of which all 16 are readable.
inline ShortName first_bytes(const char* p, std::size_t size) noexcept {
  ShortName word;
  std::memcpy(&word, p, 16);
  return word & kMasks.mask[size];
}

inline constexpr std::size_t kMostFactors = 3;  // of a cross

// Which groups of features (namespaces, columns) are multiplied with each other.
struct Crosses {
  static constexpr int kNone = -1;
  std::vector<std::string> groups;         // every group that some cross names, once
  std::vector<std::vector<int>> products;  // of two or three groups each

  int group_of(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (groups[i] == name) return static_cast<int>(i);
    }
    return kNone;
  }
};

enum class Added : std::uint8_t { fine, too_large, too_many, no_memory };

inline ErrorKind kind_of(Added added) noexcept {
  constexpr ErrorKind kinds[] = {nullptr, "sum_too_large", "row_too_long", "no_memory"};
  return kinds[static_cast<std::size_t>(added)];
}

}  // namespace riata
