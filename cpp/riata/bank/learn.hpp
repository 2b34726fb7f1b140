// The loop behind a bank: what linear/learn.hpp does, for all settings at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "riata/bank/bank.hpp"
#include "riata/bank/kernels.hpp"
#include "riata/bank/stored.hpp"
#include "riata/linear/example.hpp"
#include "riata/linear/example_rows.hpp"
#include "riata/linear/rules/rule.hpp"
#include "riata/stores/table.hpp"

namespace riata {

template <class Rule>
class BankOf final : public StoredBank<Rule> {
  using Stored = StoredBank<Rule>;
  using Stored::scales_, Stored::specs_, Stored::m_, Stored::groups_, Stored::rules_, Stored::factors_,
      Stored::intercept_;
  using Stored::settings, Stored::size, Stored::width, Stored::columns, Stored::words, Stored::chosen,
      Stored::note;
  using Stored::t_, Stored::features_, Stored::history_, Stored::store_, Stored::compact_at_;
  using typename Stored::Row;
  static constexpr DecayKind kKind = Rule::kDecay;
  using Status = Outcome::Status;
  using Kind = BankOutcome::Kind;

 public:
  BankOf(const std::vector<LinearSpec>& specs, int groups) : Stored(specs, groups) { make_scratch(); }

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
    for (int g = 0; g < groups_; ++g) {
      const auto entries = static_cast<int>(history_.entries(g));
      other.history_.before[size(g)] = chosen(history_.before[size(g)], kept, entries, m_);
      other.history_.starts[size(g)] = other.history_.before[size(g)].data();
    }
    if (store_->named() && !other.store_->set_named()) return false;
    const Row row(other.history_);
    std::vector<double> narrow_row(size(other.words()));
    bool room = true;
    store_->for_each([&](std::uint64_t key, const double* from) {
      for (int g = 0; g < groups_; ++g) {
        for (std::size_t i = 0; i < kept.size(); ++i)
          std::copy_n(from + g * wide + kept[i] * m_, m_, &narrow_row[size(g * narrow) + i * size(m_)]);
        narrow_row[size(groups_ * narrow + g)] = from[groups_ * wide + g];
      }
      if (!room || !row.is_live(narrow_row.data(), 0)) return;
      double* const to = other.store_->restore(key, store_->name(key));
      room = to != nullptr;
      if (room) std::copy(narrow_row.begin(), narrow_row.end(), to);
    });
    if (room) take(other);
    return room;
  }

 private:
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
    quick_ = m_ == 1 && specs_.front().loss->name == "logistic";
    rows_ = std::make_unique<ExampleRows<Row, 0>>(words());
  }
  static bool same(const Schedule& a, const Schedule& b) noexcept {
    return a.kind == b.kind && a.eta0 == b.eta0 && a.power_t == b.power_t;
  }
  void take(BankOf& other) {
    specs_ = std::move(other.specs_);
    rules_ = std::move(other.rules_);
    factors_ = std::move(other.factors_);
    intercept_ = std::move(other.intercept_);
    history_ = std::move(other.history_);
    for (int g = 0; g < groups_; ++g) history_.starts[size(g)] = history_.before[size(g)].data();
    store_ = std::move(other.store_);
    scales_ = std::move(other.scales_);
    for (int u = 0; u < groups_ * settings(); ++u) note(u);
    current_.clear();
    current_.shrink_to_fit();
    make_scratch();
  }

  BankColumns view() const noexcept {
    return {groups_, width(), history_.now.data(), history_.theta.data(), history_.starts.data()};
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
      const Row row(history_);
      rows_->find(*store_, row, b, order, i, n);
      gather(b.values + begin, nnz);
      for (int g = 0; g < groups_; ++g) learns_[size(g)] = folds == nullptr || folds[i] != g;
      const double factor = row_factor(specs_.front().normalize, b.values + begin, nnz);
      const double weight = b.weights == nullptr ? 1 : b.weights[r];
      const BankOutcome judged = slopes(factor, b.labels[r], weight, b.offset(r), scores + i * columns());
      if (judged.kind != Kind::ok) return {judged.kind, {Status::ok, i}, judged.setting};
      const bool any = take_step(b.values + begin, nnz, factor);
      if (!b.named() && end > begin) see(static_cast<std::int64_t>(b.indices[end - 1]) + 1);
      if (any && !rows_->keep_live(*store_, row, b, begin, end)) return refuse(Status::out_of_memory, i + 1);
      tidy();
    }
    return {Kind::ok, {Status::ok, n}, -1};
  }

  void see(std::int64_t features) noexcept {
    for (int g = 0; g < groups_; ++g)
      if (went_[size(g)]) features_[size(g)] = std::max(features_[size(g)], features);
  }

  // For an example of so many features, and one more entry in every history. False: memory is exhausted.
  bool make_room(std::int64_t nnz) noexcept {
    try {
      if (went_.size() != size(groups_)) went_.assign(size(groups_), 0);
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

  void gather(const float* x, std::int64_t n) noexcept {
    const auto all = size(columns());
    std::fill(sums_.begin(), sums_.end(), 0.0);
    kernels_.gather(view(), rows_->rows(), x, n, sums_.data(), current_.data());
    for (std::size_t c = 0; c < all; ++c)
      dot_[c] = (sums_[c] + sums_[all + c]) + (sums_[2 * all + c] + sums_[3 * all + c]);
  }

  // The slopes of all units that learn the example; nothing is changed by it.
  BankOutcome slopes(double factor, double label, double weight, double offset, double* scores) noexcept {
    const Loss& loss = *specs_.front().loss;
    const double parameter = specs_.front().loss_parameter;
    for (int g = 0; g < groups_; ++g) {
      if (quick_ && learns_[size(g)] && log_loss(g, factor, label, weight, offset, scores)) continue;
      int moved = 0, still = -1;
      for (int s = 0; s < settings(); ++s) {
        const int u = g * settings() + s;
        bool any = false;
        for (int k = 0; k < m_; ++k) {
          const auto c = size(u * m_ + k);
          const double p =
              specs_.front().clip(rules_[size(u)].scale() * factor * dot_[c] + intercept_[c] + offset);
          scores[c] = p;
          if (!learns_[size(g)]) continue;
          const double slope = weight * loss.slope(p, loss.target(label, k, m_), parameter);
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
  bool log_loss(int g, double factor, double label, double weight, double offset, double* scores) noexcept {
    const int first = g * width();
    const LinearSpec& spec = specs_.front();
    went_[size(g)] = 1;
    return best_bank_kernels().log_loss({.n = width(),
                                         .scales = scales_.data() + first,
                                         .dot = dot_.data() + first,
                                         .intercept = intercept_.data() + first,
                                         .factor = factor,
                                         .offset = offset,
                                         .low = spec.clip_low,
                                         .high = spec.clip_high,
                                         .y = spec.loss->target(label, 0, 1),
                                         .weight = weight,
                                         .scores = scores + first,
                                         .slopes = gradient_.data() + first});
  }

  // The step of every unit whose group learns the example. Whether any row was touched.
  bool take_step(const float* x, std::int64_t nnz, double factor) noexcept {
    bool any = false;
    for (int g = 0; g < groups_; ++g) {
      if (!went_[size(g)]) continue;
      for (int s = 0; s < settings(); ++s) {
        const int first = alike_[size(s)];
        steps_[size(s)] = first < s ? steps_[size(first)] : specs_[size(s)].schedule(t_[size(g)]);
        begin_step(g, s, factor);
      }
      if (learns_[size(g)]) {
        any = true;
        remember(g);
      }
    }
    if (any) {
      if constexpr (Rule::kStill)
        kernels_.push(view(), rows_->rows(), x, nnz, gradient_.data(), current_.data(), learns_.data(),
                      marks_.data());
      else
        kernels_.push_anew(view(), rows_->rows(), x, nnz, gradient_.data(), learns_.data(), marks_.data());
    }
    for (int g = 0; g < groups_; ++g) {
      if (!went_[size(g)]) continue;
      for (int s = 0; s < settings(); ++s) {
        const int u = g * settings() + s;
        rules_[size(u)].end(rates_[size(u)]);
        note(u);
      }
      ++t_[size(g)];
    }
    return any;
  }

  void begin_step(int g, int s, double factor) noexcept {
    const int u = g * settings() + s;
    Rule& rule = rules_[size(u)];
    const double rate = factors_[size(s)] * steps_[size(s)];
    rates_[size(u)] = rate;
    rule.begin(rate);
    if constexpr (!Rule::kStill) note(u);
    if (!learns_[size(g)]) return;
    double* const gradient = gradient_.data() + u * m_;
    if (specs_.front().fit_intercept) rule.push_intercept(intercept_.data() + u * m_, gradient, m_, rate);
    const double gain = rule.gain(rate) * factor;
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
    marks_[size(g)] = static_cast<double>(history_.entries(g) - 1);
  }

  // Between two examples: what comes due once in a while.
  void tidy() noexcept {
    for (int u = 0; u < groups_ * settings(); ++u)
      if (rules_[size(u)].stale()) [[unlikely]]
        this->rescale(u);
    for (int g = 0; g < groups_; ++g)
      if (history_.entries(g) > compact_at_[size(g)]) [[unlikely]]
        this->compact(g);
  }

  const BankKernels& kernels_ = best_bank_kernels().of(kKind);
  std::unique_ptr<ExampleRows<Row, 0>> rows_;
  // Scratch of an example.
  std::vector<double> gradient_, dot_, sums_, current_, marks_, rates_;
  std::vector<std::uint8_t> learns_, went_;  // of each group: rows are touched; time goes on
  std::vector<double> steps_;                // the learning rates of now, of each setting
  std::vector<int> alike_;                   // of each setting the first one with the same schedule
  bool quick_ = false;                       // one output and log loss: slopes are taken eight at a time
};

}  // namespace riata
