// What a bank keeps, and what can be read of it. learn.hpp learns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "riata/bank/adagrad_steps.hpp"
#include "riata/bank/bank.hpp"
#include "riata/bank/kernels.hpp"
#include "riata/bank/row.hpp"
#include "riata/stores/table.hpp"

namespace riata {

template <class Rule>
struct BankRowOf {
  using Type = ScheduleRow<Rule::kDecay>;
};
template <class Rule>
  requires Rule::kImplicit
struct BankRowOf<Rule> {
  using Type = AdaGradRow<Rule::kPenalty>;
};

template <class Rule>
class StoredBank : public Bank {
 public:
  static constexpr bool kAdaGrad = Rule::kImplicit;
  using Row = typename BankRowOf<Rule>::Type;

  StoredBank(const std::vector<LinearSpec>& specs, int groups)
      : specs_(specs), m_(specs.front().columns), groups_(groups) {
    for (int g = 0; g < groups; ++g)
      for (const LinearSpec& spec : specs) rules_.emplace_back(spec.numbers, m_);
    factors_.assign(specs.size(), 1.0);
    t_.assign(static_cast<std::size_t>(groups), 0);
    features_.assign(static_cast<std::size_t>(groups), 0);
    intercept_.assign(size(columns()), 0.0);
    open();
  }

  int settings() const noexcept override { return static_cast<int>(specs_.size()); }
  int groups() const noexcept override { return groups_; }
  int outputs() const noexcept override { return m_; }
  std::uint64_t bytes() const noexcept override {
    std::uint64_t all = store_->bytes() + cells_.bytes();
    for (const auto& entries : history_.before) all += entries.capacity() * sizeof(double);
    return all;
  }

  void set_rate_factors(const std::vector<double>& factors) noexcept override {
    if constexpr (Rule::kRemembersRates) catch_up();
    factors_ = factors;
    for (int u = 0; u < groups_ * settings(); ++u) {
      rules_[size(u)].set_factor(factors_[size(u % settings())]);
      note(u);
    }
  }

  std::vector<std::int64_t> live_weights() const override {
    std::vector<std::int64_t> of_columns(size(columns()), 0), live;
    count_live(of_columns.data());
    for (auto first = of_columns.begin(); first != of_columns.end(); first += m_)
      live.push_back(std::accumulate(first, first + m_, std::int64_t{0}));
    return live;
  }

  UnitState unit(int setting, int group) const override {
    const Row row = this->row();
    const int first = setting * m_, at = group * width() + first;
    UnitState out;
    out.row_width = Rule::width(m_);
    out.named = store_->named();
    out.names.offsets.push_back(0);
    for (const auto& [key, words] :
         ordered([&](const double* all) { return row.has(all, group, first, m_); })) {
      out.rows.keys.push_back(static_cast<std::int64_t>(key));
      auto& values = out.rows.values;
      const double* const cells = cells_.of(words[0]);
      values.insert(values.end(), cells + at, cells + at + m_);
      if (layout_.roots) values.insert(values.end(), cells + columns() + at, cells + columns() + at + m_);
      values.push_back(row.mark(words, group, first));
      if (!out.named) continue;
      const std::string_view name = store_->name(key);
      out.names.bytes.insert(out.names.bytes.end(), name.begin(), name.end());
      out.names.offsets.push_back(static_cast<std::int64_t>(out.names.bytes.size()));
    }
    out.scaled = layout_.scaled;
    if (out.scaled) out.scale_sums = sums_of(group);
    const Rule& rule = rules_[size(group * settings() + setting)];
    out.rule_state.resize(size(Rule::state_size(m_)));
    rule.save(out.rule_state.data());
    out.intercept.assign(intercept_.begin() + at, intercept_.begin() + at + m_);
    out.t = t_[size(group)];
    out.features = features_[size(group)];
    out.rate_factor = factors_[size(setting)];
    return out;
  }

 protected:
  static std::size_t size(int n) noexcept { return static_cast<std::size_t>(n); }
  int width() const noexcept { return settings() * m_; }
  int columns() const noexcept { return groups_ * width(); }
  int words() const noexcept { return layout_.words(); }
  Row row() const noexcept {
    if constexpr (kAdaGrad)
      return {layout_, cells_, adagrad_};
    else
      return {layout_, cells_, history_};
  }

  // The rows that are wanted, by key.
  template <class Wanted>
  std::vector<std::pair<std::uint64_t, const double*>> ordered(const Wanted& wanted) const {
    std::vector<std::pair<std::uint64_t, const double*>> found;
    store_->for_each([&](std::uint64_t key, const double* words) {
      if (wanted(words)) found.emplace_back(key, words);
    });
    std::sort(found.begin(), found.end());
    return found;
  }
  // What a group knows of the values of features.
  Rows sums_of(int group) const {
    const int at = layout_.sums_at() + kScaleSums * group;
    Rows out;
    for (const auto& [key, words] : ordered([&](const double* all) { return all[at] != 0; })) {
      out.keys.push_back(static_cast<std::int64_t>(key));
      out.values.insert(out.values.end(), words + at, words + at + kScaleSums);
    }
    return out;
  }

  // Of `groups` times as many things as there are settings, `each` in a row, those of the settings that are kept.
  template <class T>
  std::vector<T> chosen(const std::vector<T>& all, const std::vector<int>& kept, int groups, int each) const {
    std::vector<T> out;
    for (int g = 0; g < groups; ++g)
      for (const int setting : kept)
        for (int k = 0; k < each; ++k) out.push_back(all[size((g * settings() + setting) * each + k)]);
    return out;
  }

  // Empty, with one entry of zeros in every history.
  void open() {
    layout_ = {groups_, width(), kAdaGrad, specs_.front().scaled};
    history_.now.resize(size(columns()));
    history_.theta.resize(size(columns()));
    scales_.resize(size(columns()));
    history_.before.assign(size(groups_), std::vector<double>(size(width()), 0.0));
    history_.starts.resize(size(groups_));
    for (int g = 0; g < groups_; ++g) history_.starts[size(g)] = history_.before[size(g)].data();
    if constexpr (kAdaGrad) {
      for (auto* of : {&adagrad_.rates, &adagrad_.l1, &adagrad_.l2, &adagrad_.gravity, &adagrad_.theta})
        of->assign(size(columns()), 0.0);
      adagrad_.period = rules_.front().penalty().period;
      adagrad_.first = rules_.front().is_explicit() ? 0 : 1;
      adagrad_.penalties.assign(size(groups_), 0.0);
      for (Rule& rule : rules_) rule.set_first(1);
    }
    for (int u = 0; u < groups_ * settings(); ++u) note(u);
    compact_at_.assign(size(groups_), kFirstCompaction);
    cells_ = BankCells(layout_.cells());
    store_ = std::make_unique<TableStore>(words(), 0);
  }
  // The numbers of a unit, where its columns look for them.
  void note(int u) noexcept {
    const Rule& rule = rules_[size(u)];
    for (std::size_t k = size(u * m_); k < size((u + 1) * m_); ++k) {
      scales_[k] = rule.scale();
      if constexpr (kAdaGrad) {
        const AdaGradPenalty& penalty = rule.penalty();
        adagrad_.rates[k] = rule.rate();
        adagrad_.l1[k] = penalty.l1, adagrad_.l2[k] = penalty.l2;
        adagrad_.gravity[k] = penalty.gravity, adagrad_.theta[k] = penalty.theta;
      } else {
        const Decay decay = rule.decay();
        history_.now[k] = decay.now;
        history_.theta[k] = decay.theta;
      }
    }
  }
  std::int64_t entries(int g) const noexcept {
    return static_cast<std::int64_t>(history_.before[size(g)].size()) / width();
  }

  // Some rows at a time: bringing weights current is for kernels.
  void count_live(std::int64_t* live) const {
    constexpr std::size_t kMany = 64;
    std::vector<double*> some, cells;
    std::vector<double> scratch(size(columns()));
    const auto count = [&](const auto& of) {
      for (const double* const words : some) cells.push_back(cells_.of(words[0]));
      of(BankFeatures{some.data(), cells.data(), static_cast<std::int64_t>(some.size())});
      some.clear();
      cells.clear();
    };
    const auto each = [&](const auto& of) {
      store_->for_each([&](std::uint64_t, double* words) {
        some.push_back(words);
        if (some.size() == kMany) count(of);
      });
      count(of);
    };
    const std::vector<float> zeros(kMany);
    if constexpr (kAdaGrad) {
      const std::vector<const float*> values(size(groups_), zeros.data());
      AdaGradSteps<Rule::kPenalty> steps(layout_, adagrad_);
      if (!steps.make_room(kMany)) throw std::bad_alloc();
      each([&](const BankFeatures& of) { steps.count_live(of, values.data(), scratch.data(), live); });
    } else {
      std::vector<double> current(8 * kMany);
      std::vector<const double*> marks(kMany);
      const BankKernels& kernels = best_bank_kernels().of(Rule::kDecay);
      const Row row = this->row();
      each([&](const BankFeatures& of) {
        for (int g = 0; g < groups_; ++g) {
          for (std::int64_t k = 0; k < of.n; ++k)
            marks[static_cast<std::size_t>(k)] = row.marks(of.rows[k], g);
          each_part(g, [&](const BankPart& part) {
            kernels.gather(part, {of.cells, marks.data(), zeros.data(), of.n}, current.data(),
                           scratch.data());
            for (std::int64_t k = 0; k < of.n; ++k)
              for (int c = 0; c < part.have; ++c)
                live[part.at + c] += current[size(8) * static_cast<std::size_t>(k) + size(c)] != 0;
          });
        }
      });
    }
  }
  // With a schedule: work(part) for eight columns of a group at a time, and for those that are left.
  template <class Work>
  void each_part(int g, const Work& work) const {
    for (int first = 0; first < width(); first += 8)
      work(BankPart{.at = g * width() + first,
                    .first = first,
                    .have = std::min(8, width() - first),
                    .now = history_.now.data(),
                    .theta = history_.theta.data()});
  }
  // Every weight of AdaGrad brought current.
  void catch_up() noexcept {
    const Row row = this->row();
    store_->for_each([&](std::uint64_t, double* words) {
      for (int g = 0; g < groups_; ++g) {
        double &mark = words[layout_.marks_at() + g], *const cells = cells_.of(words[0]);
        for (int c = 0; c < width(); ++c) cells[g * width() + c] = row.current(cells, g, c, &mark);
        mark = std::max(mark, adagrad_.penalties[size(g)]);
      }
    });
  }

  // The weights of a unit to the scale 1, as its rule does it.
  void rescale(int u) noexcept {
    const int g = u / settings(), first = u % settings() * m_;
    const Row row = this->row();
    const double scale = rules_[size(u)].scale();
    store_->for_each([&](std::uint64_t, double* words) {
      const double* const marks = row.marks(words, g);
      double* const cells = cells_.of(words[0]);
      for (int k = 0; k < m_; ++k)
        cells[g * width() + first + k] = scale * row.current(cells, g, first + k, marks);
    });
    auto& entries = history_.before[size(g)];
    for (std::size_t e = 0; e < entries.size(); e += size(width()))
      std::fill_n(entries.begin() + static_cast<std::ptrdiff_t>(e) + first, m_, 0.0);
    const double start[] = {1, 0};
    rules_[size(u)].load(start);
    note(u);
  }

  // Entries that no row speaks of any more are forgotten.
  void compact(int g) noexcept {
    auto& entries = history_.before[size(g)];
    const auto count = static_cast<std::size_t>(this->entries(g));
    std::vector<std::int64_t> place;
    try {
      place.assign(count, -1);
    } catch (const std::bad_alloc&) {
      compact_at_[size(g)] *= 2;
      return;
    }
    const int word = layout_.marks_at() + g;
    place[0] = place[count - 1] = 0;
    store_->for_each(
        [&](std::uint64_t, const double* words) { place[static_cast<std::size_t>(words[word])] = 0; });
    std::int64_t next = 0;
    for (std::size_t e = 0; e < count; ++e) {
      if (place[e] < 0) continue;
      place[e] = next;
      std::copy_n(entries.data() + e * size(width()), width(), entries.data() + next * width());
      ++next;
    }
    store_->for_each([&](std::uint64_t, double* words) {
      words[word] = static_cast<double>(place[static_cast<std::size_t>(words[word])]);
    });
    entries.resize(static_cast<std::size_t>(next * width()));
    compact_at_[size(g)] = std::max(kFirstCompaction, 2 * next);
  }

  static constexpr std::int64_t kFirstCompaction = 4096;

  std::vector<LinearSpec> specs_;
  int m_, groups_;
  std::vector<Rule> rules_;      // of each unit
  std::vector<double> factors_;  // of the learning rate of each setting
  std::vector<double> intercept_;
  std::vector<double> scales_;          // of each column
  std::vector<std::uint64_t> t_;        // of each group
  std::vector<std::int64_t> features_;  // likewise
  BankLayout layout_;
  BankHistory history_;     // with a schedule
  AdaGradNumbers adagrad_;  // without
  std::vector<std::int64_t> compact_at_;
  std::unique_ptr<TableStore> store_;
  BankCells cells_{0};
};

}  // namespace riata
