// AdaGrad's learning rates (Duchi, Hazan & Singer 2011) with implicit steps: each feature has its own rate,
//
//   n = eta0 / sqrt(D^2 + sum of (g x / Q)^2, this example included),
//
// where g is the slope of the loss before the step. Without D the first step of a feature would be as long for a slope of
// nearly nothing as for the largest one: D is about the size of a large slope, see first(). The step itself, unless it is to be explicit, takes the slope s after it,
//
//   w -= n s x  with  s = slope(p - s sum of n x^2),
//
// so that it never leads past the point where the loss of the example is smallest, whatever the rates are. Q is 1 in a
// classification. In a regression it is the root mean square of the residuals so far, this one included: then labels in
// another unit lead to the same weights in that unit. There, the first example moves the intercept alone, to its label, so
// that labels may lie anywhere. Explicit steps
// have neither Q nor D.
//
// The rate stands still while a feature is not touched, so k missed penalties have a closed form: see adagrad_step.hpp.
//
// A row holds w and sqrt(sum of (g x / Q)^2) of each column, and how many penalties it has had.
#pragma once

#include <algorithm>
#include <vector>

#include "riata/linear/adagrad_kernels.hpp"
#include "riata/linear/rules/adagrad_step.hpp"
#include "riata/linear/rules/rule.hpp"

namespace riata {

template <PenaltyKind kind>
class AdaGrad : public RuleDefaults {
 public:
  explicit AdaGrad(const Numbers& n, int m)
      : penalty_(penalty_of(n)),
        period_(static_cast<std::uint64_t>(penalty_.period)),
        eta0_(n.at("eta0")),
        explicit_(n.contains("explicit") && n.at("explicit") != 0),
        s_(static_cast<std::size_t>(m), 0.0),
        residuals_(static_cast<std::size_t>(m), 0.0) {}

  static constexpr bool kImplicit = true;
  static constexpr PenaltyKind kPenalty = kind;
  static constexpr int width(int m) noexcept { return 2 * m + 1; }
  void init(double* row, int m) const noexcept {
    for (int k = 0; k < 2 * m; ++k) row[k] = 0;
    row[2 * m] = penalties();
  }
  double current(const double* row, int m, int c) const noexcept {
    const double k = penalties() - row[2 * m];
    if (row[c] == 0 || !(k > 0)) return row[c];
    return penalised<kind, double>(penalty_, row[c], adagrad_rate(rate(), row[m + c]), k);
  }
  void catch_up(double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c) row[c] = current(row, m, c);
    row[2 * m] = std::max(row[2 * m], penalties());
  }
  // The sum of squared gradients is needed even where the weight is zero.
  bool is_live(const double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c)
      if (row[m + c] != 0) return true;
    return false;
  }

  bool is_explicit() const noexcept { return explicit_; }
  const AdaGradPenalty& penalty() const noexcept { return penalty_; }
  double rate() const noexcept { return factor_ * eta0_; }  // of a root of 1
  // How many penalties there have been, and whether there is one after this example.
  double penalties() const noexcept { return static_cast<double>(t_ / period_); }
  bool ends_period() const noexcept { return (t_ + 1) % period_ == 0; }

  // Residuals of a regression, one a column. True: they are the first ones, and left to the intercept.
  bool learn_residuals(const double* residuals, int m, double weight, bool to_intercept) noexcept {
    const bool first = weight_ == 0;
    weight_ += weight;
    if (first && to_intercept) return true;
    for (int c = 0; c < m; ++c)
      residuals_[static_cast<std::size_t>(c)] += weight * residuals[c] * residuals[c];
    return false;
  }
  // What slopes are divided by before they are squared. A first example that the intercept took is left out.
  double unit(int c) const noexcept {
    const double sum = residuals_[static_cast<std::size_t>(c)];
    return sum > 0 ? std::sqrt(sum / weight_) : 1;
  }

  // What the sum of a row starts with, to be set before rows are prepared: slopes are at most about so large. Of the quantile
  // loss they are up to 1 whatever the residual is, of others they are as large as it.
  void set_first(double size) noexcept { first_ = explicit_ ? 0 : size; }

  // Before the step: brings the row current, adds to its sums, and adds to `strength` how far the score of each column
  // moves for a slope of one.
  void prepare(double* row, int m, const double* gradient, double x, double* strength) const noexcept {
    catch_up(row, m);
    for (int c = 0; c < m; ++c) prepare_one(row[m + c], gradient[c] * x, x, strength[c]);
  }
  void prepare_intercept(const double* gradient, int m, double* strength) noexcept {
    for (int c = 0; c < m; ++c) prepare_one(s_[static_cast<std::size_t>(c)], gradient[c], 1, strength[c]);
  }
  // Both for all rows of an example with one column, by kernels: shared rows may be the same. The rows' part of the
  // strength.
  double gather_rows(double* const* rows, const float* x, std::int64_t n,
                     const AdaGradScratch& scratch) const noexcept {
    return kernels_.gather(now(), rows, x, n, scratch);
  }
  template <bool kShared>
  double prepare_rows(double* const* rows, const float* x, std::int64_t n, double slope, double factor,
                      const AdaGradScratch& scratch) const noexcept {
    return (kShared ? kernels_.prepare_shared : kernels_.prepare)(now(), rows, x, n, slope, factor, scratch);
  }
  template <bool kShared>
  void push_rows(double* const* rows, const float* x, std::int64_t n, double slope,
                 const AdaGradScratch& scratch) const noexcept {
    (kShared ? kernels_.push_shared : kernels_.push)(now(), rows, x, n, slope, scratch);
  }

  double gain(double) const noexcept { return 1; }
  void push(double* row, int m, const double* slopes, double x) const noexcept {
    const bool due = ends_period() && row[2 * m] == penalties();  // not if met before in this example
    for (int c = 0; c < m; ++c) {
      const double n = adagrad_rate(rate(), row[m + c]);
      row[c] = adagrad_moved<kind, double>(penalty_, row[c], n, n * slopes[c] * x, due);
    }
    if (due) row[2 * m] += 1;
  }
  void push_intercept(double* intercept, const double* slopes, int m, double) noexcept {
    for (int c = 0; c < m; ++c)
      intercept[c] -= adagrad_rate(rate(), s_[static_cast<std::size_t>(c)]) * slopes[c];
  }
  void end(double) noexcept { ++t_; }

  // All rows must be current when the factor changes: missed penalties have the factor of now.
  static constexpr bool kRemembersRates = true;
  void set_factor(double factor) noexcept { factor_ = factor; }

  static int state_size(int m) noexcept { return 2 + 2 * m; }
  void save(double* rule_state) const noexcept {
    rule_state[0] = static_cast<double>(t_);
    double* rest = std::copy(s_.begin(), s_.end(), rule_state + 1);
    *rest = weight_;
    std::copy(residuals_.begin(), residuals_.end(), rest + 1);
  }
  void load(const double* rule_state) noexcept {
    t_ = static_cast<std::uint64_t>(rule_state[0]);
    const double* const rest = rule_state + 1 + s_.size();
    std::copy(rule_state + 1, rest, s_.begin());
    weight_ = *rest;
    std::copy(rest + 1, rest + 1 + s_.size(), residuals_.begin());
  }

 private:
  static AdaGradPenalty penalty_of(const Numbers& n) {
    if constexpr (kind == PenaltyKind::fobos || kind == PenaltyKind::sgd)
      return {.l1 = n.at("l1"), .l2 = n.at("l2")};
    else if constexpr (kind == PenaltyKind::truncate)
      return {.gravity = n.at("gravity"), .theta = n.at("theta"), .period = n.at("period")};
    else
      return {.theta = n.at("theta"), .period = n.at("period")};
  }
  AdaGradNow now() const noexcept { return {penalty_, rate(), first_, penalties(), ends_period()}; }

  void prepare_one(double& s, double g, double x, double& strength) const noexcept {
    if (g == 0) return;
    s = adagrad_root<double>(first_, s, g);
    strength += x * x * adagrad_rate(rate(), s);
  }
  const AdaGradKernels& kernels_ = best_adagrad_kernels().of(kind);
  AdaGradPenalty penalty_;
  std::uint64_t period_;
  double eta0_, factor_ = 1, first_ = 1;
  bool explicit_;
  std::uint64_t t_ = 0;            // steps done
  double weight_ = 0;              // of the examples of a regression
  std::vector<double> s_;          // of the intercept, which is not penalised
  std::vector<double> residuals_;  // sums of their squares
};

}  // namespace riata
