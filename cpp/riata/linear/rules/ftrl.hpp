// FTRL-Proximal (McMahan et al. 2013, Algorithm 1). Nothing is delayed: a weight moves only when it is
// touched.
//
//   w = 0 where |z| <= l1, else -(z - sign(z) l1) / ((beta + sqrt(n)) / alpha + l2)
//   sigma = (sqrt(n + g^2) - sqrt(n)) / alpha;  z += g - sigma w;  n += g^2
//
// A row holds w, z and s = sqrt(n) of each column, so that scoring costs no square root.
#pragma once

#include <cstdint>
#include <vector>

#include "riata/linear/rules/rule.hpp"

namespace riata {

// `kAtOnce` rows of one column and the values of their features: the step of class Ftrl below, as fast as the
// processor can.
struct FtrlSteps {
  static constexpr int kAtOnce = 8;
  double per_alpha, beta, l1, l2;
  void operator()(double* const* rows, const float* x, double gradient) const noexcept;
};

class Ftrl : public PlainRule {
 public:
  explicit Ftrl(const Numbers& n, int m)
      : per_alpha_(1 / n.at("alpha")),
        beta_(n.at("beta")),
        l1_(n.at("l1")),
        l2_(n.at("l2")),
        z_(m, 0.0),
        s_(m, 0.0) {}

  static constexpr int width(int m) noexcept { return 3 * m; }
  void init(double* row, int m) const noexcept {
    for (int k = 0; k < 3 * m; ++k) row[k] = 0;
  }
  void catch_up(double*, int) const noexcept {}
  double current(const double* row, int, int c) const noexcept { return row[c]; }
  // The sum of squared gradients is needed even where the weight is zero.
  bool is_live(const double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c)
      if (row[2 * m + c] != 0) return true;
    return false;
  }

  double gain(double) const noexcept { return 1; }
  void push(double* row, int m, const double* gradient, double x) const noexcept {
    for (int c = 0; c < m; ++c) move(row[c], row[m + c], row[2 * m + c], gradient[c] * x, l1_, l2_);
  }
  // All rows of an example with one column, no two of them the same: square roots and quotients take most of
  // the time, and several of them take no longer than one.
  template <class Rows>
  void push_many(const Rows& rows, const float* x, std::int64_t n, double gradient) const noexcept {
    constexpr int kAtOnce = FtrlSteps::kAtOnce;
    const FtrlSteps steps{per_alpha_, beta_, l1_, l2_};
    std::int64_t k = 0;
    for (; k + kAtOnce <= n; k += kAtOnce) {
      double* some[kAtOnce];
      for (int i = 0; i < kAtOnce; ++i) some[i] = rows[k + i];
      steps(some, x + k, gradient);
    }
    for (; k < n; ++k) push(rows[k], 1, &gradient, static_cast<double>(x[k]));
  }
  void end(double) noexcept {}
  void push_intercept(double* intercept, const double* slopes, int m, double) noexcept {
    for (int c = 0; c < m; ++c) move(intercept[c], z_[c], s_[c], slopes[c], 0, 0);
  }

  static int state_size(int m) noexcept { return 2 * m; }
  void save(double* rule_state) const noexcept {
    for (std::size_t c = 0; c < z_.size(); ++c) {
      rule_state[2 * c] = z_[c];
      rule_state[2 * c + 1] = s_[c];
    }
  }
  void load(const double* rule_state) noexcept {
    for (std::size_t c = 0; c < z_.size(); ++c) {
      z_[c] = rule_state[2 * c];
      s_[c] = rule_state[2 * c + 1];
    }
  }

 private:
  void move(double& w, double& z, double& s, double g, double l1, double l2) const noexcept {
    const double after = std::sqrt(s * s + g * g);
    z += g - (after - s) * per_alpha_ * w;
    s = after;
    w = std::fabs(z) <= l1 ? 0 : -(z - std::copysign(l1, z)) / ((beta_ + s) * per_alpha_ + l2);
  }

  double per_alpha_, beta_, l1_, l2_;  // 1 / alpha: quotients are slow
  std::vector<double> z_, s_;          // of the intercept, which is not penalised
};

}  // namespace riata
