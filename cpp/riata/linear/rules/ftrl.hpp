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

#include "riata/linear/kernels.hpp"
#include "riata/linear/rules/rule.hpp"

namespace riata {

class Ftrl : public RuleDefaults {
 public:
  explicit Ftrl(const Numbers& n, int m)
      : settings_{1 / n.at("alpha"), n.at("beta"), n.at("l1"), n.at("l2")}, z_(m, 0.0), s_(m, 0.0) {}

  static constexpr bool kPushesMany = true;
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
    for (int c = 0; c < m; ++c) ftrl_step(settings_, row[c], row[m + c], row[2 * m + c], gradient[c] * x);
  }
  void push_many(double* const* rows, const float* x, std::int64_t n, double gradient) const noexcept {
    kernels_.push_ftrl(settings_, rows, x, n, gradient);
  }
  void end(double) noexcept {}
  void push_intercept(double* intercept, const double* slopes, int m, double) noexcept {
    const FtrlSettings unpenalised{settings_.per_alpha, settings_.beta, 0, 0};
    for (int c = 0; c < m; ++c) ftrl_step(unpenalised, intercept[c], z_[c], s_[c], slopes[c]);
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
  FtrlSettings settings_;
  const LinearKernels& kernels_ = best_linear_kernels();
  std::vector<double> z_, s_;  // of the intercept, which is not penalised
};

}  // namespace riata
