// Elastic net with AdaGrad's learning rates (Duchi, Hazan & Singer 2011): each feature has its own,
// n = eta0 / sqrt(sum of its squared gradients, this one included).
//
// The rate stands still while a feature is not touched, so k missed steps have a closed form. With q = 1 / (1
// + n l2) for FoBoS, q = max(0, 1 - n l2) for SGD:  |w| becomes max(0, |w| q^k - l1 / l2 (1 - q^k)),  or |w|
// - k n l1 for l2 = 0.
//
// A row holds w and s = sqrt(sum of squared gradients) of each column, and the step up to which it is
// current.
#pragma once

#include <algorithm>
#include <vector>

#include "riata/linear/rules/rule.hpp"

namespace riata {

template <bool kProximal>
class AdaGrad : public RuleDefaults {
 public:
  explicit AdaGrad(const Numbers& n, int m)
      : eta0_(n.at("eta0")), l1_(n.at("l1")), l2_(n.at("l2")), s_(static_cast<std::size_t>(m), 0.0) {}

  static constexpr int width(int m) noexcept { return 2 * m + 1; }
  void init(double* row, int m) const noexcept {
    for (int k = 0; k < 2 * m; ++k) row[k] = 0;
    row[2 * m] = t_;
  }
  double current(const double* row, int m, int c) const noexcept {
    return at(row[c], row[m + c], t_ - row[2 * m]);
  }
  void catch_up(double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c) row[c] = current(row, m, c);
    row[2 * m] = std::max(row[2 * m], t_);
  }
  // The sum of squared gradients is needed even where the weight is zero.
  bool is_live(const double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c)
      if (row[m + c] != 0) return true;
    return false;
  }

  double gain(double) const noexcept { return 1; }
  void push(double* row, int m, const double* gradient, double x) const noexcept {
    const bool again = row[2 * m] > t_;  // twice in one example, in a hashed store: one penalty
    catch_up(row, m);
    for (int c = 0; c < m; ++c) move(row[c], row[m + c], gradient[c] * x, !again);
    row[2 * m] = t_ + 1;
  }
  void end(double) noexcept { ++t_; }
  void push_intercept(double* intercept, const double* slopes, int m, double) noexcept {
    for (int c = 0; c < m; ++c) move(intercept[c], s_[static_cast<std::size_t>(c)], slopes[c], false);
  }

  static int state_size(int m) noexcept { return 1 + m; }
  void save(double* rule_state) const noexcept {
    rule_state[0] = t_;
    std::copy(s_.begin(), s_.end(), rule_state + 1);
  }
  void load(const double* rule_state) noexcept {
    t_ = rule_state[0];
    std::copy(rule_state + 1, rule_state + 1 + s_.size(), s_.begin());
  }

 private:
  // The weight after k steps without a gradient.
  double at(double w, double s, double k) const noexcept {
    if (w == 0 || !(k > 0)) return w;
    const double n = eta0_ / s;
    if (l2_ == 0) return shrink(w, k * n * l1_);
    const double log_q = kProximal ? -std::log1p(n * l2_) : std::log1p(-std::min(n * l2_, 1.0));
    const double lost = -std::expm1(k * log_q);  // 1 - q^k
    return shrink(w * (1 - lost), l1_ / l2_ * lost);
  }
  void move(double& w, double& s, double g, bool penalised) const noexcept {
    s = std::sqrt(s * s + g * g);
    if (s == 0) return;
    const double n = eta0_ / s;
    const double l1 = penalised ? l1_ : 0, l2 = penalised ? l2_ : 0;
    if constexpr (kProximal)
      w = shrink(w - n * g, n * l1) / (1 + n * l2);
    else
      w = shrink(w * std::max(0.0, 1 - n * l2), n * l1) - n * g;
  }

  double eta0_, l1_, l2_;
  double t_ = 0;           // steps done
  std::vector<double> s_;  // of the intercept, which is not penalised
};

}  // namespace riata
