// One step of FTRL-Proximal for one weight, or for several side by side.
#pragma once

#include "riata/simd/vector.hpp"

namespace riata {

struct FtrlSettings {
  double per_alpha, beta, l1, l2;  // 1 / alpha: quotients are slow
};

namespace RIATA_TARGET {

// w, z and s = sqrt(n) of Algorithm 1, moved by the gradient g.
template <class T>
RIATA_INLINE void ftrl_step(const FtrlSettings& by, T& w, T& z, T& s, const T& g) noexcept {
  const T after = square_root(s * s + g * g);
  z = z + (g - (after - s) * by.per_alpha * w);
  s = after;
  const T moved = (copy_sign(all<T>(by.l1), z) - z) / ((by.beta + s) * by.per_alpha + by.l2);
  w = select(abs(z) <= by.l1, all<T>(0), moved);
}

}  // namespace RIATA_TARGET
}  // namespace riata
