// A linear model over a store: what can be read of it, saved and put back. learn.hpp learns.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "riata/linear/kernels.hpp"
#include "riata/linear/linear.hpp"

namespace riata {

template <class Rule, AnyStore Store, int M>  // M columns, or 0: known only at run time
class StoredLinear : public OverStore<Linear, Store> {
 public:
  explicit StoredLinear(const LinearSpec& spec)
      : OverStore<Linear, Store>(Rule::width(spec.columns), spec.bits),
        spec_(spec),
        m_(spec.columns),
        rule_(spec.numbers, spec.columns) {
    this->intercept.assign(static_cast<std::size_t>(m_), 0.0);
  }

  Rows coefficients() const override {
    return this->collect(
        m(),
        [&](const double* row) {
          for (int c = 0; c < m(); ++c)
            if (rule_.current(row, m(), c) != 0) return true;
          return false;
        },
        [&](const double* row, double* out) {
          for (int c = 0; c < m(); ++c) out[c] = rule_.scale() * rule_.current(row, m(), c);
        });
  }
  Rows rows() const override {
    return this->collect(
        row_width(), [&](const double* row) { return rule_.is_live(row, m()); },
        [&](const double* row, double* out) { std::memcpy(out, row, sizeof(double) * row_width()); });
  }
  int row_width() const noexcept override { return Rule::width(m()); }

  std::vector<double> rule_state() const override {
    std::vector<double> out(static_cast<std::size_t>(rule_.state_size(m())));
    rule_.save(out.data());
    return out;
  }
  bool set_rule_state(const std::vector<double>& rule_state) override {
    if (rule_state.size() != static_cast<std::size_t>(rule_.state_size(m()))) return false;
    rule_.load(rule_state.data());
    return true;
  }

  std::int64_t live_weights() const noexcept override {
    std::int64_t live = 0;
    if constexpr (M == 1 && Rule::kDecay != DecayKind::none && Store::kGroups) {
      const DecayKernels& kernels = best_linear_kernels().of(Rule::kDecay);
      const Decay decay = rule_.decay();
      store_.for_each([&](std::uint64_t key, const double* row) {
        if (key % kGroupRows == 0) live += std::popcount(kernels.live(decay, row, 2));
      });
      return live;
    }
    store_.for_each([&](std::uint64_t, const double* row) {
      for (int c = 0; c < m(); ++c) live += rule_.current(row, m(), c) != 0;
    });
    return live;
  }

  void set_rate_factor(double factor) noexcept override {
    if constexpr (Rule::kRemembersRates) {
      store_.for_each([&](std::uint64_t, double* row) { rule_.catch_up(row, m()); });
      rule_.set_factor(factor);
    }
    this->rate_factor_ = factor;
  }

  void prune(double threshold) noexcept override {
    std::vector<std::uint64_t> gone;
    store_.for_each([&](std::uint64_t key, double* row) {
      if (!rule_.is_live(row, m())) return;
      rule_.catch_up(row, m());
      for (int c = 0; c < m(); ++c)
        if (std::fabs(rule_.scale() * row[c]) <= threshold) row[c] = 0;
      if (!rule_.is_live(row, m())) gone.push_back(key);
    });
    if constexpr (!Store::kDirect) {
      for (const std::uint64_t key : gone) store_.erase(key);
    }
  }

 protected:
  using OverStore<Linear, Store>::store_;

  int m() const noexcept { return M == 0 ? m_ : M; }

  LinearSpec spec_;
  int m_;
  Rule rule_;
};

}  // namespace riata
