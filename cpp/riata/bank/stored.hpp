// What a bank keeps, and what can be read of it. learn.hpp learns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "riata/bank/bank.hpp"
#include "riata/bank/row.hpp"
#include "riata/stores/table.hpp"

namespace riata {

template <class Rule>
class StoredBank : public Bank {
 public:
  using Row = BankRow<Rule::kDecay>;

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
    std::uint64_t all = store_->bytes();
    for (const auto& entries : history_.before) all += entries.capacity() * sizeof(double);
    return all;
  }

  void set_rate_factor(int setting, double factor) noexcept override { factors_[size(setting)] = factor; }

  std::vector<std::int64_t> live_weights() const override {
    const Row row(history_);
    std::vector<std::int64_t> live(size(groups_ * settings()), 0);
    store_->for_each([&](std::uint64_t, const double* words) {
      for (int g = 0; g < groups_; ++g) {
        const double* const marks = row.marks(words, g);
        std::int64_t* const counts = live.data() + g * settings();
        for (int s = 0, c = 0; s < settings(); ++s)
          for (int k = 0; k < m_; ++k, ++c) counts[s] += row.current(words, g, c, marks) != 0 ? 1 : 0;
      }
    });
    return live;
  }

  UnitState unit(int setting, int group) const override {
    const Row row(history_);
    const auto live = [&](const double* words) {
      for (int k = 0; k < m_; ++k)
        if (row.current(words, group, setting * m_ + k) != 0) return true;
      return false;
    };
    std::vector<std::pair<std::uint64_t, const double*>> found;
    store_->for_each([&](std::uint64_t key, const double* words) {
      if (live(words)) found.emplace_back(key, words);
    });
    std::sort(found.begin(), found.end());
    UnitState out;
    out.rows.keys.reserve(found.size());
    out.rows.values.reserve(found.size() * size(m_ + 1));
    out.named = store_->named();
    out.names.offsets.push_back(0);
    const int first = group * width() + setting * m_;
    for (const auto& [key, words] : found) {
      out.rows.keys.push_back(static_cast<std::int64_t>(key));
      out.rows.values.insert(out.rows.values.end(), words + first, words + first + m_);
      out.rows.values.push_back(row.mark(words, group, setting * m_));
      if (!out.named) continue;
      const std::string_view name = store_->name(key);
      out.names.bytes.insert(out.names.bytes.end(), name.begin(), name.end());
      out.names.offsets.push_back(static_cast<std::int64_t>(out.names.bytes.size()));
    }
    const Rule& rule = rules_[size(group * settings() + setting)];
    out.rule_state.resize(size(Rule::state_size(m_)));
    rule.save(out.rule_state.data());
    out.intercept.assign(intercept_.begin() + first, intercept_.begin() + first + m_);
    out.t = t_[size(group)];
    out.features = features_[size(group)];
    out.rate_factor = factors_[size(setting)];
    return out;
  }

 protected:
  static std::size_t size(int n) noexcept { return static_cast<std::size_t>(n); }
  int width() const noexcept { return settings() * m_; }
  int columns() const noexcept { return groups_ * width(); }
  int words() const noexcept { return columns() + groups_; }

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
    history_.groups = groups_;
    history_.width = width();
    history_.now.resize(size(columns()));
    history_.theta.resize(size(columns()));
    scales_.resize(size(columns()));
    history_.before.assign(size(groups_), std::vector<double>(size(width()), 0.0));
    history_.starts.resize(size(groups_));
    for (int g = 0; g < groups_; ++g) history_.starts[size(g)] = history_.before[size(g)].data();
    for (int u = 0; u < groups_ * settings(); ++u) note(u);
    compact_at_.assign(size(groups_), kFirstCompaction);
    store_ = std::make_unique<TableStore>(words(), 0);
  }
  // The running scalars of a unit, where its columns look for them.
  void note(int u) noexcept {
    const Decay decay = rules_[size(u)].decay();
    for (int k = 0; k < m_; ++k) {
      history_.now[size(u * m_ + k)] = decay.now;
      history_.theta[size(u * m_ + k)] = decay.theta;
      scales_[size(u * m_ + k)] = rules_[size(u)].scale();
    }
  }

  // The weights of a unit to the scale 1, as its rule does it.
  void rescale(int u) noexcept {
    const int g = u / settings(), first = u % settings() * m_;
    const Row row(history_);
    const double scale = rules_[size(u)].scale();
    store_->for_each([&](std::uint64_t, double* words) {
      for (int k = 0; k < m_; ++k) words[g * width() + first + k] = scale * row.current(words, g, first + k);
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
    const auto count = static_cast<std::size_t>(history_.entries(g));
    std::vector<std::int64_t> place;
    try {
      place.assign(count, -1);
    } catch (const std::bad_alloc&) {
      compact_at_[size(g)] *= 2;
      return;
    }
    const int word = columns() + g;
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
  BankHistory history_;
  std::vector<std::int64_t> compact_at_;
  std::unique_ptr<TableStore> store_;
};

}  // namespace riata
