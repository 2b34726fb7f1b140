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
      Stored::groups_, Stored::rules_, Stored::intercept_, Stored::cells_, Stored::store_;
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
  BankFeatures features(std::int64_t n) const noexcept { return {rows_->rows(), cells_of_.data(), n}; }
  // work(part, entries, current) for eight columns of a group at a time, and for those that are left.
  template <class Work>
  void each_part(int g, std::int64_t n, const Work& work) noexcept {
    const BankEntries entries{cells_of_.data(), before_.data() + g * n, values_.of(g), n};
    const int parts = (width() + 7) / 8;
    Stored::each_part(g, [&](const BankPart& part) {
      work(part, entries, current_.data() + (g * parts + part.first / 8) * 8 * n);
    });
  }

  // For an example of so many features, and one more entry in every history. False: memory is exhausted.
  bool make_room(std::int64_t nnz) noexcept {
    try {
      if (went_.size() != size(groups_)) went_.assign(size(groups_), 0);
      if (!cells_.make_room(static_cast<std::size_t>(nnz)) || !at_least(cells_of_, nnz)) return false;
      if (cells_.due()) [[unlikely]]
        collect();
      if constexpr (kAdaGrad) return adagrad_steps_.make_room(nnz);
      const int parts = groups_ * ((width() + 7) / 8);
      if (!at_least(current_, nnz * 8 * parts) || !at_least(before_, nnz * groups_)) return false;
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

  // The cells of features that are gone, or whose weights have all come to zero, are for others.
  void collect() noexcept {
    const Row row = this->row();
    cells_.collect([&](const auto& see) {
      store_->for_each([&](std::uint64_t, double* words) {
        if (row.is_live(words, 0))
          see(words[0]);
        else
          words[0] = 0;
      });
    });
  }

  // Where the cells of an example are whose rows are found; features without any get some.
  void place(std::int64_t n) noexcept {
    const int cells = layout_.cells();
    double* const* const rows = rows_->rows();
    for (std::int64_t k = 0; k < n; ++k) {
      if (rows[k][0] == 0) rows[k][0] = cells_.take();
      double* const at = cells_of_[static_cast<std::size_t>(k)] = cells_.of(rows[k][0]);
      for (int c = 0; c < cells; c += 8) __builtin_prefetch(at + c, 1, 2);
    }
    if constexpr (!kAdaGrad) {
      for (int g = 0; g < groups_; ++g)
        for (std::int64_t k = 0; k < n; ++k) {
          const auto entry = static_cast<std::int64_t>(rows[k][layout_.marks_at() + g]);
          const double* const at = history_.starts[size(g)] + entry * width();
          before_[static_cast<std::size_t>(g * n + k)] = at;
          for (int c = 0; c < width(); c += 8) __builtin_prefetch(at + c, 0, 2);
        }
    }
  }

  // Of the example's values as they are looked at: the sums of weights times values, and what these are multiplied with.
  void gather(std::int64_t n) noexcept {
    for (int g = 0; g < groups_; ++g)
      lengths_[size(g)] =
          g > 0 && !layout_.scaled ? lengths_[0] : row_factor(specs_.front().normalize, values_.of(g), n);
    if constexpr (kAdaGrad) {
      adagrad_steps_.gather(features(n), values_.all(), dot_.data());
    } else {
      for (int g = 0; g < groups_; ++g)
        each_part(g, n, [&](const BankPart& part, const BankEntries& entries, double* current) {
          kernels_.gather(part, entries, current, dot_.data());
        });
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
  std::vector<double> gradient_, dot_, current_, marks_, rates_, strengths_;
  std::vector<double*> cells_of_;      // of each feature
  std::vector<const double*> before_;  // with a schedule, of each group and feature: the running scalars then
  std::vector<double> lengths_;        // of each group: what values are multiplied with
  std::vector<std::uint8_t> learns_, went_;  // of each group: rows are touched; time goes on
  std::vector<std::uint8_t> counts_;         // of each group: values are learned
  std::vector<double> steps_;                // the learning rates of now, of each setting
  std::vector<int> alike_;                   // of each setting the first one with the same schedule
  bool quick_ = false;                       // one output and log loss: slopes are taken eight at a time
};

}  // namespace riata
