// A Bayesian model over a store: what can be read of it, saved and put back.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "riata/bayesian/bayesian.hpp"
#include "riata/bayesian/row_layout.hpp"

namespace riata {

template <class Store>
class StoredBayesian : public Bayesian {
 public:
  StoredBayesian(const BayesianSpec& spec, int columns)
      : spec_(spec), k_(columns), shape_(spec, columns), store_(shape_.width(), spec.bits) {
    columns_ = columns;
    width_ = shape_.width();
    intercept.assign(static_cast<std::size_t>(width_), 0.0);
  }

  Posterior posterior() const override {
    Posterior out;
    for (const auto& [key, row] : found()) {
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
    Rows out;
    for (const auto& [key, row] : found()) {
      out.keys.push_back(static_cast<std::int64_t>(key));
      out.values.insert(out.values.end(), row, row + width_);
    }
    return out;
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
      std::copy(values + i * width_, values + (i + 1) * width_, row);
    }
    return true;
  }
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
  std::int64_t live_weights() const noexcept override {
    std::int64_t live = 0;
    store_.for_each([&](std::uint64_t, const double* row) {
      for (int o = 0; o < spec_.outputs; ++o)  // one component speaks for all: they move together
        live += row[o * static_cast<int>(spec_.prior_variances.size())] != 0;
    });
    return live;
  }
  std::uint64_t bytes() const noexcept override { return store_.bytes(); }

 protected:
  // A table holds names of all its rows or of none.
  template <class Index>
  bool same_kind(const BlockView<Index>& b) noexcept {
    if constexpr (!Store::kDirect) {
      if (b.names != nullptr) return store_.set_named();
      return !store_.named();
    }
    return true;
  }

  double now() const noexcept { return static_cast<double>(t); }

  BayesianSpec spec_;
  int k_;  // columns
  RowShape shape_;
  Store store_;

 private:
  std::vector<std::pair<std::uint64_t, const double*>> found() const {
    std::vector<std::pair<std::uint64_t, const double*>> out;
    store_.for_each([&](std::uint64_t key, const double* row) {
      if (!shape_.blank(row)) out.emplace_back(key, row);
    });
    if constexpr (!Store::kDirect) std::sort(out.begin(), out.end());
    return out;
  }

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
