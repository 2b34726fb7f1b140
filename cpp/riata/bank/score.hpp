// The scores of all units of a bank for one example, and the slopes of the loss. learn.hpp takes the steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "riata/bank/adagrad_steps.hpp"
#include "riata/bank/bank.hpp"
#include "riata/bank/kernels.hpp"
#include "riata/bank/scaled_values.hpp"
#include "riata/bank/stored.hpp"
#include "riata/linear/example.hpp"
#include "riata/linear/example_rows.hpp"

namespace riata {

// AdaGrad's steps, and nothing in their place where there is a schedule.
template <class Rule>
struct BankSteps {
  BankSteps(const BankLayout&, const AdaGradNumbers&) noexcept {}
};
template <class Rule>
  requires Rule::kImplicit
struct BankSteps<Rule> : AdaGradSteps<Rule::kPenalty> {
  using AdaGradSteps<Rule::kPenalty>::AdaGradSteps;
};

template <class Rule>
class ScoredBank : public StoredBank<Rule> {
  using Stored = StoredBank<Rule>;

 protected:
  using Stored::kAdaGrad, Stored::settings, Stored::size, Stored::width, Stored::columns;
  using Stored::layout_, Stored::history_, Stored::adagrad_, Stored::scales_, Stored::specs_, Stored::m_,
      Stored::groups_, Stored::rules_, Stored::intercept_;
  using typename Stored::Row;
  using Kind = BankOutcome::Kind;

  ScoredBank(const std::vector<LinearSpec>& specs, int groups) : Stored(specs, groups) { make_scratch(); }

  struct Example {
    double label, weight, offset;
    double* scores;  // of all columns, to be filled
  };

  void make_scratch() {
    gradient_.assign(size(columns()), 0.0);
    dot_.assign(size(columns()), 0.0);
    sums_.assign(4 * size(columns()), 0.0);
    learns_.assign(size(groups_), 0);
    marks_.assign(size(groups_), 0.0);
    rates_.assign(size(groups_ * settings()), 0.0);
    steps_.assign(size(settings()), 0.0);
    alike_.clear();
    for (int s = 0; s < settings(); ++s) {
      int first = 0;
      while (!same(specs_[size(first)].schedule, specs_[size(s)].schedule)) ++first;
      alike_.push_back(first);
    }
    strengths_.assign(size(columns()), 0.0);
    lengths_.assign(size(groups_), 1.0);
    counts_.assign(size(groups_), 0);
    quick_ = m_ == 1 && specs_.front().loss->name == "logistic";
    rows_ = std::make_unique<ExampleRows<Row, 0>>(layout_.sums_at(), layout_.sums());
  }
  static bool same(const Schedule& a, const Schedule& b) noexcept {
    return a.kind == b.kind && a.eta0 == b.eta0 && a.power_t == b.power_t;
  }
  BankColumns view() const noexcept {
    return {groups_, width(), history_.now.data(), history_.theta.data(), history_.starts.data()};
  }

  // For an example of so many features, and one more entry in every history. False: memory is exhausted.
  bool make_room(std::int64_t nnz) noexcept {
    try {
      if (went_.size() != size(groups_)) went_.assign(size(groups_), 0);
      if constexpr (kAdaGrad) return adagrad_steps_.make_room(nnz);
      const std::size_t cells = static_cast<std::size_t>(nnz) * size(columns());
      if (current_.size() < cells) current_.resize(2 * cells);
      for (int g = 0; g < groups_; ++g) {
        auto& entries = history_.before[size(g)];
        if (entries.capacity() < entries.size() + size(width())) {
          entries.reserve(entries.size() + std::max(entries.size() / 2, 64 * size(width())));
          history_.starts[size(g)] = entries.data();
        }
      }
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  // Of the example's values as they are looked at: the sums of weights times values, and what these are multiplied with.
  void gather(std::int64_t n) noexcept {
    for (int g = 0; g < groups_; ++g)
      lengths_[size(g)] =
          g > 0 && !layout_.scaled ? lengths_[0] : row_factor(specs_.front().normalize, values_.of(g), n);
    if constexpr (kAdaGrad) {
      adagrad_steps_.gather(rows_->rows(), values_.all(), n, dot_.data());
    } else {
      const auto all = size(columns());
      std::fill(sums_.begin(), sums_.end(), 0.0);
      kernels_.gather(view(), rows_->rows(), values_.all(), n, sums_.data(), current_.data());
      for (std::size_t c = 0; c < all; ++c)
        dot_[c] = (sums_[c] + sums_[all + c]) + (sums_[2 * all + c] + sums_[3 * all + c]);
    }
  }

  // The slopes of all units that learn the example; nothing is changed by it.
  BankOutcome slopes(const Example& of) noexcept {
    const Loss& loss = *specs_.front().loss;
    const double parameter = specs_.front().loss_parameter;
    for (int g = 0; g < groups_; ++g) {
      if (quick_ && learns_[size(g)] && log_loss(g, of)) continue;
      int moved = 0, still = -1;
      for (int s = 0; s < settings(); ++s) {
        const int u = g * settings() + s;
        bool any = false;
        for (int k = 0; k < m_; ++k) {
          const auto c = size(u * m_ + k);
          const double p = specs_.front().clip(rules_[size(u)].scale() * lengths_[size(g)] * dot_[c] +
                                               intercept_[c] + of.offset);
          of.scores[c] = p;
          if (!learns_[size(g)]) continue;
          const double slope = of.weight * loss.slope(p, loss.target(of.label, k, m_), parameter);
          if (!(std::fabs(p) <= kLargestBankScore && std::fabs(slope) <= kLargestBankScore))
            return {Kind::diverged, {}, s};
          gradient_[c] = slope;
          any = any || slope != 0;
        }
        any ? ++moved : still = s;
      }
      went_[size(g)] = learns_[size(g)];
      if (learns_[size(g)] && moved > 0 && still >= 0) return {Kind::uneven, {}, still};
      if (moved == 0) learns_[size(g)] = 0;  // nothing to learn from: only time goes on
    }
    return {};
  }

  // The same for one group, all at once. False: something is unusual, and is to be looked at one by one.
  bool log_loss(int g, const Example& of) noexcept {
    const int first = g * width();
    const LinearSpec& spec = specs_.front();
    went_[size(g)] = 1;
    return best_bank_kernels().log_loss({.n = width(),
                                         .scales = scales_.data() + first,
                                         .dot = dot_.data() + first,
                                         .intercept = intercept_.data() + first,
                                         .factor = lengths_[size(g)],
                                         .offset = of.offset,
                                         .low = spec.clip_low,
                                         .high = spec.clip_high,
                                         .y = spec.loss->target(of.label, 0, 1),
                                         .weight = of.weight,
                                         .scores = of.scores + first,
                                         .slopes = gradient_.data() + first});
  }

  [[no_unique_address]] BankSteps<Rule> adagrad_steps_{layout_, adagrad_};
  const BankKernels& kernels_ = best_bank_kernels().of(Rule::kDecay);
  std::unique_ptr<ExampleRows<Row, 0>> rows_;
  ScaledValues values_;
  // Scratch of an example.
  std::vector<double> gradient_, dot_, sums_, current_, marks_, rates_, strengths_;
  std::vector<double> lengths_;              // of each group: what values are multiplied with
  std::vector<std::uint8_t> learns_, went_;  // of each group: rows are touched; time goes on
  std::vector<std::uint8_t> counts_;         // of each group: values are learned
  std::vector<double> steps_;                // the learning rates of now, of each setting
  std::vector<int> alike_;                   // of each setting the first one with the same schedule
  bool quick_ = false;                       // one output and log loss: slopes are taken eight at a time
};

}  // namespace riata
