// A linear model over a store: what can be read of it, saved and put back. learn.hpp learns.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "riata/linear/linear.hpp"

namespace riata {

template <class Rule, class Store, int M>  // M columns, or 0: known only at run time
class StoredLinear : public Linear {
 public:
  explicit StoredLinear(const LinearSpec& spec)
      : spec_(spec),
        m_(spec.columns),
        rule_(spec.numbers, spec.columns),
        store_(Rule::width(spec.columns), spec.bits) {
    intercept.assign(static_cast<std::size_t>(m_), 0.0);
  }

  Rows coefficients() const override {
    return collect(
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
    return collect(
        row_width(), [&](const double* row) { return rule_.is_live(row, m()); },
        [&](const double* row, double* out) { std::memcpy(out, row, sizeof(double) * row_width()); });
  }
  bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n, const char* names,
                const std::int64_t* name_offsets) noexcept override {
    BlockView<std::int64_t> b;
    b.names = names;
    b.name_offsets = name_offsets;
    if (!same_kind(b)) return false;
    for (std::int64_t i = 0; i < n; ++i) {
      double* row = store_.restore(static_cast<std::uint64_t>(keys[i]), b.name(i));
      if (row == nullptr) return false;
      std::memcpy(row, values + i * row_width(), sizeof(double) * row_width());
    }
    return true;
  }
  int row_width() const noexcept override { return Rule::width(m()); }

  bool named() const noexcept override {
    if constexpr (!Store::kDirect) return store_.named();
    return false;
  }
  Names names(const std::int64_t* keys, std::int64_t n) const override {
    Names out;
    out.offsets.push_back(0);
    for (std::int64_t i = 0; i < n; ++i) {
      std::string_view name;
      if constexpr (!Store::kDirect) name = store_.name(static_cast<std::uint64_t>(keys[i]));
      out.bytes.insert(out.bytes.end(), name.begin(), name.end());
      out.offsets.push_back(static_cast<std::int64_t>(out.bytes.size()));
    }
    return out;
  }

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
    store_.for_each([&](std::uint64_t, const double* row) {
      for (int c = 0; c < m(); ++c) live += rule_.current(row, m(), c) != 0;
    });
    return live;
  }
  std::uint64_t bytes() const noexcept override { return store_.bytes(); }

  void set_rate_factor(double factor) noexcept override {
    if constexpr (Rule::kRemembersRates) {
      store_.for_each([&](std::uint64_t, double* row) { rule_.catch_up(row, m()); });
      rule_.set_factor(factor);
    }
    rate_factor_ = factor;
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
  int m() const noexcept { return M == 0 ? m_ : M; }

  // A table holds names of all its rows or of none.
  template <class Index>
  bool same_kind(const BlockView<Index>& b) noexcept {
    if constexpr (!Store::kDirect) {
      if (b.named()) return store_.set_named();
      return !store_.named();
    }
    return true;
  }

  LinearSpec spec_;
  int m_;
  Rule rule_;
  Store store_;

 private:
  template <class Wanted, class Write>
  Rows collect(int width, Wanted wanted, Write write) const {
    std::vector<std::pair<std::uint64_t, const double*>> found;
    store_.for_each([&](std::uint64_t key, const double* row) {
      if (wanted(row)) found.emplace_back(key, row);
    });
    if constexpr (!Store::kDirect) std::sort(found.begin(), found.end());
    Rows out;
    out.keys.reserve(found.size());
    out.values.resize(found.size() * static_cast<std::size_t>(width));
    double* next = out.values.data();
    for (const auto& [key, row] : found) {
      out.keys.push_back(static_cast<std::int64_t>(key));
      write(row, next);
      next += width;
    }
    return out;
  }
};

}  // namespace riata
