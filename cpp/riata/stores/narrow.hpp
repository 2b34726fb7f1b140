// Rows that become narrower where they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "riata/base/zero_pages.hpp"

namespace riata {

// Of every row only the numbers that stand at these places, which ascend, in this order. What lies behind the rows is
// zero, and costs no memory.
template <class Number>
void narrow_rows(ZeroPages& memory, std::uint64_t rows, std::uint64_t width,
                 const std::vector<int>& kept) noexcept {
  Number *const first = memory.as<Number>(), *to = first;
  for (std::uint64_t r = 0; r < rows; ++r)
    for (const int place : kept) *to++ = first[r * width + static_cast<std::uint64_t>(place)];
  memory.release_after(rows * kept.size() * sizeof(Number));
}

}  // namespace riata
