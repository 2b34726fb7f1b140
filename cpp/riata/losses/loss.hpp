// Losses of a prediction p for a label y, and links, whose losses are -ln of a probability.
//
//   value                  the loss
//   slope                  its derivative in p
//   implicit               s = slope(p - strength s): the slope after the step that it leads to, strength >= 0
//   curvature              its second derivative, where an update needs it: links
//
// To add a loss: write the struct (LossFunction is its contract), add a line to kLosses. Python's list of losses comes
// from there. exp and log are those of simd/exp.hpp, and the normal distribution that of normal.hpp, so that bits do not depend on the C
// library.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "riata/losses/normal.hpp"
#include "riata/simd/exp.hpp"

namespace riata {

// exp(-|z|), at least 3e-308. A NaN stays one.
inline double exp_of_minus_size(double z) noexcept {
  const double a = std::fabs(z);
  return exp_of_minus(a > 708 ? 708 : a);
}

inline double sigmoid(double z) noexcept {
  const double e = exp_of_minus_size(z);
  // e for z < 0, 1 for the others, without a branch: the sign of a score cannot be predicted.
  const auto negative = std::bit_cast<std::int64_t>(z) >> 63;
  const auto top =
      (std::bit_cast<std::int64_t>(e) & negative) | (std::bit_cast<std::int64_t>(1.0) & ~negative);
  return std::bit_cast<double>(top) / (1 + e);
}

// 1 / (1 + exp(m)) where m = margin + strength times it: see the portfolio's kernels, of which this is one column.
inline double implicit_logistic(double margin, double strength) noexcept {
  const double before = sigmoid(-margin);
  if (!(strength > 1e-300)) return before;
  const double wanted = riata::log(std::fmin(strength, 1e300));
  double d = std::fmax(std::fmin(strength * before, std::fmax(wanted - margin, 1)), 1e-300);
  double q = riata::log(d);
  for (int n = 0; n < 100; ++n) {
    const double m = margin + d, t = exp_of_minus_size(m);
    const double value = q + ((m > 0 ? m : 0) + log_of_one_and(t)) - wanted;
    const double change = value / (1 + d * ((m > 0 ? 1 : t) / (1 + t)));
    q -= change;
    d = riata::exp(q);
    if (std::fabs(change) <= 1e-8) break;
  }
  return sigmoid(-(margin + d));
}

inline double softplus(double z) noexcept {  // log(1 + exp(z)) without overflow
  return (z > 0 ? z : 0) + log_of_one_and(exp_of_minus_size(z));
}

// Classification: y in {-1, +1}.

struct Logistic {  // log(1 + exp(-y p))
  static double value(double p, double y, double) noexcept { return softplus(-y * p); }
  static double slope(double p, double y, double) noexcept { return -y * sigmoid(-y * p); }
  static double implicit(double p, double y, double, double strength) noexcept {
    return -y * implicit_logistic(y * p, strength);
  }
};

struct Hinge {  // max(0, 1 - y p)
  static double value(double p, double y, double) noexcept { return std::fmax(0, 1 - y * p); }
  static double slope(double p, double y, double) noexcept { return y * p < 1 ? -y : 0; }
  static double implicit(double p, double y, double, double strength) noexcept {
    const double left = 1 - y * p;  // the step ends at the kink at the latest
    return left > 0 ? -y * std::fmin(1, left / strength) : 0;
  }
};

struct SquaredHinge {  // max(0, 1 - y p)^2
  static double value(double p, double y, double) noexcept {
    const double z = std::fmax(0, 1 - y * p);
    return z * z;
  }
  static double slope(double p, double y, double) noexcept { return -2 * y * std::fmax(0, 1 - y * p); }
  static double implicit(double p, double y, double, double strength) noexcept {
    return slope(p, y, 0) / (1 + 2 * strength);
  }
};

struct ModifiedHuber {  // squared hinge for y p >= -1, then linear
  static double value(double p, double y, double) noexcept {
    const double z = y * p;
    return z >= -1 ? SquaredHinge::value(p, y, 0) : -4 * z;
  }
  static double slope(double p, double y, double) noexcept {
    return y * p >= -1 ? SquaredHinge::slope(p, y, 0) : -4 * y;
  }
  static double implicit(double p, double y, double, double strength) noexcept {
    if (y * p + 4 * strength <= -1) return -4 * y;
    return SquaredHinge::implicit(p, y, 0, strength);
  }
};

// Regression: y is any real number.

struct Squared {  // (p - y)^2 / 2
  static double value(double p, double y, double) noexcept { return (p - y) * (p - y) / 2; }
  static double slope(double p, double y, double) noexcept { return p - y; }
  static double implicit(double p, double y, double, double strength) noexcept {
    return (p - y) / (1 + strength);
  }
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
  static double implicit(double p, double y, double epsilon, double strength) noexcept {
    return slope((p - y) / (1 + strength), 0, epsilon);
  }
};

struct Quantile {  // the pinball loss of level q: its minimum is the q-quantile of y
  static double value(double p, double y, double q) noexcept {
    return y > p ? q * (y - p) : (1 - q) * (p - y);
  }
  static double slope(double p, double y, double q) noexcept { return y > p ? -q : (y < p ? 1 - q : 0); }
  static double implicit(double p, double y, double q, double strength) noexcept {
    const double all = slope(p, y, q), part = (p - y) / strength;  // the step ends at y at the latest
    return std::fabs(part) < std::fabs(all) ? part : all;
  }
};

template <class L>
concept LossFunction = requires(double p, double y, double parameter) {
  { L::value(p, y, parameter) } noexcept -> std::same_as<double>;
  { L::slope(p, y, parameter) } noexcept -> std::same_as<double>;
  { L::implicit(p, y, parameter, p) } noexcept -> std::same_as<double>;
};

// How a score becomes the probability of the positive class, where the loss gives one.
template <class P>
concept ProbabilityOfScore = requires(double p) {
  { P::probability(p) } noexcept -> std::same_as<double>;
};

struct LogisticProbability {
  static double probability(double p) noexcept { return sigmoid(p); }
};

struct ModifiedHuberProbability {  // the score, clipped to [-1, 1], on a straight line (Zhang 2002)
  static double probability(double p) noexcept { return (std::fmin(1, std::fmax(-1, p)) + 1) / 2; }
};

struct Loss {
  using Scalar = double (*)(double p, double y, double parameter) noexcept;
  std::string_view name;
  bool classification;
  Scalar value;
  Scalar slope;
  double (*implicit)(double p, double y, double parameter, double strength) noexcept;
  double (*probability)(double p) noexcept;  // null where there is none
  std::string_view parameter;                // the name of the third argument, empty where unused

  // Labels of a classification are class codes: column c of m asks "is it class c?", a single one "is it
  // class 1?".
  double target(double label, int c, int m) const noexcept {
    if (!classification) return label;
    return label == (m == 1 ? 1 : c) ? 1 : -1;
  }
};

template <LossFunction L>
constexpr Loss loss_of(std::string_view name, bool classification, std::string_view parameter = "") {
  return {name, classification, L::value, L::slope, L::implicit, nullptr, parameter};
}
template <LossFunction L, ProbabilityOfScore P>
constexpr Loss loss_of(std::string_view name, bool classification) {
  return {name, classification, L::value, L::slope, L::implicit, P::probability, ""};
}

inline constexpr Loss kLosses[] = {
    loss_of<Logistic, LogisticProbability>("logistic", true),
    loss_of<Hinge>("hinge", true),
    loss_of<SquaredHinge>("squared_hinge", true),
    loss_of<ModifiedHuber, ModifiedHuberProbability>("modified_huber", true),
    loss_of<Squared>("squared", false),
    loss_of<Huber>("huber", false, "epsilon"),
    loss_of<Quantile>("quantile", false, "quantile"),
};

inline const Loss* find_loss(std::string_view name) noexcept {
  for (const Loss& loss : kLosses)
    if (loss.name == name) return &loss;
  return nullptr;
}

// Links: F(z), the probability of a label whose margin is z = y p, y in {-1, +1}. The loss is -ln F. LinkFunction is
// their contract.
//
//   at(z)                  slope and curvature of ln F: the curvature is minus its second derivative
//                            logit:  1 - F          and  F (1 - F)
//                            probit: phi(z) / F(z)  and  slope * (z + slope)
//   log_value(z)           ln F(z)
//   log_odds(z)            ln F(z) - ln F(-z)
//   probability(z)         F(z)
//   kShrink                the factor of the variance in eq. 8 (pi / 8) and eq. 24 (1) of the Bayesian updates
struct LinkDerivatives {
  double slope, curvature;
};

struct Logit {
  static constexpr double kShrink = 0.39269908169872414;  // pi / 8
  static LinkDerivatives at(double z) noexcept {
    const double e = bounded_exp(z);
    const double q = 1 / (1 + e);
    return {q, e * q * q};
  }
  static double log_value(double z) noexcept { return -softplus(-z); }
  static double log_odds(double z) noexcept { return z; }
  static double probability(double z) noexcept { return sigmoid(z); }
};

struct Probit {  // normal.hpp has F
  static constexpr double kShrink = 1;

  static LinkDerivatives at(double z) noexcept {
    if (z < kFar) {  // z + slope without cancellation
      const double rest = normal_fraction(-z), slope = rest - z;
      return {slope, slope * rest};
    }
    double slope;
    if (z <= 0) {  // exp(-z^2 / 2) is in both, and cancels
      slope = kInverseRootTwoPi / normal_tail_ratio(-z);
    } else {
      const double e = exp_of_minus_half_square(z);
      slope = kInverseRootTwoPi * e / (1 - e * normal_tail_ratio(z));
    }
    return {slope, std::max(0.0, slope * (z + slope))};
  }
  static double log_value(double z) noexcept {
    return z > 0 ? riata::log1p(-normal_tail(z)) : riata::log(normal_tail_ratio(-z)) - 0.5 * z * z;
  }
  static double log_odds(double z) noexcept { return log_value(z) - log_value(-z); }
  static double probability(double z) noexcept { return normal_cdf(z); }

 private:
  static constexpr double kFar = -10;
};

template <class L>
concept LinkFunction = ProbabilityOfScore<L> && requires(double z) {
  requires std::same_as<decltype(L::kShrink), const double>;
  { L::at(z) } noexcept -> std::same_as<LinkDerivatives>;
  { L::log_value(z) } noexcept -> std::same_as<double>;
  { L::log_odds(z) } noexcept -> std::same_as<double>;
};

// The loss of a link with its derivatives in the margin p. They are the a, b and c of Balakrishnan & Madigan 2008,
// appendix A: a = -curvature / 2, b = curvature * p - slope, and hold in both tails, where the paper's quotients are
// 0 / 0.
struct Term {
  double loss, slope, curvature;
};
template <LinkFunction L>
Term term_of(double p, double y) noexcept {
  const LinkDerivatives at = L::at(y * p);
  return {-L::log_value(y * p), -y * at.slope, at.curvature};
}

struct Link {
  std::string_view name;
  Term (*at)(double p, double y) noexcept;
  double (*probability)(double p) noexcept;
};

inline constexpr Link kLinks[] = {
    {"logit", term_of<Logit>, Logit::probability},
    {"probit", term_of<Probit>, Probit::probability},
};

inline const Link* find_link(std::string_view name) noexcept {
  for (const Link& link : kLinks)
    if (link.name == name) return &link;
  return nullptr;
}

}  // namespace riata
