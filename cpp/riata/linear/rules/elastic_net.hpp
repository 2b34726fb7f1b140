// Elastic net with delayed updates (Lipton & Elkan 2015), without their tables of P(t) and B(t).
//
// P and L = l1 * B are two running scalars. A row holds the scaled weight v = w / P of each column and, once
// for all of them, the value of L at the last touch, b: then |w| = P * max(0, |v| - (L - b)).
//
//   FoBoS, eq. 2:  u = w - n g;  w' = sign(u) max(0, |u| - n l1) / (1 + n l2)
//                  L += n l1 / P, then P /= 1 + n l2
//   SGD, eq. 3:    w' = sign(w) max(0, (1 - n l2) |w| - n l1) - n g
//                  P *= 1 - n l2, then L += n l1 / P      (the paper's Theorem 1 divides by the old P: a
//                  misprint)
#pragma once

#include "riata/linear/rules/rule.hpp"

namespace riata {

template <bool kProximal>
class ElasticNet : public DecayRule<ElasticNet<kProximal>, DecayKind::shrink> {
 public:
  explicit ElasticNet(const Numbers& numbers, int) : l1_(numbers.at("l1")), l2_(numbers.at("l2")) {}

  static constexpr bool kStill = kProximal;
  Decay decay() const noexcept { return {l_}; }
  double scale() const noexcept { return p_; }
  double gain(double rate) const noexcept { return rate / p_; }

  void begin(double rate) noexcept {
    if constexpr (!kProximal) {
      p_ *= 1 - rate * l2_;
      l_ += rate * l1_ / p_;
    }
  }
  void end(double rate) noexcept {
    if constexpr (kProximal) {
      l_ += rate / p_ * l1_;  // the quotient is that of gain()
      p_ /= 1 + rate * l2_;
    }
  }

  bool stale() const noexcept { return p_ < kSmallest; }
  // Every row to P = 1, L = 0. Pages that hold nothing are not written to.
  template <class Store>
  void rescale(Store& store, int m) noexcept {
    store.for_each([&](auto, double* row) {
      bool blank = row[m] == 0;
      for (int c = 0; c < m; ++c) blank = blank && row[c] == 0;
      if (blank) return;
      for (int c = 0; c < m; ++c) row[c] = p_ * this->current(row, m, c);
      row[m] = 0;
    });
    p_ = 1;
    l_ = 0;
  }

  static constexpr int state_size(int) noexcept { return 2; }
  void save(double* rule_state) const noexcept {
    rule_state[0] = p_;
    rule_state[1] = l_;
  }
  void load(const double* rule_state) noexcept {
    p_ = rule_state[0];
    l_ = rule_state[1];
  }

 private:
  // Scaling loses no precision, so P may get very small before all rows have to be visited.
  static constexpr double kSmallest = 1e-60;
  double l1_, l2_;
  double p_ = 1, l_ = 0;
};

}  // namespace riata
