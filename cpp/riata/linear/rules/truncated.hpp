// Truncated gradient and its relatives (Langford, Li & Zhang 2009). Steps i = 1, 2, ...; u = w - n g.
//
// Phases are global: the truncation of a step happens to every weight when `period` divides i, whenever the
// weight was last touched. The paper's section 5 counts per feature instead, which is another algorithm.
#pragma once

#include <algorithm>

#include "riata/linear/rules/oscillation.hpp"
#include "riata/linear/rules/rule.hpp"

namespace riata {

// What happens to all weights when K divides i, added up: the mark of a row is the sum at the last touch.
template <class Rule, DecayKind kind>
class Periodic : public DecayRule<Rule, kind> {
 public:
  explicit Periodic(const Numbers& n)
      : theta_(n.at("theta")), period_(static_cast<std::uint64_t>(n.at("period"))) {}

  static constexpr bool kStill = true;
  Decay decay() const noexcept { return {sum_, theta_}; }

  static constexpr int state_size(int) noexcept { return 2; }
  void save(double* rule_state) const noexcept {
    rule_state[0] = static_cast<double>(step_);
    rule_state[1] = sum_;
  }
  void load(const double* rule_state) noexcept {
    step_ = static_cast<std::uint64_t>(rule_state[0]);
    sum_ = rule_state[1];
  }

 protected:
  bool ends_period() noexcept { return ++step_ % period_ == 0; }

  double theta_;
  std::uint64_t period_;
  std::uint64_t step_ = 0;
  double sum_ = 0;
};

// Eq. 6: when K divides i, |u| <= theta shrinks by n K gravity, clipped at zero. The sum is that of all
// shrinkages so far; a weight that is above theta stays above it until it is touched, so its mark may be any.
class Truncate : public Periodic<Truncate, DecayKind::truncate> {
 public:
  explicit Truncate(const Numbers& n, int) : Periodic(n), gravity_(n.at("gravity")) {}

  void end(double rate) noexcept {
    if (ends_period()) sum_ += rate * static_cast<double>(period_) * gravity_;
  }

 private:
  double gravity_;
};

// Eq. 4: when K divides i, |u| <= theta becomes 0. The sum counts the roundings so far.
class Round : public Periodic<Round, DecayKind::round> {
 public:
  explicit Round(const Numbers& n, int) : Periodic(n) {}

  void end(double) noexcept {
    if (ends_period()) ++sum_;
  }
};

// Eq. 5: w' = u - n gravity sign(w), every step. It crosses zero and then oscillates around it. Away from zero a
// missed stretch is one subtraction; near zero oscillation.hpp knows where it leads. A row is marked with the
// number of steps at the last touch and with S, the sum of n gravity over those steps.
class Subgradient : public RuleDefaults {
 public:
  explicit Subgradient(const Numbers& n, int)
      : gravity_(n.at("gravity")), oscillation_(schedule_of(n), gravity_) {}

  static constexpr int width(int m) noexcept { return m + 2; }
  void init(double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c) row[c] = 0;
    stamp(row, m);
  }
  void catch_up(double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c) row[c] = current(row, m, c);
    stamp(row, m);
  }
  double current(const double* row, int m, int c) const noexcept {
    const double w = row[c], way = sum_ - row[m + 1];
    if (w == 0) return w;
    if (std::fabs(w) >= std::max(way, coarse_)) return w - std::copysign(way, w);
    return oscillation_(w, static_cast<std::uint64_t>(row[m]), step_, factor_);
  }
  // A weight vanishes in the end, but not soon: the answer must be quick.
  bool is_live(const double* row, int m) const noexcept {
    const bool recent = static_cast<double>(step_) < kLong * row[m];
    for (int c = 0; c < m; ++c)
      if (row[c] != 0 && (recent || current(row, m, c) != 0)) return true;
    return false;
  }

  void begin(double rate) noexcept {
    pull_ = rate * gravity_;
    const double more = pull_ - excess_;  // Kahan's sum: what is rounded away is not lost
    next_ = sum_ + more;
    next_excess_ = (next_ - sum_) - more;
  }
  // The sign before the step is the one that counts. A row that occurs twice in one example is pulled once.
  void push(double* row, int m, const double* gradient, double x) const noexcept {
    const double done = static_cast<double>(step_ + 1);
    for (int c = 0; c < m; ++c) {
      if (row[m] != done) {
        row[c] = current(row, m, c);
        if (row[c] != 0) row[c] -= std::copysign(pull_, row[c]);
      }
      row[c] -= gradient[c] * x;
    }
    row[m] = done;
    row[m + 1] = next_;
  }
  void end(double) noexcept {
    ++step_;
    sum_ = next_;
    excess_ = next_excess_;
    coarse_ = kCoarse * sum_;
  }

  // All rows must be current when the factor changes: missed steps have the factor of now.
  static constexpr bool kRemembersRates = true;
  void set_factor(double factor) noexcept { factor_ = factor; }

  static constexpr int state_size(int) noexcept { return 4; }
  void save(double* rule_state) const noexcept {
    rule_state[0] = static_cast<double>(step_);
    rule_state[1] = sum_;
    rule_state[2] = factor_;
    rule_state[3] = excess_;
  }
  void load(const double* rule_state) noexcept {
    step_ = static_cast<std::uint64_t>(rule_state[0]);
    sum_ = rule_state[1];
    factor_ = rule_state[2];
    excess_ = rule_state[3];
    coarse_ = kCoarse * sum_;
  }

 private:
  void stamp(double* row, int m) const noexcept {
    row[m] = static_cast<double>(step_);
    row[m + 1] = sum_;
  }

  // Two values of S tell how far they are apart to a rounding of S: too little for weights smaller than this.
  static constexpr double kCoarse = 0x1p-18;
  static constexpr double kLong = 4;  // times as many steps as there were at the last touch
  double gravity_;
  Oscillation oscillation_;
  double factor_ = 1;
  std::uint64_t step_ = 0;
  double sum_ = 0, excess_ = 0, coarse_ = 0;      // S, what it is too large by, and kCoarse of it
  double pull_ = 0, next_ = 0, next_excess_ = 0;  // of the step under way
};

}  // namespace riata
