// Averaging the components of each output by their evidence (Bayesian model averaging).
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "riata/bayesian/taylor.hpp"
#include "riata/losses/loss.hpp"

namespace riata {

class Mixture {
 public:
  Mixture(int outputs, int views, int priors, const std::string& link, double share, double half_life)
      : outputs_(outputs),
        views_(views),
        priors_(priors),
        probit_(link == "probit"),
        share_(share),
        keep_(half_life > 0 ? std::exp2(-1 / half_life) : 1) {}

  int components() const noexcept { return views_ * priors_; }

  // Column c asks "is it class o?", a single output "is it class 1?": +1 or -1.
  void ask(double label, double* y) const noexcept {
    for (int c = 0; c < outputs_ * components(); ++c) {
      const int o = c / priors_ % outputs_;
      y[c] = label == (outputs_ == 1 ? 1 : o) ? 1 : -1;
    }
  }

  // Log odds of each output from the moments of all columns, eq. 8 or 24.
  void predict(const double* means, const double* spreads, const std::vector<double>& log_evidence,
               double* scores) const noexcept {
    if (components() == 1) return predict_one(means, spreads, scores);
    for (int o = 0; o < outputs_; ++o) {
      double sums[2] = {0, 0};
      for (int v = 0; v < views_; ++v) {
        const int c = column(v, o);
        const double* of_view = log_evidence.data() + o * components() + v * priors_;
        if (probit_)
          average_probit(means + c, spreads + c, of_view, sums);
        else
          kernels_.average(priors_, means + c, spreads + c, of_view, sums);
      }
      scores[o] = riata::log(sums[0]) - riata::log(sums[1]);
    }
  }

  // The same, and the label becomes known: each component's evidence is multiplied by the probability it had
  // given to it.
  void learn(const double* means, const double* spreads, const double* y, double weight,
             std::vector<double>& log_evidence, double* scores) const noexcept {
    if (components() == 1) return predict_one(means, spreads, scores);
    for (int o = 0; o < outputs_; ++o) {
      double* log_weight = log_evidence.data() + o * components();
      double sums[2] = {0, 0};
      for (int v = 0; v < views_; ++v) {
        const int c = column(v, o);
        double* of_view = log_weight + v * priors_;
        if (!probit_) {
          kernels_.credit(priors_, means + c, spreads + c, y[c], weight, keep_, of_view, sums);
          continue;
        }
        average_probit(means + c, spreads + c, of_view, sums);
        for (int g = 0; g < priors_; ++g)
          of_view[g] = keep_ * of_view[g] +
                       weight * riata::log(probability(y[c] * margin(means[c + g], spreads[c + g])));
      }
      scores[o] = riata::log(sums[0]) - riata::log(sums[1]);
      normalise(log_weight);
    }
  }

 private:
  double margin(double mean, double spread) const noexcept {
    return mean / std::sqrt(1 + (probit_ ? Probit::kShrink : Logit::kShrink) * spread);
  }
  void predict_one(const double* means, const double* spreads, double* scores) const noexcept {
    for (int o = 0; o < outputs_; ++o) {
      const double z = margin(means[o], spreads[o]);
      scores[o] = probit_ ? Probit::log_odds(z) : z;
    }
  }
  static double probability(double z) noexcept { return bounded_exp(Probit::log_value(z)); }  // never zero
  int column(int v, int o) const noexcept { return (v * outputs_ + o) * priors_; }
  void average_probit(const double* means, const double* spreads, const double* log_weight,
                      double* sums) const noexcept {
    for (int g = 0; g < priors_; ++g) {
      const double z = margin(means[g], spreads[g]), w = bounded_exp(log_weight[g]);
      sums[0] += w * probability(z);
      sums[1] += w * probability(-z);
    }
  }
  void normalise(double* log_weight) const noexcept {
    const int n = components();
    if (share_ > 0) {
      const double best = *std::max_element(log_weight, log_weight + n);
      double total = 0;
      for (int k = 0; k < n; ++k) total += bounded_exp(log_weight[k] - best);
      for (int k = 0; k < n; ++k)
        log_weight[k] = riata::log((1 - share_) * bounded_exp(log_weight[k] - best) / total + share_ / n);
    }
    double best = log_weight[0];
    for (int k = 1; k < n; ++k) best = std::max(best, log_weight[k]);
    for (int k = 0; k < n; ++k) log_weight[k] -= best;
  }

  int outputs_, views_, priors_;
  bool probit_;
  double share_, keep_;
  const TaylorKernels& kernels_ = best_taylor_kernels();
};

}  // namespace riata
