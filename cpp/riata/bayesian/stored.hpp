// A Bayesian model over a store: what can be read of it, saved and put back.
#pragma once

#include <algorithm>
#include <vector>

#include "riata/bayesian/bayesian.hpp"
#include "riata/bayesian/row_layout.hpp"

namespace riata {

template <AnyStore Store>
class StoredBayesian : public OverStore<Bayesian, Store> {
 public:
  StoredBayesian(const BayesianSpec& spec, int columns)
      : OverStore<Bayesian, Store>(RowShape(spec, columns).width(), spec.bits),
        spec_(spec),
        k_(columns),
        shape_(spec, columns) {
    columns_ = columns;
    width_ = shape_.width();
    intercept.assign(static_cast<std::size_t>(width_), 0.0);
  }

  Posterior posterior() const override {
    Posterior out;
    for (const auto& [key, row] : this->found([&](const double* row) { return !shape_.blank(row); })) {
      out.keys.push_back(static_cast<std::int64_t>(key));
      add(out, row, false);
    }
    return out;
  }
  Posterior intercept_posterior() const override {
    Posterior out;
    add(out, intercept.data(), true);
    return out;
  }
  Rows rows() const override {
    return this->collect(
        width_, [&](const double* row) { return !shape_.blank(row); },
        [&](const double* row, double* out) { std::copy(row, row + width_, out); });
  }
  std::int64_t live_weights() const noexcept override {
    std::int64_t live = 0;
    store_.for_each([&](std::uint64_t, const double* row) {
      for (int o = 0; o < spec_.outputs; ++o)  // one component speaks for all: they move together
        live += row[o * static_cast<int>(spec_.prior_variances.size())] != 0;
    });
    return live;
  }

 protected:
  using Bayesian::columns_, Bayesian::intercept, Bayesian::t, Bayesian::width_;
  using OverStore<Bayesian, Store>::store_;

  double now() const noexcept { return static_cast<double>(t); }

  BayesianSpec spec_;
  int k_;  // columns
  RowShape shape_;

 private:
  void add(Posterior& out, const double* stored, bool is_intercept) const {
    std::vector<double> row(stored, stored + width_);
    const double* common = shape_.precision(is_intercept);
    if (shape_.forgets()) shape_.catch_up(row.data(), common, now());
    for (int c = 0; c < k_; ++c) {
      const double mean = shape_.prior_mean(row.data(), c),
                   precision = shape_.prior_precision(row.data(), common, c);
      out.prior_means.push_back(mean);
      out.prior_precisions.push_back(precision);
      out.means.push_back(mean + row[c]);
      out.precisions.push_back(precision + row[k_ + c]);
    }
  }
};

}  // namespace riata
