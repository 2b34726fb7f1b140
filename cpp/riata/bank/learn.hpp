// The loop behind a bank: what linear/learn.hpp does, for all settings at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "riata/bank/bank.hpp"
#include "riata/bank/score.hpp"
#include "riata/linear/rules/rule.hpp"
#include "riata/stores/table.hpp"

namespace riata {

template <class Rule>
class BankOf final : public ScoredBank<Rule> {
  using Scored = ScoredBank<Rule>;
  using Scored::adagrad_steps_, Scored::kernels_, Scored::rows_, Scored::values_, Scored::quick_;
  using Scored::gradient_, Scored::current_, Scored::marks_, Scored::rates_, Scored::strengths_,
      Scored::lengths_, Scored::learns_, Scored::went_, Scored::counts_, Scored::steps_, Scored::alike_;
  using Scored::layout_, Scored::history_, Scored::adagrad_, Scored::store_, Scored::compact_at_;
  using Scored::scales_, Scored::specs_, Scored::m_, Scored::groups_, Scored::rules_, Scored::factors_,
      Scored::intercept_, Scored::t_, Scored::features_;
  using Scored::settings, Scored::size, Scored::width, Scored::columns, Scored::words, Scored::chosen,
      Scored::note, Scored::make_room, Scored::gather, Scored::slopes, Scored::kAdaGrad, Scored::cells_,
      Scored::place;
  using typename Scored::Example, typename Scored::Row;
  using Status = Outcome::Status;
  using Kind = BankOutcome::Kind;

 public:
  BankOf(const std::vector<LinearSpec>& specs, int groups) : Scored(specs, groups) {}

  BankOutcome learn(const BlockView<std::int32_t>& b, const std::int64_t* order, std::int64_t n,
                    const std::int64_t* folds, double* scores) noexcept override {
    return learn_rows(b, order, n, folds, scores);
  }
  BankOutcome learn(const BlockView<std::int64_t>& b, const std::int64_t* order, std::int64_t n,
                    const std::int64_t* folds, double* scores) noexcept override {
    return learn_rows(b, order, n, folds, scores);
  }

  bool keep(const std::vector<int>& kept) override {
    BankOf other(chosen(specs_, kept, 1, 1), groups_);
    const int narrow = other.width(), wide = width();
    other.t_ = t_;
    other.features_ = features_;
    other.factors_ = chosen(factors_, kept, 1, 1);
    other.rules_ = chosen(rules_, kept, groups_, 1);
    other.intercept_ = chosen(intercept_, kept, groups_, m_);
    other.history_.now = chosen(history_.now, kept, groups_, m_);
    other.history_.theta = chosen(history_.theta, kept, groups_, m_);
    other.adagrad_.penalties = adagrad_.penalties;
    for (int u = 0; u < groups_ * other.settings(); ++u) other.note(u);
    for (int g = 0; g < groups_; ++g) {
      const auto entries = static_cast<int>(this->entries(g));
      other.history_.before[size(g)] = chosen(history_.before[size(g)], kept, entries, m_);
      other.history_.starts[size(g)] = other.history_.before[size(g)].data();
    }
    if (store_->named() && !other.store_->set_named()) return false;
    const Row row = other.row();
    std::vector<double> of_row(size(words()));
    bool room = true;
    store_->for_each([&](std::uint64_t key, const double* words_of) {
      room = room && other.cells_.make_room(1);
      if (!room) return;
      std::copy_n(words_of, words(), of_row.data());
      of_row[0] = other.cells_.take();
      const double* const from = cells_.of(words_of[0]);
      double* const narrow_cells = other.cells_.of(of_row[0]);
      for (int g = 0; g < (layout_.roots ? 2 : 1) * groups_; ++g)  // weights, and roots behind them
        for (std::size_t i = 0; i < kept.size(); ++i)
          std::copy_n(from + g * wide + kept[i] * m_, m_, narrow_cells + size(g * narrow) + i * size(m_));
      if (!row.is_live(of_row.data(), 0)) return other.cells_.give_back(of_row[0]);
      double* const to = other.store_->restore(key, store_->name(key));
      room = to != nullptr;
      if (room) std::copy(of_row.begin(), of_row.end(), to);
    });
    if (room) take(other);
    return room;
  }

 private:
  void take(BankOf& other) {
    specs_ = std::move(other.specs_);
    rules_ = std::move(other.rules_);
    factors_ = std::move(other.factors_);
    intercept_ = std::move(other.intercept_);
    layout_ = other.layout_;
    adagrad_ = std::move(other.adagrad_);
    history_ = std::move(other.history_);
    for (int g = 0; g < groups_; ++g) history_.starts[size(g)] = history_.before[size(g)].data();
    store_ = std::move(other.store_);
    cells_ = std::move(other.cells_);
    scales_ = std::move(other.scales_);
    for (int u = 0; u < groups_ * settings(); ++u) note(u);
    current_.clear();
    current_.shrink_to_fit();
    this->make_scratch();
  }

  template <class Index>
  BankOutcome learn_rows(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n,
                         const std::int64_t* folds, double* scores) noexcept {
    const auto refuse = [](Status status, std::int64_t i) {
      return BankOutcome{Kind::refused, {status, i}, -1};
    };
    if (b.named() ? !store_->set_named() : store_->named()) return refuse(Status::mixed_names, 0);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t r = order == nullptr ? i : order[i];
      if (!b.holds(r)) return refuse(Status::bad_block, i);
      const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1], nnz = end - begin;
      Index bits = 0;
      for (std::int64_t k = begin; k < end; ++k) bits |= b.indices[k];
      if (bits < 0) return refuse(Status::bad_index, i);
      if (!rows_->make_room(*store_, b.indices + begin, nnz, bits) || !make_room(nnz))
        return refuse(Status::out_of_memory, i);
      const Row row = this->row();
      rows_->find(*store_, row, b, order, i, n);
      place(nnz);
      const Example example{b.labels[r], b.weights == nullptr ? 1 : b.weights[r], b.offset(r),
                            scores + i * columns()};
      bool counted = false;
      for (int g = 0; g < groups_; ++g) {
        learns_[size(g)] = folds == nullptr || folds[i] != g;
        counts_[size(g)] = learns_[size(g)] && example.weight > 0;
        counted = counted || counts_[size(g)];
      }
      if (!values_.look(layout_, rows_->rows(), b.values + begin, nnz, counts_.data()))
        return refuse(Status::out_of_memory, i);
      gather(nnz);
      const BankOutcome judged = slopes(example);
      if (judged.kind != Kind::ok) {
        values_.take_back(layout_, rows_->rows());
        give_back(row, true);
        return {judged.kind, {Status::ok, i}, judged.setting};
      }
      const bool any = take_step(example, nnz);
      if (!b.named() && end > begin) see(static_cast<std::int64_t>(b.indices[end - 1]) + 1);
      const bool learned = any || (layout_.scaled && counted);
      give_back(row, !learned);
      if (learned && !rows_->keep_live(*store_, row, b, begin, end))
        return refuse(Status::out_of_memory, i + 1);
      tidy();
    }
    return {Kind::ok, {Status::ok, n}, -1};
  }

  // The cells of the rows that are new and will not be kept.
  void give_back(const Row& row, bool all) noexcept {
    rows_->for_new([&](std::uint32_t, double* of_row) {
      if (!all && row.is_live(of_row, 0)) return;
      cells_.give_back(of_row[0]);
      of_row[0] = 0;
    });
  }

  void see(std::int64_t features) noexcept {
    for (int g = 0; g < groups_; ++g)
      if (went_[size(g)]) features_[size(g)] = std::max(features_[size(g)], features);
  }

  // The step of every unit whose group learns the example. Whether any row was touched.
  bool take_step(const Example& of, std::int64_t nnz) noexcept {
    bool any = false;
    if constexpr (kAdaGrad) {
      for (int g = 0; g < groups_; ++g) any = (learns_[size(g)] && take_implicit_step(g, of, nnz)) || any;
    } else {
      any = take_scheduled_step(nnz);
    }
    for (int g = 0; g < groups_; ++g) {
      if (!went_[size(g)]) continue;
      for (int u = g * settings(); u < (g + 1) * settings(); ++u) {
        rules_[size(u)].end(rates_[size(u)]);
        if constexpr (!kAdaGrad) note(u);
      }
      if constexpr (kAdaGrad) adagrad_.penalties[size(g)] = rules_[size(g * settings())].penalties();
      ++t_[size(g)];
    }
    return any;
  }
  bool take_scheduled_step(std::int64_t nnz) noexcept {
    bool any = false;
    for (int g = 0; g < groups_; ++g) {
      if (!went_[size(g)]) continue;
      for (int s = 0; s < settings(); ++s) {
        const int first = alike_[size(s)];
        steps_[size(s)] = first < s ? steps_[size(first)] : specs_[size(s)].schedule(t_[size(g)]);
        begin_step(g, s);
      }
      if (learns_[size(g)]) {
        any = true;
        remember(g);
      }
    }
    if (!any) return false;
    for (int g = 0; g < groups_; ++g) {
      if (!learns_[size(g)]) continue;
      this->each_part(g, nnz, [&](const BankPart& part, const BankEntries& entries, const double* current) {
        if constexpr (Rule::kStill)
          kernels_.push(part, entries, gradient_.data(), current);
        else
          kernels_.push_anew(part, entries, gradient_.data());
      });
      const int at = layout_.marks_at() + g;
      for (std::int64_t k = 0; k < nnz; ++k) rows_->rows()[k][at] = marks_[size(g)];
    }
    return true;
  }

  // AdaGrad's step of a group whose slopes are known: they become those after it. False: there is no step to take.
  bool take_implicit_step(int g, const Example& of, std::int64_t nnz) noexcept {
    const int first = g * settings();
    const double factor = lengths_[size(g)];
    const bool with_intercept = specs_.front().fit_intercept, is_explicit = rules_.front().is_explicit();
    if (!specs_.front().loss->classification && !is_explicit && leave_to_intercept(g, of)) return false;
    std::fill_n(strengths_.begin() + first * m_, width(), 0.0);
    for (int u = first; with_intercept && u < first + settings(); ++u)
      rules_[size(u)].prepare_intercept(gradient_.data() + u * m_, m_, strengths_.data() + u * m_);
    adagrad_steps_.prepare(g, this->features(nnz), values_.of(g), factor, gradient_.data(),
                           strengths_.data());
    if (!is_explicit) make_implicit(g, of);
    for (int u = first; with_intercept && u < first + settings(); ++u)
      rules_[size(u)].push_intercept(intercept_.data() + u * m_, gradient_.data() + u * m_, m_, 0);
    for (int c = first * m_; c < first * m_ + width(); ++c) gradient_[size(c)] *= factor;
    adagrad_steps_.push(g, this->features(nnz), values_.of(g), gradient_.data(),
                        rules_[size(first)].ends_period());
    return true;
  }
  // Of a regression: slopes in units of the residuals so far. True: the first example moves intercepts alone.
  bool leave_to_intercept(int g, const Example& of) noexcept {
    bool first = false;
    for (int u = g * settings(); u < (g + 1) * settings(); ++u) {
      double* const residuals = strengths_.data() + u * m_;
      for (int k = 0; k < m_; ++k) residuals[k] = of.label - of.scores[u * m_ + k];
      Rule& rule = rules_[size(u)];
      first = rule.learn_residuals(residuals, m_, of.weight, specs_.front().fit_intercept);
      for (int k = 0; k < m_; ++k) {
        if (first) intercept_[size(u * m_ + k)] = of.label - of.offset;
        gradient_[size(u * m_ + k)] /= rule.unit(k);
      }
    }
    return first;
  }
  void make_implicit(int g, const Example& of) noexcept {
    const Loss& loss = *specs_.front().loss;
    const int first = g * width();
    if (quick_) {
      best_bank_adagrad_kernels().implicit({.n = width(),
                                            .y = loss.target(of.label, 0, 1),
                                            .weight = of.weight,
                                            .scores = of.scores + first,
                                            .strengths = strengths_.data() + first,
                                            .slopes = gradient_.data() + first});
      return;
    }
    const double parameter = specs_.front().loss_parameter;
    for (int c = first; c < first + width(); ++c)
      gradient_[size(c)] = of.weight * loss.implicit(of.scores[c], loss.target(of.label, c % m_, m_),
                                                     parameter, of.weight * strengths_[size(c)]);
  }

  void begin_step(int g, int s) noexcept {
    const int u = g * settings() + s;
    Rule& rule = rules_[size(u)];
    const double rate = factors_[size(s)] * steps_[size(s)];
    rates_[size(u)] = rate;
    rule.begin(rate);
    if constexpr (!Rule::kStill) note(u);
    if (!learns_[size(g)]) return;
    double* const gradient = gradient_.data() + u * m_;
    if (specs_.front().fit_intercept) rule.push_intercept(intercept_.data() + u * m_, gradient, m_, rate);
    const double gain = rule.gain(rate) * lengths_[size(g)];
    for (int k = 0; k < m_; ++k) gradient[k] *= gain;
  }

  // An entry for the running scalars of now, unless they are those of the last one.
  void remember(int g) noexcept {
    auto& entries = history_.before[size(g)];
    const double* const now = history_.now.data() + g * width();
    const std::size_t bytes = size(width()) * sizeof(double);
    if (std::memcmp(entries.data() + entries.size() - size(width()), now, bytes) != 0)
      entries.insert(entries.end(), now, now + width());  // there is room
    history_.starts[size(g)] = entries.data();
    marks_[size(g)] = static_cast<double>(this->entries(g) - 1);
  }

  // Between two examples: what comes due once in a while.
  void tidy() noexcept {
    if constexpr (kAdaGrad) return;
    for (int u = 0; u < groups_ * settings(); ++u)
      if (rules_[size(u)].stale()) [[unlikely]]
        this->rescale(u);
    for (int g = 0; g < groups_; ++g)
      if (this->entries(g) > compact_at_[size(g)]) [[unlikely]]
        this->compact(g);
  }
};

}  // namespace riata
