// The entries of each row that count most.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace riata {

// At most `most` entries of the row begin .. end, the largest in absolute value first; of equals the first one first.
// Those that are zero count for nothing. How many were found.
inline std::int64_t strongest(const double* sizes, std::int64_t begin, std::int64_t end, std::int64_t most,
                              std::vector<std::int64_t>& order, std::int64_t* out) {
  order.clear();
  for (std::int64_t k = begin; k < end; ++k)
    if (sizes[k] != 0) order.push_back(k);
  const auto stronger = [&](std::int64_t a, std::int64_t b) {
    const double x = std::fabs(sizes[a]), y = std::fabs(sizes[b]);
    return x != y ? x > y : a < b;
  };
  const auto found = std::min<std::int64_t>(most, static_cast<std::int64_t>(order.size()));
  std::partial_sort(order.begin(), order.begin() + found, order.end(), stronger);
  std::copy(order.begin(), order.begin() + found, out);
  return found;
}

}  // namespace riata
