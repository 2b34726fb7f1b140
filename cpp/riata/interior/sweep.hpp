// What a step does to each half of a weight, and the sweep over all of them.
//
// Bits do not depend on the machine: sums and extremes are taken in eight parts, whatever the width of its vectors,
// and are joined in a fixed order.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "riata/simd/vector.hpp"

namespace riata {

// Least slack and multiplier: what is divided by them stays far from overflow.
inline constexpr double kTiny = 1e-60;
inline constexpr double kFraction = 0.995;

namespace RIATA_TARGET {

template <class T>  // double, or Eight: the same arithmetic
struct Change {
  T x, z;
};

// eqs. 6 and 7 for one half x >= 0 with multiplier z and slope g of the objective, H = I:
//   dx = (mu / x - g) / (1 + z / x),   dz = mu / x - z - z dx / x,
// given r = 1 / (x (x + z)), of which 1 / (x + z) and 1 / x are multiples.
template <class T>
RIATA_INLINE Change<T> direction(const T& x, const T& z, const T& g, const T& r, double mu) noexcept {
  const T dx = (mu - g * x) * (r * x);
  return {dx, (mu - z * dx) * (r * (x + z)) - z};
}

// Takes a step of length a with both halves of a weight; adds their x * z to `product` and lowers `least` to
// x + z. One division serves all four: those of the formulas are multiples of its result.
template <class T>
RIATA_INLINE void advance(T& px, T& pz, T& nx, T& nz, const T& g, double l1, double mu, double a, T& product,
                          T& least) noexcept {
  const T p = px * (px + pz), n = nx * (nx + nz);
  const T r = 1.0 / (p * n);
  const Change<T> dp = direction<T>(px, pz, l1 + g, r * n, mu);
  const Change<T> dn = direction<T>(nx, nz, l1 - g, r * p, mu);
  px = max(px + a * dp.x, all<T>(kTiny));
  pz = max(pz + a * dp.z, all<T>(kTiny));
  nx = max(nx + a * dn.x, all<T>(kTiny));
  nz = max(nz + a * dn.z, all<T>(kTiny));
  product = product + (px * pz + nx * nz);
  least = min(min(px + pz, nx + nz), least);
}

}  // namespace RIATA_TARGET

struct Swept {
  double product = 0;
  double least = std::numeric_limits<double>::infinity();
};

struct HalfView {
  double* x;
  double* z;
};

struct SweepKernels {
  // Takes the step of length a with n weights.
  Swept (*sweep)(HalfView pos, HalfView neg, const double* gradient, std::int64_t n, double l1, double mu,
                 double a) noexcept;
};

RIATA_DECLARE_KERNELS(SweepKernels, sweep_kernels)

// The fastest fall of a slack or multiplier, relative to what is left of it: a step of 1 / fall would end it.
double fastest_fall(HalfView pos, HalfView neg, const double* gradient, std::int64_t n, double l1,
                    double mu) noexcept;

// The same where halves have bounds of their own: lo < x < hi, hi may be infinite. lo == hi: the half is
// absent.
struct BoundedView {
  double* x;
  double* z;
  double* y;
  const double* lo;
  const double* hi;
};

double sweep_bounded(BoundedView half, const double* gradient, double sign, std::int64_t n, double l1,
                     double mu, double a) noexcept;
double fastest_fall_bounded(BoundedView half, const double* gradient, double sign, std::int64_t n, double l1,
                            double mu) noexcept;

}  // namespace riata
