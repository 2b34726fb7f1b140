// A linear model learned one example at a time: a rule over a store, m columns wide.
//
// One example costs its non-zeros, twice: once to bring its rows current and score it, once to push the gradient.
// Only rules and stores are templates; the loss is called once an example and column, through a pointer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "riata/block.hpp"
#include "riata/loss.hpp"
#include "riata/numbers.hpp"
#include "riata/schedule.hpp"

namespace riata {

enum class Normalize { none, l2, sqrt_nnz };

struct LinearSpec {
  const Loss* loss = nullptr;
  double loss_parameter = 0;
  Schedule schedule;
  Normalize normalize = Normalize::none;
  double clip_low = -HUGE_VAL, clip_high = HUGE_VAL;
  int columns = 1;
  bool fit_intercept = true;
  int bits = 0;     // of the hashed store
  Numbers numbers;  // the rule's own parameters
};

struct Outcome {
  enum class Status { ok, bad_block, bad_index, out_of_memory, diverged };
  Status status = Status::ok;
  std::int64_t done = 0;  // examples finished; state holds exactly these
};

// What a model file keeps: rows as key and state, side by side.
struct Rows {
  std::vector<std::int64_t> keys;
  std::vector<double> values;  // keys.size() x width
};

class Linear {  // the face that bindings see
 public:
  virtual ~Linear() = default;
  virtual Outcome learn(const BlockView<std::int32_t>&, const std::int64_t* order, std::int64_t n,
                        double* scores) noexcept = 0;
  virtual Outcome learn(const BlockView<std::int64_t>&, const std::int64_t* order, std::int64_t n,
                        double* scores) noexcept = 0;
  virtual Outcome score(const BlockView<std::int32_t>&, double* scores) const noexcept = 0;
  virtual Outcome score(const BlockView<std::int64_t>&, double* scores) const noexcept = 0;

  virtual Rows coefficients() const = 0;  // live rows, ascending, brought current: width = columns
  virtual Rows rows() const = 0;          // live rows as they are stored: width = row_width()
  // False: the rows do not fit this store, or memory is exhausted.
  virtual bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n) noexcept = 0;
  virtual int row_width() const noexcept = 0;
  virtual std::vector<double> clock() const = 0;
  virtual bool set_clock(const std::vector<double>&) = 0;
  virtual std::int64_t live_weights() const noexcept = 0;
  virtual std::uint64_t bytes() const noexcept = 0;

  std::vector<double> intercept;
  std::uint64_t t = 0;          // examples learned
  std::int64_t features = 0;    // 1 + the largest index learned
  double rate_factor() const noexcept { return rate_factor_; }
  virtual void set_rate_factor(double) noexcept = 0;  // it multiplies every learning rate from now on
  virtual void prune(double threshold) noexcept = 0;  // weights up to this size become zero

 protected:
  double rate_factor_ = 1;
};

template <class Rule, class Store, int M>  // M columns, or 0: known only at run time
class LinearOf final : public Linear {
 public:
  explicit LinearOf(const LinearSpec& spec)
      : spec_(spec),
        m_(spec.columns),
        rule_(spec.numbers, spec.columns),
        store_(Rule::width(spec.columns), spec.bits),
        gradient_(static_cast<std::size_t>(m_)),
        dot_(static_cast<std::size_t>(m_)) {
    intercept.assign(static_cast<std::size_t>(m_), 0.0);
  }

  Outcome learn(const BlockView<std::int32_t>& b, const std::int64_t* order, std::int64_t n,
                double* scores) noexcept override {
    return learn_rows(b, order, n, scores);
  }
  Outcome learn(const BlockView<std::int64_t>& b, const std::int64_t* order, std::int64_t n,
                double* scores) noexcept override {
    return learn_rows(b, order, n, scores);
  }
  Outcome score(const BlockView<std::int32_t>& b, double* scores) const noexcept override {
    return score_rows(b, scores);
  }
  Outcome score(const BlockView<std::int64_t>& b, double* scores) const noexcept override {
    return score_rows(b, scores);
  }

  Rows coefficients() const override {
    return collect(
        m(),
        [&](const double* row) {
          for (int c = 0; c < m(); ++c)
            if (rule_.peek(row, m(), c) != 0) return true;
          return false;
        },
        [&](const double* row, double* out) {
          for (int c = 0; c < m(); ++c) out[c] = rule_.scale() * rule_.peek(row, m(), c);
        });
  }
  Rows rows() const override {
    return collect(
        row_width(), [&](const double* row) { return rule_.needed(row, m()); },
        [&](const double* row, double* out) { std::memcpy(out, row, sizeof(double) * row_width()); });
  }
  bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n) noexcept override {
    for (std::int64_t i = 0; i < n; ++i) {
      double* row = store_.restore(static_cast<std::uint64_t>(keys[i]));
      if (row == nullptr) return false;
      std::memcpy(row, values + i * row_width(), sizeof(double) * row_width());
    }
    return true;
  }
  int row_width() const noexcept override { return Rule::width(m()); }

  std::vector<double> clock() const override {
    std::vector<double> out(static_cast<std::size_t>(rule_.clock_size(m())));
    rule_.save(out.data());
    return out;
  }
  bool set_clock(const std::vector<double>& clock) override {
    if (clock.size() != static_cast<std::size_t>(rule_.clock_size(m()))) return false;
    rule_.load(clock.data());
    return true;
  }

  std::int64_t live_weights() const noexcept override {
    std::int64_t live = 0;
    store_.for_each([&](std::uint64_t, const double* row) {
      for (int c = 0; c < m(); ++c) live += rule_.peek(row, m(), c) != 0;
    });
    return live;
  }
  std::uint64_t bytes() const noexcept override { return store_.bytes(); }

  void set_rate_factor(double factor) noexcept override {
    if constexpr (requires { rule_.set_factor(factor); }) {
      store_.for_each([&](std::uint64_t, double* row) { rule_.settle(row, m()); });
      rule_.set_factor(factor);
    }
    rate_factor_ = factor;
  }

  void prune(double threshold) noexcept override {
    std::vector<std::uint64_t> gone;
    store_.for_each([&](std::uint64_t key, double* row) {
      if (!rule_.needed(row, m())) return;
      rule_.settle(row, m());
      for (int c = 0; c < m(); ++c)
        if (std::fabs(rule_.scale() * row[c]) <= threshold) row[c] = 0;
      if (!rule_.needed(row, m())) gone.push_back(key);
    });
    if constexpr (!Store::kDirect) {
      for (const std::uint64_t key : gone) store_.erase(key);
    }
  }

 private:
  using Status = Outcome::Status;

  int m() const noexcept { return M == 0 ? m_ : M; }

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

  template <class Index>
  double row_factor(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) const noexcept {
    if (spec_.normalize == Normalize::none || begin == end) return 1;
    if (spec_.normalize == Normalize::sqrt_nnz) return 1 / std::sqrt(static_cast<double>(end - begin));
    double sum = 0;
    for (std::int64_t k = begin; k < end; ++k) sum += static_cast<double>(b.values[k]) * b.values[k];
    return 1 / std::sqrt(sum);
  }

  double clip(double p) const noexcept { return std::fmin(spec_.clip_high, std::fmax(spec_.clip_low, p)); }

  // Classification labels are class codes: column c asks "is it class c?", a single column "is it class 1?".
  double target(double label, int c) const noexcept {
    if (!spec_.loss->classification) return label;
    return label == (m() == 1 ? 1 : c) ? 1 : -1;
  }

  // Brings the rows of an example current; dot_ becomes their sum before scale().
  template <class Index>
  Status gather(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    const Rule& rule = rule_;
    double sum = 0;
    if constexpr (M != 1) std::fill(dot_.begin(), dot_.end(), 0.0);
    if constexpr (!Store::kDirect) {
      if (!make_room(end - begin)) return Status::out_of_memory;
      changing_.clear();
    }
    for (std::int64_t k = begin; k < end; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      double* row;
      if constexpr (Store::kDirect) {
        if (!store_.inside(key)) [[unlikely]] {
          if (!store_.possible(key)) return Status::bad_index;
          if (!store_.reserve(key)) return Status::out_of_memory;
        }
        row = store_.touch(key);
      } else {
        if (!store_.possible(key)) [[unlikely]] return Status::bad_index;
        row = store_.find(key);
        found_[static_cast<std::size_t>(k - begin)] = row;
        if (row == nullptr) {
          changing_.push_back(k);
          continue;
        }
      }
      rule.settle(row, m());
      if constexpr (!Store::kDirect) {
        if (row[0] == 0) changing_.push_back(k);
      }
      if constexpr (M == 1) {
        sum += row[0] * static_cast<double>(b.values[k]);
      } else {
        for (int c = 0; c < m_; ++c) dot_[c] += row[c] * static_cast<double>(b.values[k]);
      }
    }
    if constexpr (M == 1) dot_[0] = sum;
    return Status::ok;
  }

  // Gradients to the rows that are there.
  template <class Index>
  void push(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    const Rule& rule = rule_;
    const double* gradient = gradient_.data();
    const double g = gradient[0];
    for (std::int64_t k = begin; k < end; ++k) {
      double* row;
      if constexpr (Store::kDirect) {
        row = store_.touched(static_cast<std::uint64_t>(b.indices[k]));
      } else {
        row = found_[static_cast<std::size_t>(k - begin)];
        if (row == nullptr) {
          row = newborn_.data() + (k - begin) * row_width();
          rule.fresh(row, m());
        }
      }
      rule.push(row, m(), M == 1 ? &g : gradient, static_cast<double>(b.values[k]));
    }
  }

  // In a table, after a step: rows that have become zero leave, newborn ones that are not zero join, and a few
  // others are looked at, so that features which never come back go too.
  template <class Index>
  Status tidy(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    const auto needed = [&](const double* row) { return rule_.needed(row, m()); };
    Status status = Status::ok;
    for (const std::int64_t k : changing_) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      const double* newborn = newborn_.data() + (k - begin) * row_width();
      if (found_[static_cast<std::size_t>(k - begin)] != nullptr) {
        const double* row = store_.find(key);
        if (row != nullptr && !needed(row)) store_.erase(key);
      } else if (needed(newborn)) {
        if (double* place = store_.insert(key, needed)) {
          std::memcpy(place, newborn, sizeof(double) * row_width());
        } else {
          status = Status::out_of_memory;
        }
      }
    }
    store_.sweep(2 + static_cast<std::uint64_t>(end - begin) / 16, needed);
    return status;
  }

  bool make_room(std::int64_t nnz) noexcept {
    const auto n = static_cast<std::size_t>(nnz);
    if (n <= found_.size()) return true;
    try {
      found_.resize(2 * n);
      changing_.reserve(2 * n);
      newborn_.resize(2 * n * static_cast<std::size_t>(row_width()));
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  template <class Index>
  void prefetch(const BlockView<Index>& b, const std::int64_t* order, std::int64_t i, std::int64_t n) const noexcept {
    if (i >= n) return;
    const std::int64_t r = order == nullptr ? i : order[i];
    if (!b.holds(r)) return;
    for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k)
      store_.prefetch(Store::tag_of(static_cast<std::uint64_t>(b.indices[k])));
  }

  // The loss's slope in every column. False: the model has diverged.
  bool slopes(double factor, double label, double weight, double* scores, bool& any) noexcept {
    for (int c = 0; c < m(); ++c) {
      const double p = clip(rule_.scale() * factor * dot_[c] + intercept[c]);
      const double slope = weight * spec_.loss->slope(p, target(label, c), spec_.loss_parameter);
      if (!(std::fabs(p) <= kLargest && std::fabs(slope) <= kLargest)) return false;
      scores[c] = p;
      gradient_[c] = slope;
      any = any || slope != 0;
    }
    return true;
  }

  template <class Index>
  Outcome learn_rows(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n,
                     double* scores) noexcept {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t r = order == nullptr ? i : order[i];
      if (!b.holds(r)) return {Status::bad_block, i};
      const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
      if (const Status status = gather(b, begin, end); status != Status::ok) return {status, i};
      if constexpr (!Store::kDirect) prefetch(b, order, i + 1, n);

      const double factor = row_factor(b, begin, end);
      const double weight = b.weights == nullptr ? 1 : b.weights[r];
      bool any = false;
      if (!slopes(factor, b.labels[r], weight, scores + i * m(), any)) return {Status::diverged, i};

      const double rate = rate_factor_ * spec_.schedule(t);
      rule_.begin(rate);
      if (any) {
        if (spec_.fit_intercept) rule_.push_intercept(intercept.data(), gradient_.data(), m(), rate);
        const double gain = rule_.gain(rate) * factor;
        for (int c = 0; c < m(); ++c) gradient_[c] *= gain;
        push(b, begin, end);
      }
      rule_.end(rate);
      ++t;
      if (end > begin) features = std::max(features, static_cast<std::int64_t>(b.indices[end - 1]) + 1);
      if constexpr (!Store::kDirect) {
        if (any && tidy(b, begin, end) != Status::ok) return {Status::out_of_memory, i + 1};
      }
      if (rule_.stale()) [[unlikely]] rule_.rescale(store_, m());
    }
    return {Status::ok, n};
  }

  template <class Index>
  Outcome score_rows(const BlockView<Index>& b, double* scores) const noexcept {
    for (std::int64_t r = 0; r < b.rows; ++r) {
      if (!b.holds(r)) return {Status::bad_block, r};
      double* out = scores + r * m();
      for (int c = 0; c < m(); ++c) out[c] = 0;
      for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k) {
        const auto key = static_cast<std::uint64_t>(b.indices[k]);
        const double* row = store_.possible(key) ? store_.find(key) : nullptr;
        if (row == nullptr) continue;
        for (int c = 0; c < m(); ++c) out[c] += rule_.peek(row, m(), c) * static_cast<double>(b.values[k]);
      }
      const double factor = row_factor(b, b.indptr[r], b.indptr[r + 1]);
      for (int c = 0; c < m(); ++c) out[c] = clip(rule_.scale() * factor * out[c] + intercept[c]);
    }
    return {Status::ok, b.rows};
  }

  static constexpr double kLargest = 1e150;  // beyond it a square would overflow: the model has diverged

  LinearSpec spec_;
  int m_;
  Rule rule_;
  Store store_;
  std::vector<double> gradient_, dot_;
  std::vector<double*> found_;    // table: the example's rows, null where there is none
  std::vector<double> newborn_;   // table: rows that may join
  std::vector<std::int64_t> changing_;  // table: the places of rows that may join or leave
};

// One file a family makes its models, so that they compile side by side. Null: no such update or store.
std::unique_ptr<Linear> make_elastic_net(const std::string& update, const std::string& store, const LinearSpec& spec);
std::unique_ptr<Linear> make_truncated(const std::string& update, const std::string& store, const LinearSpec& spec);
std::unique_ptr<Linear> make_ftrl(const std::string& update, const std::string& store, const LinearSpec& spec);

}  // namespace riata
