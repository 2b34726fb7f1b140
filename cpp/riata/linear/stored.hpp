// A linear model over a store: what can be read of it, saved and put back. learn.hpp learns.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "riata/linear/feature_scale.hpp"
#include "riata/linear/kernels.hpp"
#include "riata/linear/linear.hpp"

namespace riata {

// The sums of all features, by ascending key: of those with a row, and of those that wait.
inline Rows with_waiting(const Rows& rows, const WaitingSums& waiting) {
  std::vector<std::pair<std::int64_t, const double*>> all;
  for (std::size_t i = 0; i < rows.keys.size(); ++i)
    all.emplace_back(rows.keys[i], rows.values.data() + kScaleSums * i);
  for (const auto& [key, sums] : waiting) all.emplace_back(static_cast<std::int64_t>(key), sums.data());
  std::sort(all.begin(), all.end());
  Rows out;
  for (const auto& [key, sums] : all) {
    out.keys.push_back(key);
    out.values.insert(out.values.end(), sums, sums + kScaleSums);
  }
  return out;
}

template <class Rule, AnyStore Store>
class StoredLinear : public OverStore<Linear, Store> {
 public:
  explicit StoredLinear(const LinearSpec& spec)
      : OverStore<Linear, Store>(Rule::width(spec.columns) + (spec.scaled ? kScaleSums : 0), spec.bits),
        spec_(spec),
        m_(spec.columns),
        rule_(spec.numbers, spec.columns) {
    this->intercept.assign(static_cast<std::size_t>(m_), 0.0);
  }

  Rows coefficients() const override {
    return this->collect(
        m_,
        [&](const double* row) {
          for (int c = 0; c < m_; ++c)
            if (rule_.current(row, m_, c) != 0) return true;
          return false;
        },
        [&](const double* row, double* out) {
          for (int c = 0; c < m_; ++c) out[c] = rule_.scale() * rule_.current(row, m_, c);
        });
  }
  Rows rows() const override {
    return this->collect(
        row_width(), [&](const double* row) { return rule_.is_live(row, m_); },
        [&](const double* row, double* out) { std::memcpy(out, row, sizeof(double) * row_width()); });
  }
  int row_width() const noexcept override { return Rule::width(m_); }

  std::vector<double> rule_state() const override {
    std::vector<double> out(static_cast<std::size_t>(rule_.state_size(m_)));
    rule_.save(out.data());
    return out;
  }
  bool set_rule_state(const std::vector<double>& rule_state) override {
    if (rule_state.size() != static_cast<std::size_t>(rule_.state_size(m_))) return false;
    rule_.load(rule_state.data());
    return true;
  }

  std::int64_t live_weights() const noexcept override {
    std::int64_t live = 0;
    if constexpr (Rule::kDecay != DecayKind::none && Store::kGroups) {
      if (m_ == 1) {
        const DecayKernels& kernels = best_linear_kernels().of(Rule::kDecay);
        const Decay decay = rule_.decay();
        store_.for_each([&](std::uint64_t key, const double* row) {
          if (key % kGroupRows == 0)
            live += std::popcount(kernels.live(decay, row, static_cast<std::uint64_t>(this->stored_width_)));
        });
        return live;
      }
    }
    store_.for_each([&](std::uint64_t, const double* row) {
      for (int c = 0; c < m_; ++c) live += rule_.current(row, m_, c) != 0;
    });
    return live;
  }

  void set_rate_factor(double factor) noexcept override {
    if constexpr (Rule::kRemembersRates) {
      store_.for_each([&](std::uint64_t, double* row) { rule_.catch_up(row, m_); });
      rule_.set_factor(factor);
    }
    this->rate_factor_ = factor;
  }

  void prune(double threshold) noexcept override {
    std::vector<std::uint64_t> gone;
    store_.for_each([&](std::uint64_t key, double* row) {
      if (!rule_.is_live(row, m_)) return;
      rule_.catch_up(row, m_);
      for (int c = 0; c < m_; ++c)
        if (std::fabs(rule_.scale() * row[c]) <= threshold) row[c] = 0;
      if (!rule_.is_live(row, m_)) gone.push_back(key);
    });
    if constexpr (!Store::kDirect) {
      for (const std::uint64_t key : gone)
        if (!spec_.scaled) store_.erase(key);
    }
  }

  bool scaled() const noexcept override { return spec_.scaled; }
  Rows scale_sums() const override {
    const int at = row_width();
    Rows out = this->collect(
        kScaleSums, [&](const double* row) { return row[at] != 0; },
        [&](const double* row, double* to) { std::copy_n(row + at, kScaleSums, to); });
    return waiting_.empty() ? out : with_waiting(out, waiting_);
  }
  bool set_scale_sums(const std::int64_t* keys, const double* sums, std::int64_t n) noexcept override {
    try {
      for (std::int64_t i = 0; i < n; ++i) {
        const auto key = static_cast<std::uint64_t>(keys[i]);
        double* const row = row_for_sums(key);
        if (row != nullptr)
          std::copy_n(sums + kScaleSums * i, kScaleSums, row + row_width());
        else if (this->named() && Store::possible(key))
          waiting_[key] = {sums[kScaleSums * i], sums[kScaleSums * i + 1]};
        else
          return false;
      }
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

 protected:
  using OverStore<Linear, Store>::store_;

  const double* sums_of(std::uint64_t key) const noexcept override {
    const double* const row = Store::possible(key) ? std::as_const(store_).find(key) : nullptr;
    if (row != nullptr) return row + row_width();
    if (waiting_.empty()) return nullptr;
    const auto found = waiting_.find(key);
    return found == waiting_.end() ? nullptr : found->second.data();
  }
  const double* saved_sums(std::uint64_t key) const noexcept override {
    if constexpr (Store::kDirect && !Store::kDistinct) {
      const double* const row = store_.place(key);
      return row == nullptr ? nullptr : row + row_width();
    }
    return sums_of(key);
  }

  LinearSpec spec_;
  int m_;
  Rule rule_;
  WaitingSums waiting_;

 private:
  // The row of a saved feature, made if need be; null: it would have no name, or cannot be.
  double* row_for_sums(std::uint64_t key) noexcept {
    if constexpr (Store::kDirect) {
      return store_.restore(key, {});
    } else {
      if (!Store::possible(key)) return nullptr;
      double* row = store_.find(key);
      if (row != nullptr || store_.named()) return row;
      row = store_.insert(key, {});
      if (row != nullptr) rule_.init(row, m_);
      return row;
    }
  }
};

}  // namespace riata
