// Losses: two scalar functions of (prediction p, label y): value and slope, the derivative in p.
// To add one: write the struct, add a line to kLosses. Python's list of losses comes from there.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

namespace riata {

inline double sigmoid(double z) noexcept {
  const double e = std::exp(-std::fabs(z));
  // e for z < 0, 1 for the others, without a branch: the sign of a score cannot be predicted.
  const auto negative = std::bit_cast<std::int64_t>(z) >> 63;
  const auto top =
      (std::bit_cast<std::int64_t>(e) & negative) | (std::bit_cast<std::int64_t>(1.0) & ~negative);
  return std::bit_cast<double>(top) / (1 + e);
}

inline double softplus(double z) noexcept {  // log(1 + exp(z)) without overflow
  const double e = std::exp(-std::fabs(z)), u = 1 + e;
  // log1p by way of log, which is faster: the quotient undoes the rounding of 1 + e (Kahan).
  const double tail = u == 1 ? e : std::log(u) * (e / (u - 1));
  return z > 0 ? z + tail : tail;
}

// Classification: y in {-1, +1}.

struct Logistic {  // log(1 + exp(-y p))
  static double value(double p, double y, double) noexcept { return softplus(-y * p); }
  static double slope(double p, double y, double) noexcept { return -y * sigmoid(-y * p); }
};

struct Hinge {  // max(0, 1 - y p)
  static double value(double p, double y, double) noexcept { return std::fmax(0, 1 - y * p); }
  static double slope(double p, double y, double) noexcept { return y * p < 1 ? -y : 0; }
};

struct SquaredHinge {  // max(0, 1 - y p)^2
  static double value(double p, double y, double) noexcept {
    const double z = std::fmax(0, 1 - y * p);
    return z * z;
  }
  static double slope(double p, double y, double) noexcept { return -2 * y * std::fmax(0, 1 - y * p); }
};

struct ModifiedHuber {  // squared hinge for y p >= -1, then linear
  static double value(double p, double y, double) noexcept {
    const double z = y * p;
    return z >= -1 ? SquaredHinge::value(p, y, 0) : -4 * z;
  }
  static double slope(double p, double y, double) noexcept {
    return y * p >= -1 ? SquaredHinge::slope(p, y, 0) : -4 * y;
  }
};

// Regression: y is any real number.

struct Squared {  // (p - y)^2 / 2
  static double value(double p, double y, double) noexcept { return (p - y) * (p - y) / 2; }
  static double slope(double p, double y, double) noexcept { return p - y; }
};

struct Huber {  // squared up to a distance of epsilon, then linear
  static double value(double p, double y, double epsilon) noexcept {
    const double r = std::fabs(p - y);
    return r <= epsilon ? r * r / 2 : epsilon * (r - epsilon / 2);
  }
  static double slope(double p, double y, double epsilon) noexcept {
    const double r = p - y;
    return std::fabs(r) <= epsilon ? r : std::copysign(epsilon, r);
  }
};

struct Quantile {  // the pinball loss of level q: its minimum is the q-quantile of y
  static double value(double p, double y, double q) noexcept {
    return y > p ? q * (y - p) : (1 - q) * (p - y);
  }
  static double slope(double p, double y, double q) noexcept { return y > p ? -q : (y < p ? 1 - q : 0); }
};

// How a score becomes the probability of the positive class, where the loss gives one.
struct NoProbability {};

struct LogisticLink {
  static double probability(double p) noexcept { return sigmoid(p); }
};

struct ModifiedHuberLink {  // the score, clipped to [-1, 1], on a straight line (Zhang 2002)
  static double probability(double p) noexcept { return (std::fmin(1, std::fmax(-1, p)) + 1) / 2; }
};

struct Loss {
  using Scalar = double (*)(double p, double y, double parameter) noexcept;
  std::string_view name;
  bool classification;
  Scalar value;
  Scalar slope;
  double (*probability)(double p) noexcept;  // null where there is none
  std::string_view parameter;                // the name of the third argument, empty where unused

  // Labels of a classification are class codes: column c of m asks "is it class c?", a single one "is it
  // class 1?".
  double target(double label, int c, int m) const noexcept {
    if (!classification) return label;
    return label == (m == 1 ? 1 : c) ? 1 : -1;
  }
};

template <class L, class Link>
constexpr Loss loss_of(std::string_view name, bool classification, std::string_view parameter = "") {
  if constexpr (requires { Link::probability; }) {
    return {name, classification, L::value, L::slope, Link::probability, parameter};
  } else {
    return {name, classification, L::value, L::slope, nullptr, parameter};
  }
}

inline constexpr Loss kLosses[] = {
    loss_of<Logistic, LogisticLink>("logistic", true),
    loss_of<Hinge, NoProbability>("hinge", true),
    loss_of<SquaredHinge, NoProbability>("squared_hinge", true),
    loss_of<ModifiedHuber, ModifiedHuberLink>("modified_huber", true),
    loss_of<Squared, NoProbability>("squared", false),
    loss_of<Huber, NoProbability>("huber", false, "epsilon"),
    loss_of<Quantile, NoProbability>("quantile", false, "quantile"),
};

inline const Loss* find_loss(std::string_view name) noexcept {
  for (const Loss& loss : kLosses)
    if (loss.name == name) return &loss;
  return nullptr;
}

}  // namespace riata
