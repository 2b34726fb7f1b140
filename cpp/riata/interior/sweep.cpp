#include "riata/interior/sweep.hpp"

namespace riata {

namespace {

double fall(double x, double z, double g, double mu) noexcept {
  const Change<double> d = direction(x, z, g, 1 / (x * (x + z)), mu);
  return std::fmax(-d.x / x, -d.z / z);
}

}  // namespace

double fastest_fall(HalfView pos, HalfView neg, const double* gradient, std::int64_t n, double l1,
                    double mu) noexcept {
  double fastest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    fastest = max(fall(pos.x[i], pos.z[i], l1 + gradient[i], mu), fastest);
    fastest = max(fall(neg.x[i], neg.z[i], l1 - gradient[i], mu), fastest);
  }
  return fastest;
}

namespace {

struct BoundedChange {
  double x, z, y;
};

// As above with an upper bound: r = hi - x, whose inverse is 0 where there is none.
BoundedChange bounded_direction(double s, double inverse_r, double z, double y, double g,
                                double mu) noexcept {
  const double inverse_s = 1 / s;
  const double dx = (mu * inverse_s - mu * inverse_r - g) / (1 + z * inverse_s + y * inverse_r);
  return {dx, mu * inverse_s - z - z * dx * inverse_s, mu * inverse_r - y + y * dx * inverse_r};
}

// The nearest to a bound that x may come: its slack must not vanish in rounding.
double innermost(double lo) noexcept { return lo == 0 ? kTiny : lo + std::fabs(lo) * 0x1p-50; }
double outermost(double hi) noexcept { return hi - std::fabs(hi) * 0x1p-50; }

}  // namespace

double sweep_bounded(BoundedView half, const double* gradient, double sign, std::int64_t n, double l1,
                     double mu, double a) noexcept {
  double product = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double lo = half.lo[i], hi = half.hi[i];
    if (!(lo < hi)) continue;
    const bool above = hi < std::numeric_limits<double>::infinity();
    double& x = half.x[i];
    const BoundedChange d = bounded_direction(x - lo, above ? 1 / (hi - x) : 0, half.z[i], half.y[i],
                                              l1 + sign * gradient[i], mu);
    x = max(x + a * d.x, innermost(lo));
    half.z[i] = max(half.z[i] + a * d.z, kTiny);
    if (above) {
      x = min(x, outermost(hi));
      half.y[i] = max(half.y[i] + a * d.y, kTiny);
      product += half.y[i] * (hi - x);
    }
    product += half.z[i] * (x - lo);
  }
  return product;
}

double fastest_fall_bounded(BoundedView half, const double* gradient, double sign, std::int64_t n, double l1,
                            double mu) noexcept {
  double fastest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double lo = half.lo[i], hi = half.hi[i];
    if (!(lo < hi)) continue;
    const bool above = hi < std::numeric_limits<double>::infinity();
    const double s = half.x[i] - lo, r = hi - half.x[i];
    const BoundedChange d =
        bounded_direction(s, above ? 1 / r : 0, half.z[i], half.y[i], l1 + sign * gradient[i], mu);
    fastest = max(max(-d.x / s, -d.z / half.z[i]), fastest);
    if (above) fastest = max(max(d.x / r, -d.y / half.y[i]), fastest);
  }
  return fastest;
}

}  // namespace riata
