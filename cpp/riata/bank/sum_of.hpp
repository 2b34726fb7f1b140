// Sums over the features of an example for eight columns at a time. For kernel sources.
#pragma once

#include <cstdint>

#include "riata/simd/vector.hpp"

namespace riata::RIATA_TARGET {

// The sum of work(k), which is to be inlined: added up by place, modulo four, it has the bits of one column alone.
template <class Work>
RIATA_INLINE Eight sum_of(std::int64_t n, const Work& work) noexcept {
  Eight a = eight(0.0), b = a, c = a, d = a;
  std::int64_t k = 0;
  for (; k + 4 <= n; k += 4) a = a + work(k), b = b + work(k + 1), c = c + work(k + 2), d = d + work(k + 3);
  for (int place = 0; k < n; ++k, ++place) {
    const Eight more = work(k);
    if (place == 0)
      a = a + more;
    else if (place == 1)
      b = b + more;
    else
      c = c + more;
  }
  return (a + b) + (c + d);
}

}  // namespace riata::RIATA_TARGET
