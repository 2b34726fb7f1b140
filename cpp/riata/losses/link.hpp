// Links of a binary model: the loss -log P(y | m) at the margin m, its slope and its curvature in m.
// They are the a, b and c of Balakrishnan & Madigan 2008, appendix A: a = -curvature / 2,
// b = curvature * m - slope, and hold in both tails, where the paper's quotients are 0 / 0.
#pragma once

#include <cmath>
#include <string_view>

namespace riata {

struct Term {
  double loss, slope, curvature;
};

struct Logit {
  static Term at(double m, double y) noexcept {  // y is -1 or +1
    const double z = y * m;
    const double e = std::exp(-std::fabs(z));
    const double q = 1 / (1 + e);
    const double miss = z > 0 ? e * q : q;  // the probability of the other class
    return {(z > 0 ? 0 : -z) + std::log1p(e), -y * miss, e * q * q};
  }
  static double probability(double m) noexcept {
    return m > 0 ? 1 / (1 + std::exp(-m)) : std::exp(m) / (1 + std::exp(m));
  }
};

struct Probit {
  static Term at(double m, double y) noexcept {
    const double z = y * m;
    if (z < kTail) return tail(z, y);
    const double cdf = std::erfc(-z * kRootHalf) / 2;
    const double ratio = kRootTwoPi * std::exp(-z * z / 2) / cdf;  // the normal density over its integral
    const double loss = z > 0 ? -std::log1p(-std::erfc(z * kRootHalf) / 2) : -std::log(cdf);
    return {loss, -y * ratio, ratio * (z + ratio)};
  }
  static double probability(double m) noexcept { return std::erfc(-m * kRootHalf) / 2; }

 private:
  static constexpr double kTail =
      -30;  // the series below is exact to 1e-12 from here, erfc underflows at -37
  static constexpr double kRootHalf = 0.70710678118654752440;
  static constexpr double kRootTwoPi = 0.39894228040143267794;     // 1 / sqrt(2 pi)
  static constexpr double kLogRootTwoPi = 0.91893853320467274178;  // log(sqrt(2 pi))

  static Term tail(double z, double y) noexcept {
    const double u = 1 / (z * z);
    const double excess = (1 + u * (-2 + u * (10 - 74 * u))) / -z;  // ratio + z
    const double ratio = excess - z;
    return {z * z / 2 + kLogRootTwoPi + std::log(ratio), -y * ratio, ratio * excess};
  }
};

struct Link {
  std::string_view name;
  Term (*at)(double m, double y) noexcept;
  double (*probability)(double m) noexcept;
};

inline constexpr Link kLinks[] = {
    {"logit", Logit::at, Logit::probability},
    {"probit", Probit::at, Probit::probability},
};

inline const Link* find_link(std::string_view name) noexcept {
  for (const Link& link : kLinks)
    if (link.name == name) return &link;
  return nullptr;
}

}  // namespace riata
