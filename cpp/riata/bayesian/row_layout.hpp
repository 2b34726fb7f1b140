// Rows of a Bayesian model: what they hold, how they fade, and which prior a name asks for.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "riata/bayesian/bayesian.hpp"
#include "riata/simd/exp.hpp"

namespace riata {

// What is left of evidence that counts as none.
inline constexpr double kForgotten = 0x1p-70;

// What a row is made of, and how it is brought current.
class RowShape {
 public:
  RowShape(const BayesianSpec& spec, int columns)
      : k_(columns), own_(spec.own_priors), half_life_(spec.half_life), mean_(spec.prior_mean) {
    const auto n = static_cast<std::size_t>(columns);
    for (std::size_t c = 0; c < n; ++c)
      precision_.push_back(1 / spec.prior_variances[c % spec.prior_variances.size()]);
    intercept_precision_.assign(n, 1 / spec.intercept_variance);
  }

  int width() const noexcept { return 2 * k_ * (own_ ? 2 : 1) + (forgets() ? 1 : 0); }
  bool forgets() const noexcept { return half_life_ > 0; }
  bool own() const noexcept { return own_; }
  double common_mean() const noexcept { return mean_; }
  const double* precision(bool intercept) const noexcept {
    return intercept ? intercept_precision_.data() : precision_.data();
  }
  double* own_mean(double* row) const noexcept { return row + 2 * k_; }
  double* own_precision(double* row) const noexcept { return row + 3 * k_; }
  double prior_mean(const double* row, int c) const noexcept {
    return own_ ? mean_ + row[2 * k_ + c] : mean_;
  }
  double prior_precision(const double* row, const double* common, int c) const noexcept {
    return own_ ? common[c] + row[3 * k_ + c] : common[c];
  }

  bool blank(const double* row) const noexcept {
    for (int i = 0; i < 2 * k_ * (own_ ? 2 : 1); ++i)
      if (row[i] != 0) return false;
    return true;
  }
  bool is_live(const double* row, double now) const noexcept {
    if (!forgets() || kept(row, now) > 0) return true;
    if (own_)
      for (int i = 2 * k_; i < 4 * k_; ++i)
        if (row[i] != 0) return true;
    return false;
  }

  // Evidence fades by half every half_life examples: precision and precision * mean, both counted from the
  // prior.
  void catch_up(double* row, const double* common, double now) const noexcept {
    double& mark = row[width() - 1];
    if (mark == now) return;
    const double keep = kept(row, now);
    mark = now;
    for (int c = 0; c < k_; ++c) {
      const double prior = prior_precision(row, common, c), before = prior + row[k_ + c];
      row[k_ + c] *= keep;
      row[c] *= keep * before / (prior + row[k_ + c]);
    }
  }

 private:
  double kept(const double* row, double now) const noexcept {
    const double keep = std::exp2((row[width() - 1] - now) / half_life_);
    return keep < kForgotten ? 0 : keep;
  }

  int k_;
  bool own_;
  double half_life_, mean_;
  std::vector<double> precision_, intercept_precision_;
};

class NamedPriors {
 public:
  explicit NamedPriors(const BayesianSpec& spec) : variances_(spec.named_variances) {}
  bool any() const noexcept { return !variances_.empty(); }

  // The prior variance of a feature: by its whole name, by its namespace (what stands before ^ or =), or
  // null.
  const double* find(std::string_view name) const noexcept {
    try {
      if (const auto whole = variances_.find(std::string(name)); whole != variances_.end())
        return &whole->second;
      const auto space = variances_.find(std::string(name.substr(0, name.find_first_of("^="))));
      return space != variances_.end() ? &space->second : nullptr;
    } catch (...) {  // out of memory for a copy of the name: the common prior
      return nullptr;
    }
  }
  // A numbered feature's name is its number.
  const double* find(std::string_view name, std::uint64_t key) const noexcept {
    if (name.data() != nullptr) return find(name);
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, key).ptr;
    return find({digits, static_cast<std::size_t>(end - digits)});
  }

 private:
  std::unordered_map<std::string, double> variances_;
};

inline double seen_as(View view, double x) noexcept {
  switch (view) {
    case View::raw:
      return x;
    case View::binary:
      return 1;
    case View::log1p:
      return std::copysign(riata::log1p(std::fabs(x)), x);
  }
  return x;
}

}  // namespace riata
