// Averaging the components of each output by their evidence (Bayesian model averaging).
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "riata/tilt.hpp"

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

  // Log odds of each output from the moments of all columns, eq. 8 or 24.
  void predict(const double* means, const double* spreads, const std::vector<double>& log_evidence,
               double* scores) const noexcept {
    for (int o = 0; o < outputs_; ++o) {
      if (components() == 1) {
        const double z = margin(means[o], spreads[o]);
        scores[o] = probit_ ? ProbitTilt::log_odds(z) : z;
        continue;
      }
      const double* log_weight = log_evidence.data() + o * components();
      double for_it = 0, against = 0;
      for_each(o, [&](int k, int c) {
        const double z = margin(means[c], spreads[c]), w = plain_exp(log_weight[k]);
        for_it += w * chance(z);
        against += w * chance(-z);
      });
      scores[o] = std::log(for_it) - std::log(against);
    }
  }

  // The label is known: each component's evidence is multiplied by the probability it had given to it.
  void learn(const double* means, const double* spreads, const double* y, double weight,
             std::vector<double>& log_evidence) const noexcept {
    if (components() == 1) return;
    for (int o = 0; o < outputs_; ++o) {
      double* log_weight = log_evidence.data() + o * components();
      for_each(o, [&](int k, int c) {
        const double seen = std::log(chance(y[c] * margin(means[c], spreads[c])));
        log_weight[k] = keep_ * log_weight[k] + weight * seen;
      });
      normalise(log_weight);
    }
  }

 private:
  double margin(double mean, double spread) const noexcept {
    return mean / std::sqrt(1 + (probit_ ? ProbitTilt::kShrink : LogitTilt::kShrink) * spread);
  }
  double chance(double z) const noexcept {  // never zero
    if (probit_) return plain_exp(ProbitTilt::log_value(z));
    return 1 / (1 + plain_exp(-z));
  }
  template <class Visit>
  void for_each(int o, Visit visit) const noexcept {
    for (int v = 0; v < views_; ++v)
      for (int g = 0; g < priors_; ++g) visit(v * priors_ + g, (v * outputs_ + o) * priors_ + g);
  }
  void normalise(double* log_weight) const noexcept {
    const int n = components();
    if (share_ > 0) {
      const double best = *std::max_element(log_weight, log_weight + n);
      double total = 0;
      for (int k = 0; k < n; ++k) total += plain_exp(log_weight[k] - best);
      for (int k = 0; k < n; ++k)
        log_weight[k] = std::log((1 - share_) * plain_exp(log_weight[k] - best) / total + share_ / n);
    }
    const double best = *std::max_element(log_weight, log_weight + n);
    for (int k = 0; k < n; ++k) log_weight[k] -= best;
  }

  int outputs_, views_, priors_;
  bool probit_;
  double share_, keep_;
};

}  // namespace riata
