// The active features of some rows, and how two threads share their curvature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "riata/sketch/curvature.hpp"

namespace riata {

struct ActiveRow {
  const Entry* entries;
  std::int32_t count;
  double curvature;

  std::int32_t below(std::int32_t slot) const noexcept {
    std::int32_t n = 0;
    for (std::int32_t k = 0; k < count; ++k) n += entries[k].slot < slot;
    return n;
  }
};

// The slot below which half of the work is, judged by some of the rows: the same for both threads.
template <class Matrix>
std::int32_t middle_slot(const ActiveRow* rows, std::int64_t count, std::size_t slots) {
  constexpr std::int64_t kEvery = 32;
  constexpr std::int32_t kFixed = 2;  // what an entry costs besides its products
  std::vector<std::int64_t> work(slots, 0);
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < count; i += kEvery) {
    const ActiveRow& row = rows[i];
    for (std::int32_t k = 0; k < row.count; ++k) {
      const std::int32_t cost = kFixed + (Matrix::kOrdered ? k : row.count);
      work[static_cast<std::size_t>(row.entries[k].slot)] += cost;
      total += cost;
    }
  }
  std::int32_t slot = 0;
  for (std::int64_t below = 0; 2 * below < total; ++slot) below += work[static_cast<std::size_t>(slot)];
  return slot;
}

}  // namespace riata
