// A linear model learned one example at a time: a rule over a store, m columns wide.
//
// One example costs its non-zeros, twice: once to bring its rows current and score it, once to push the gradient.
// Only rules and stores are templates; the loss is called once an example and column, through a pointer.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
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
  virtual bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n) noexcept = 0;
  virtual int row_width() const noexcept = 0;
  virtual std::vector<double> clock() const = 0;
  virtual bool set_clock(const std::vector<double>&) = 0;
  virtual std::int64_t live_weights() const noexcept = 0;
  virtual std::uint64_t bytes() const noexcept = 0;

  std::vector<double> intercept;
  std::uint64_t t = 0;          // examples learned
  std::int64_t features = 0;    // 1 + the largest index learned
  double rate_factor = 1;       // multiplies every learning rate
};

template <class Rule, class Store, int M>  // M columns, or 0: known only at run time
class LinearOf final : public Linear {
 public:
  explicit LinearOf(const LinearSpec& spec)
      : spec_(spec), m_(spec.columns), rule_(spec.numbers), store_(width(spec.columns)) {
    intercept.assign(static_cast<std::size_t>(m_), 0.0);
    gradient_.assign(static_cast<std::size_t>(m_), 0.0);
    dot_.assign(static_cast<std::size_t>(m_), 0.0);
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
    Rows out;
    each_live([&](std::uint64_t key, const double* row) {
      out.keys.push_back(static_cast<std::int64_t>(key));
      for (int c = 0; c < m(); ++c) out.values.push_back(rule_.scale() * rule_.peek(row, m(), c));
    });
    return out;
  }
  Rows rows() const override {
    Rows out;
    each_live([&](std::uint64_t key, const double* row) {
      out.keys.push_back(static_cast<std::int64_t>(key));
      out.values.insert(out.values.end(), row, row + row_width());
    });
    return out;
  }
  bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n) noexcept override {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto key = static_cast<std::uint64_t>(keys[i]);
      if (!store_.inside(key) && (!store_.possible(key) || !store_.reserve(key))) return false;
      std::memcpy(store_.touch(key), values + i * row_width(), sizeof(double) * row_width());
    }
    return true;
  }
  int row_width() const noexcept override { return width(m()); }

  std::vector<double> clock() const override {
    std::vector<double> out(Rule::kClock);
    rule_.save(out.data());
    return out;
  }
  bool set_clock(const std::vector<double>& clock) override {
    if (clock.size() != Rule::kClock) return false;
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

 private:
  static constexpr int width(int m) noexcept { return m * Rule::kPerColumn + Rule::kPerRow; }
  int m() const noexcept { return M == 0 ? m_ : M; }

  template <class Visit>
  void each_live(Visit visit) const {
    store_.for_each([&](std::uint64_t key, const double* row) {
      for (int c = 0; c < m(); ++c) {
        if (rule_.peek(row, m(), c) != 0) return visit(key, row);
      }
    });
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

  // Makes room for the row's features and brings them current; dot_ becomes their sum before scale().
  template <class Index>
  Outcome::Status gather(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    const Rule rule = rule_;  // a copy: the compiler need not fear that a row is part of it
    double sum = 0;
    if constexpr (M != 1) std::fill(dot_.begin(), dot_.end(), 0.0);
    for (std::int64_t k = begin; k < end; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      if (!store_.inside(key)) [[unlikely]] {
        if (!store_.possible(key)) return Outcome::Status::bad_index;
        if (!store_.reserve(key)) return Outcome::Status::out_of_memory;
      }
      double* row = store_.touch(key);
      rule.settle(row, m());
      if constexpr (M == 1) {
        sum += row[0] * static_cast<double>(b.values[k]);
      } else {
        for (int c = 0; c < m_; ++c) dot_[c] += row[c] * static_cast<double>(b.values[k]);
      }
    }
    if constexpr (M == 1) dot_[0] = sum;
    return Outcome::Status::ok;
  }

  template <class Index>
  void push(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    const Rule rule = rule_;
    const double* gradient = gradient_.data();
    const double g = gradient[0];
    for (std::int64_t k = begin; k < end; ++k) {
      double* row = store_.touched(static_cast<std::uint64_t>(b.indices[k]));
      rule.push(row, m(), M == 1 ? &g : gradient, static_cast<double>(b.values[k]));
    }
  }

  template <class Index>
  Outcome learn_rows(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n,
                     double* scores) noexcept {
    using Status = Outcome::Status;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t r = order == nullptr ? i : order[i];
      if (!b.holds(r)) return {Status::bad_block, i};
      const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
      if (const Status status = gather(b, begin, end); status != Status::ok) return {status, i};

      const double rate = rate_factor * spec_.schedule(t);
      const double factor = row_factor(b, begin, end);
      const double weight = b.weights == nullptr ? 1 : b.weights[r];
      bool any = false;
      for (int c = 0; c < m(); ++c) {
        const double p = clip(rule_.scale() * factor * dot_[c] + intercept[c]);
        const double slope = weight * spec_.loss->slope(p, target(b.labels[r], c), spec_.loss_parameter);
        if (!(std::fabs(p) <= kLargest && std::fabs(slope) <= kLargest)) return {Status::diverged, i};
        scores[i * m() + c] = p;
        gradient_[c] = slope;
        any = any || slope != 0;
      }
      rule_.begin(rate);
      if (any) {
        const double gain = rule_.gain(rate) * factor;
        for (int c = 0; c < m(); ++c) {
          if (spec_.fit_intercept) intercept[c] -= rate * gradient_[c];
          gradient_[c] *= gain;
        }
        push(b, begin, end);
      }
      rule_.end(rate);
      if (rule_.stale()) [[unlikely]] rule_.rescale(store_, m());
      if (end > begin) features = std::max(features, static_cast<std::int64_t>(b.indices[end - 1]) + 1);
      ++t;
    }
    return {Status::ok, n};
  }

  template <class Index>
  Outcome score_rows(const BlockView<Index>& b, double* scores) const noexcept {
    for (std::int64_t r = 0; r < b.rows; ++r) {
      if (!b.holds(r)) return {Outcome::Status::bad_block, r};
      double* out = scores + r * m();
      for (int c = 0; c < m(); ++c) out[c] = 0;
      for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k) {
        const double* row = store_.find(static_cast<std::uint64_t>(b.indices[k]));
        if (row == nullptr) continue;
        for (int c = 0; c < m(); ++c) out[c] += rule_.peek(row, m(), c) * static_cast<double>(b.values[k]);
      }
      const double factor = row_factor(b, b.indptr[r], b.indptr[r + 1]);
      for (int c = 0; c < m(); ++c) out[c] = clip(rule_.scale() * factor * out[c] + intercept[c]);
    }
    return {Outcome::Status::ok, b.rows};
  }

  static constexpr double kLargest = 1e150;  // beyond it a square would overflow: the model has diverged

  LinearSpec spec_;
  int m_;
  Rule rule_;
  Store store_;
  std::vector<double> gradient_, dot_;
};

// Defined beside each rule's instantiations, so that they compile side by side.
std::unique_ptr<Linear> make_elastic_net(const std::string& update, const std::string& store, const LinearSpec& spec);

template <class Rule, class Store>
std::unique_ptr<Linear> make_linear(const LinearSpec& spec) {
  if (spec.columns == 1) return std::make_unique<LinearOf<Rule, Store, 1>>(spec);
  return std::make_unique<LinearOf<Rule, Store, 0>>(spec);
}

}  // namespace riata
