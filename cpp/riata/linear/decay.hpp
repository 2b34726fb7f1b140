// What becomes of a weight in steps that do not touch it, for rules that can tell from two numbers: the mark in the
// weight's row, which is a running scalar of the rule as it was at the last touch, and that scalar now.
#pragma once

#include <cstdint>

#include "riata/simd/vector.hpp"

namespace riata {

enum class DecayKind : std::uint8_t {
  none,      // the rule has another way
  shrink,    // towards zero by now - mark
  truncate,  // the same for weights up to theta
  round,     // weights up to theta become zero where now differs from the mark
};

struct Decay {
  double now = 0;    // the running scalar
  double theta = 0;  // of truncate and round
};

namespace RIATA_TARGET {

template <DecayKind kind, class T>  // T: double, or Four
RIATA_INLINE T decayed(const Decay& decay, const T& v, const T& mark) noexcept {
  if constexpr (kind == DecayKind::shrink)
    return shrink(v, decay.now - mark);
  else if constexpr (kind == DecayKind::truncate)
    return select(abs(v) <= decay.theta, shrink(v, decay.now - mark), v);
  else
    return select((mark != decay.now) & (abs(v) <= decay.theta), all<T>(0), v);
}

}  // namespace RIATA_TARGET
}  // namespace riata
