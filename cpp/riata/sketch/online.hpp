// The online algorithm (Balakrishnan & Madigan 2008, Algorithm 2): every example is replaced by its quadratic
// model at the weights of its time, the models add up, and Shooting brings the weights to the minimum of the
// sum.
//
// Psi and theta cover all features seen, so memory grows with the pairs of features that occur together; it
// does not grow with the examples. An example of m features may bring m^2 pairs: it is refused before it is
// learned where they would take more memory than allowed. With a block of examples (section 4.1), the models
// of the whole block are taken twice: at the weights before it, and again at those that the first round led
// to.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "riata/base/model_lock.hpp"
#include "riata/block/block.hpp"
#include "riata/losses/loss.hpp"
#include "riata/sketch/curvature.hpp"
#include "riata/sketch/shooting.hpp"
#include "riata/sketch/sketch.hpp"

namespace riata {

struct OnlineSpec {
  const Link* link = nullptr;
  bool fit_intercept = true;
  bool penalize_intercept = false;
  double gamma = 1;
  double horizon = 0;  // examples until the penalty is gamma, growing in a straight line; 0: gamma at once
  double change = 1e-6;
  std::int64_t block_size = 1;
};

class OnlineSketch {
 public:
  explicit OnlineSketch(const OnlineSpec& spec) : spec_(spec) {
    if (spec.fit_intercept) add_slot();
  }

  template <class Index>
  Accumulated learn(const BlockView<Index>& b, double positive, double* scores, std::int64_t stride) {
    if (const Accumulated checked = inspect(b); checked != Accumulated::ok) return checked;
    for (std::int64_t i = 0; i < b.rows; ++i) {
      if (!has_room(b, i)) return Accumulated::too_many_pairs;
      Example x;
      x.y = b.labels[i] == positive ? 1.0 : -1.0;
      x.weight = b.weights == nullptr ? 1.0 : b.weights[i];
      x.offset = b.offset(i);
      if (spec_.fit_intercept) x.entries.push_back({0, 1.0f});
      for (std::int64_t k = b.indptr[i]; k < b.indptr[i + 1]; ++k)
        x.entries.push_back({slot_of(b.indices[k]), b.values[k]});
      scores[i * stride] = margin(x) + x.offset;
      ++t;
      waiting.push_back(std::move(x));
      if (static_cast<std::int64_t>(waiting.size()) >= spec_.block_size) flush();
    }
    return Accumulated::ok;
  }

  // Learns the examples of a block that is not full yet.
  void flush() {
    if (waiting.empty()) return;
    take(waiting);
    add(waiting, 1);
    shoot(waiting);
    if (spec_.block_size > 1) {
      add(waiting, -1);
      take(waiting);
      add(waiting, 1);
      shoot(waiting);
    }
    waiting.clear();
    promised_ = 0;
    if (t / kRefresh != refreshed / kRefresh) refresh();
  }

  // Both are sums over examples: so is the merged one. Its weights are the minimum of the merged model.
  void merge(const OnlineSketch& other) {
    std::vector<std::size_t> to;
    for (std::size_t j = 0; j < other.keys.size(); ++j)
      to.push_back(other.keys[j] < 0 ? 0 : static_cast<std::size_t>(slot_of(other.keys[j])));
    for (std::size_t j = 0; j < to.size(); ++j) {
      theta[to[j]] += other.theta[j];
      other.psi.row(j).each([&](std::size_t k, double value) {
        if (value != 0) psi.add(to[j], to[k], value);
      });
    }
    for (const Example& x : other.waiting) {
      Example copy = x;
      for (Entry& e : copy.entries) e.slot = static_cast<std::int32_t>(to[static_cast<std::size_t>(e.slot)]);
      waiting.push_back(std::move(copy));
    }
    t += other.t;
    refresh();
    shoot({});
  }

  void refresh() {  // r = theta - H b from scratch: rounding does not pile up
    refreshed = t;
    r = theta;
    for (std::size_t j = 0; j < keys.size(); ++j)
      if (weights[j] != 0) psi.subtract_column(j, weights[j], r.data());
  }

  struct Example {
    double y = 0, weight = 1, offset = 0;
    double curvature = 0, linear = 0;  // of its model: what `add` has added
    std::vector<Entry> entries;
  };

  std::vector<std::int64_t> keys;  // by slot; the intercept has key -1
  std::vector<double> weights, theta, r;
  RowsMatrix psi;  // H = -2 Psi
  std::vector<Example> waiting;
  std::int64_t t = 0, features = 0;
  std::int64_t refreshed = 0;  // the t of the last refresh
  mutable ModelLock guard;     // taken by threads that share it

  std::int32_t slot_of(std::int64_t index) {
    if (!slots_.reserve(static_cast<std::uint64_t>(index) + 1)) throw std::bad_alloc();
    std::int32_t& slot = slots_[index];
    if (slot == 0) {
      add_slot();
      keys.back() = index;
      slot = static_cast<std::int32_t>(keys.size());
      features = std::max(features, index + 1);
    }
    return slot - 1;
  }
  std::size_t bytes() const noexcept { return psi.bytes(); }

  std::size_t max_bytes = SIZE_MAX;  // for pairs of features
  struct Refused {  // the example that would have taken more: its place in the block, and what it asked for
    std::int64_t row = 0, features = 0;
    std::size_t bytes = 0;
  } refused;

 private:
  static constexpr std::int64_t kRefresh = 1 << 14;
  static constexpr double kLeast = 1e-10;

  template <class Index>
  static Accumulated inspect(const BlockView<Index>& b) noexcept {
    for (std::int64_t i = 0; i < b.rows; ++i) {
      if (!b.holds(i)) return Accumulated::bad_block;
      if (b.weights != nullptr && !(b.weights[i] >= 0 && std::isfinite(b.weights[i])))
        return Accumulated::bad_weight;
      for (std::int64_t k = b.indptr[i]; k < b.indptr[i + 1]; ++k) {
        if (b.indices[k] < 0 || !GradientArray::possible(static_cast<std::uint64_t>(b.indices[k])))
          return Accumulated::bad_index;
        if (!std::isfinite(b.values[k])) return Accumulated::not_finite;
      }
    }
    return Accumulated::ok;
  }

  // What the pairs of a row may take, together with all that are there and those of rows that wait. False:
  // more than allowed.
  template <class Index>
  bool has_room(const BlockView<Index>& b, std::int64_t i) noexcept {
    const auto pairs = static_cast<std::size_t>(b.indptr[i + 1] - b.indptr[i] + 1);  // and the intercept
    std::size_t known = 0;
    for (std::int64_t k = b.indptr[i]; k < b.indptr[i + 1]; ++k) known += slots_.find(b.indices[k]) != 0;
    const std::size_t size = keys.size() + pairs - known;
    std::size_t bytes = psi.bytes_with(size);
    if (psi.size() != 0) bytes += psi.row(0).bytes_with(pairs, size) - psi.row(0).bytes();  // the intercept's
    for (std::int64_t k = b.indptr[i]; k < b.indptr[i + 1]; ++k) {
      const std::int32_t slot = slots_.find(b.indices[k]);
      const AdaptiveRow none;
      const AdaptiveRow& row = slot == 0 ? none : psi.row(static_cast<std::size_t>(slot - 1));
      bytes += row.bytes_with(pairs, size) - row.bytes();
    }
    const std::size_t more = promised_ + (bytes - psi.bytes());
    if (more <= max_bytes && psi.bytes() <= max_bytes - more) {
      promised_ = more;
      return true;
    }
    refused = {i, b.indptr[i + 1] - b.indptr[i], psi.bytes() + more};
    return false;
  }

  void add_slot() {
    keys.push_back(-1);
    weights.push_back(0);
    theta.push_back(0);
    r.push_back(0);
    psi.grow(keys.size());
  }

  double margin(const Example& x) const noexcept {
    double m = 0;
    for (const Entry& e : x.entries)
      m += weights[static_cast<std::size_t>(e.slot)] * static_cast<double>(e.value);
    return m;
  }

  // The model of each example at the weights as they are.
  void take(std::vector<Example>& examples) const noexcept {
    for (Example& x : examples) {
      const double m = margin(x);
      const Term term = spec_.link->at(m + x.offset, x.y);
      x.curvature = x.weight * std::fmax(guarded(term, m + x.offset), kLeast);
      x.linear = x.curvature * m - x.weight * term.slope;  // the paper's b_i
    }
  }

  // A logistic example far on the wrong side has a slope and next to no curvature: its model alone would send
  // the weights to infinity, and here no later pass calls them back. It may ask for a margin this far away,
  // no further.
  static double guarded(const Term& term, double m) noexcept {
    return std::fmax(term.curvature, std::fabs(term.slope) / (8 + 4 * std::fabs(m)));
  }

  void add(const std::vector<Example>& examples, double sign) {
    for (const Example& x : examples) {
      const double slope = x.linear - x.curvature * margin(x);
      for (std::size_t k = 0; k < x.entries.size(); ++k) {
        const auto slot = static_cast<std::size_t>(x.entries[k].slot);
        const double value = static_cast<double>(x.entries[k].value);
        theta[slot] += sign * x.linear * value;
        r[slot] += sign * slope * value;
        psi.add(x.entries.data(), static_cast<std::int32_t>(k), static_cast<std::int32_t>(x.entries.size()),
                sign * x.curvature);
      }
    }
  }

  void shoot(const std::vector<Example>& examples) {
    double gamma = spec_.gamma;
    if (spec_.horizon > 0) gamma *= std::fmin(1, static_cast<double>(t) / spec_.horizon);
    penalty_.assign(keys.size(), gamma);
    if (spec_.fit_intercept && !spec_.penalize_intercept) penalty_[0] = 0;
    std::vector<std::size_t> first;
    for (std::size_t j = 0; j < keys.size(); ++j)
      if (weights[j] != 0) first.push_back(j);
    for (const Example& x : examples)
      for (const Entry& e : x.entries)
        if (weights[static_cast<std::size_t>(e.slot)] == 0) first.push_back(static_cast<std::size_t>(e.slot));
    ShootingStop stop;
    stop.change = spec_.change;
    stop.sweeps = 1000;
    Shooting<RowsMatrix>(psi, penalty_.data(), weights.data(), r.data()).run(stop, std::move(first));
  }

  OnlineSpec spec_;
  ActiveSlots slots_;
  std::vector<double> penalty_;
  std::size_t promised_ = 0;  // bytes for the pairs of rows that wait
};

}  // namespace riata
