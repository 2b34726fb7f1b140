// The way back from the numbers of a cache: names, each once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace riata {

// A view: owns nothing.
struct GlossaryView {
  std::size_t size = 0;
  const char* names = nullptr;
  const std::int64_t* name_offsets = nullptr;  // ascending, inside `names`

  // Nobody has looked at the numbers of a file yet.
  bool holds(const std::uint32_t* numbers, std::size_t n) const noexcept {
    std::uint32_t most = 0;
    for (std::size_t k = 0; k < n; ++k) most = std::max(most, numbers[k]);
    return n == 0 || most < size;
  }
  // Where the names of such features begin and end when they lie one behind another.
  void offsets_of(const std::uint32_t* numbers, std::size_t n, std::int64_t* out) const noexcept {
    out[0] = 0;
    for (std::size_t k = 0; k < n; ++k)
      out[k + 1] = out[k] + (name_offsets[numbers[k] + std::size_t{1}] - name_offsets[numbers[k]]);
  }
  void names_of(const std::uint32_t* numbers, std::size_t n, char* out) const noexcept {
    for (std::size_t k = 0; k < n; ++k) {
      const std::int64_t begin = name_offsets[numbers[k]], end = name_offsets[numbers[k] + std::size_t{1}];
      if (end > begin) std::memcpy(out, names + begin, static_cast<std::size_t>(end - begin));
      out += end - begin;
    }
  }
};

}  // namespace riata
