// How a pass is made, by one thread or two, over either kind of curvature.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <bit>
#include <cmath>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "riata/curvature.hpp"
#include "riata/sketch.hpp"

namespace riata {

template <class Matrix>
class SketchOf final : public Sketch {
 public:
  SketchOf(const Link& link, bool fit_intercept) : Sketch(link, fit_intercept) {}

  void begin(const std::vector<std::int64_t>& new_keys, const std::vector<double>& b,
             double intercept) override {
    for (const std::int64_t key : keys) slots_[key] = 0;
    keys = new_keys;
    weights.assign(1, 0.0);
    if (intercept_) weights.push_back(intercept);
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (!slots_.reserve(static_cast<std::uint64_t>(keys[k]) + 1)) throw std::bad_alloc();
      slots_[keys[k]] = static_cast<std::int32_t>(weights.size());
      weights.push_back(b[k]);
    }
    matrix_.reset(first() + keys.size());
    for (int lane = 0; lane < kLanes; ++lane) {
      sums[lane] = {};
      lanes[lane].clear();
    }
    seen = {};
    largest = 0;
  }

  Accumulated accumulate(const BlockView<std::int32_t>& block, double positive, int threads, double* scores,
                         std::int64_t stride) override {
    return run(block, positive, threads, scores, stride);
  }
  Accumulated accumulate(const BlockView<std::int64_t>& block, double positive, int threads, double* scores,
                         std::int64_t stride) override {
    return run(block, positive, threads, scores, stride);
  }

  ShootingReport solve(double gamma, double gamma0, const ShootingStop& stop,
                       std::vector<double>& b) override {
    matrix_.complete();
    const std::size_t n = matrix_.size();
    b.assign(weights.begin() + 1, weights.end());
    std::vector<double> r(n), penalty(n, gamma);
    if (intercept_) {
      r[0] = -total().slope;
      penalty[0] = gamma0;
    }
    for (std::size_t k = 0; k < keys.size(); ++k) r[first() + k] = -gradient(keys[k]);
    if (!intercept_ || gamma0 > 0) return Shooting(matrix_, penalty.data(), b.data(), r.data()).run(stop);
    const Centred<Matrix> centred(matrix_);
    double slope = r[0];
    centred.step(slope, r.data());
    const std::vector<double> before = b;
    const ShootingReport report = Shooting(centred, penalty.data(), b.data(), r.data()).run(stop);
    for (std::size_t j = 1; j < n; ++j) slope -= (b[j] - before[j]) * centred.first(j);
    b[0] += centred.step(slope, nullptr);
    return report;
  }

  void merge(const Sketch& other) override {
    const auto& from = dynamic_cast<const SketchOf&>(other);
    const std::vector<std::size_t> to = adopt(from);
    for (int lane = 0; lane < kLanes; ++lane) {
      sums[lane].add(from.sums[lane]);
      if (!lanes[lane].reserve(static_cast<std::uint64_t>(from.features))) throw std::bad_alloc();
      from.lanes[lane].each([&](std::uint64_t index, double g) {
        if (g != 0) lanes[lane][index] += g;
      });
    }
    add_curvature(from.matrix_, to);
    seen.add(from.seen);
    largest = std::max(largest, from.largest);
    features = std::max(features, from.features);
  }

  std::vector<double> curvature() override {
    matrix_.complete();
    std::vector<double> cells;
    if constexpr (Matrix::kOrdered) {
      cells = matrix_.cells();
    } else {  // triples
      for (std::size_t j = 0; j < matrix_.size(); ++j)
        matrix_.row(j).each([&](std::size_t k, double value) {
          if (value != 0) cells.insert(cells.end(), {static_cast<double>(j), static_cast<double>(k), value});
        });
    }
    return cells;
  }
  void set_curvature(const std::vector<double>& cells) override {
    if constexpr (Matrix::kOrdered) {
      if (cells.size() != matrix_.cells().size())
        throw std::invalid_argument("the curvature has another size");
      matrix_.cells() = cells;
    } else {
      for (std::size_t i = 0; i + 2 < cells.size(); i += 3) {
        const auto j = static_cast<std::size_t>(cells[i]), k = static_cast<std::size_t>(cells[i + 1]);
        if (j >= matrix_.size() || k >= matrix_.size())
          throw std::invalid_argument("the curvature has another size");
        matrix_.add(j, k, cells[i + 2]);
      }
    }
  }

  bool ordered() const noexcept override { return Matrix::kOrdered; }
  std::size_t bytes() const noexcept override {
    std::size_t total = matrix_.bytes() + entries_.capacity() * sizeof(Entry);
    for (const Lane& lane : lanes) total += lane.bytes();
    return total;
  }

 private:
  static constexpr std::int64_t kPortion = 8192;                 // rows between two meetings of the threads
  static constexpr std::int64_t kShare = std::int64_t{1} << 15;  // non-zeros that are worth a second thread
  // An example far on the right side has no curvature left in floating point; a model needs some.
  static constexpr double kLeast = 1e-10;
  static constexpr std::uint32_t kExponent = 0x7f800000;  // all ones: infinite or NaN

  template <class Index>
  Accumulated run(const BlockView<Index>& b, double positive, int threads, double* scores,
                  std::int64_t stride) {
    threads = std::clamp(b.nnz >= kShare ? threads : 1, 1, kLanes);
    if (const Accumulated checked = check(b, threads); checked != Accumulated::ok) return checked;
    const auto most = static_cast<std::size_t>(std::min(b.rows, kPortion));
    counts_.resize(most);
    curvature_.resize(most);
    offsets_.resize(most);
    matrix_.reopen();
    std::barrier meet(threads);
    std::atomic<bool> exhausted = false;  // an exception must not leave a thread
    share(threads, [&](int me) {
      for (std::int64_t from = 0; from < b.rows; from += kPortion) {
        const std::int64_t to = std::min(b.rows, from + kPortion);
        if (me == 0 && !layout(b, from, to)) exhausted = true;
        meet.arrive_and_wait();
        if (exhausted) return;
        for (int lane = me; lane < kLanes; lane += threads)
          first_order(b, from, to, lane, positive, scores, stride);
        meet.arrive_and_wait();
        if (!second_order(from, to, me, threads)) exhausted = true;
        meet.arrive_and_wait();
      }
    });
    seen.rows += b.rows;
    return exhausted ? Accumulated::out_of_memory : Accumulated::ok;
  }

  template <class Work>
  static void share(int threads, Work work) {
    if (threads == 1) return work(0);
    std::thread other(work, 1);
    work(0);
    other.join();
  }

  struct Inspected {  // what can be said of some rows before any of them is added
    Accumulated outcome = Accumulated::ok;
    std::int64_t high = -1;
    float widest = 0;
    std::uint64_t sum = 0;
  };

  // Checks the whole block, makes room for it and takes its fingerprint, before anything is added.
  template <class Index>
  Accumulated check(const BlockView<Index>& b, int threads) {
    for (std::int64_t i = 0; i < b.rows; ++i)
      if (!b.holds(i)) return Accumulated::bad_block;
    Inspected parts[kLanes];
    share(threads,
          [&](int me) { parts[me] = inspect(b, b.rows * me / threads, b.rows * (me + 1) / threads); });
    Inspected all;
    for (const Inspected& part : parts) {
      if (part.outcome != Accumulated::ok) return part.outcome;
      all.high = std::max(all.high, part.high);
      all.widest = std::max(all.widest, part.widest);
      all.sum += part.sum;
    }
    const auto width = static_cast<std::uint64_t>(all.high + 1);
    for (Lane& lane : lanes)
      if (!lane.reserve(width)) return Accumulated::out_of_memory;
    if (!slots_.reserve(width)) return Accumulated::out_of_memory;
    if constexpr (!Matrix::kOrdered) activate_all(b);
    features = std::max(features, all.high + 1);
    largest = std::max(largest, static_cast<double>(all.widest));
    if (b.rows > 0) seen.nnz += b.indptr[b.rows] - b.indptr[0];
    seen.sum += all.sum;
    return Accumulated::ok;
  }

  template <class Index>
  static Inspected inspect(const BlockView<Index>& b, std::int64_t from, std::int64_t to) noexcept {
    Inspected out;
    if (from == to) return out;
    Index low = 0, high = -1;
    std::uint32_t odd = 0;
    for (std::int64_t k = b.indptr[from]; k < b.indptr[to]; ++k) {
      const auto bits = std::bit_cast<std::uint32_t>(b.values[k]);
      low = std::min(low, b.indices[k]);
      high = std::max(high, b.indices[k]);
      out.widest = std::max(out.widest, std::fabs(b.values[k]));
      odd |= (bits & kExponent) == kExponent;
      out.sum += (static_cast<std::uint64_t>(b.indices[k]) * 0x9e3779b97f4a7c15ull + 1) * bits;
    }
    for (std::int64_t i = from; i < to; ++i) {
      // A row's first feature binds its label and weight to it: swapped labels are other examples.
      const auto head =
          b.indptr[i] < b.indptr[i + 1] ? static_cast<std::uint64_t>(b.indices[b.indptr[i]]) : 0;
      out.sum += (std::bit_cast<std::uint64_t>(b.labels[i]) >> 40) * (2 * head + 3);
      if (b.weights == nullptr) continue;
      if (!(b.weights[i] >= 0 && std::isfinite(b.weights[i]))) out.outcome = Accumulated::bad_weight;
      out.sum += (std::bit_cast<std::uint64_t>(b.weights[i]) >> 20) * (2 * head + 5);
    }
    out.high = static_cast<std::int64_t>(high);
    if (odd != 0) out.outcome = Accumulated::not_finite;
    if (low < 0 || (high >= 0 && !Lane::possible(static_cast<std::uint64_t>(high))))
      out.outcome = Accumulated::bad_index;
    return out;
  }

  // Multi-pass with a full sketch: every feature is active as soon as it is seen.
  template <class Index>
  void activate_all(const BlockView<Index>& b) {
    for (std::int64_t k = b.rows > 0 ? b.indptr[0] : 0; k < (b.rows > 0 ? b.indptr[b.rows] : 0); ++k) {
      std::int32_t& slot = slots_[b.indices[k]];
      if (slot != 0) continue;
      slot = static_cast<std::int32_t>(weights.size());
      weights.push_back(0.0);
      keys.push_back(b.indices[k]);
    }
    matrix_.grow(first() + keys.size());
  }

  // Where the entries of each row of the portion go.
  template <class Index>
  bool layout(const BlockView<Index>& b, std::int64_t from, std::int64_t to) noexcept {
    std::size_t total = 0;
    for (std::int64_t i = from; i < to; ++i) {
      offsets_[static_cast<std::size_t>(i - from)] = total;
      total += static_cast<std::size_t>(b.indptr[i + 1] - b.indptr[i]) + 2;
    }
    try {
      if (entries_.size() < total) entries_.resize(total);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  template <class Index>
  void first_order(const BlockView<Index>& b, std::int64_t from, std::int64_t to, int lane, double positive,
                   double* scores, std::int64_t stride) noexcept {
    const std::int32_t* slots = slots_.data();
    Sums& s = sums[lane];
    Lane& gradient = lanes[lane];
    for (std::int64_t i = from; i < to; ++i) {
      if (((seen.rows + i) / kTurn) % kLanes != lane) continue;
      const auto at = static_cast<std::size_t>(i - from);
      Entry* entries = entries_.data() + offsets_[at];
      std::int32_t count = 0;
      std::int32_t last = 0;
      bool unsorted = false;
      double m = 0;
      if (intercept_) {
        entries[count++] = {0, 1.0f};
        m = weights[1];
      }
      for (std::int64_t k = b.indptr[i]; k < b.indptr[i + 1]; ++k) {
        const std::int32_t slot = slots[b.indices[k]];
        m += weights[static_cast<std::size_t>(slot)] * static_cast<double>(b.values[k]);
        entries[count] = {slot - 1, b.values[k]};
        count += slot != 0;
        unsorted |= slot != 0 && slot < last;
        last = slot != 0 ? slot : last;
      }
      if (Matrix::kOrdered && unsorted)  // named features come in the order of the data
        std::sort(entries, entries + count, [](const Entry& x, const Entry& y) { return x.slot < y.slot; });
      scores[i * stride] = m;
      const double weight = b.weights == nullptr ? 1.0 : b.weights[i];
      const bool is_positive = b.labels[i] == positive;
      const Term term = link_.at(m, is_positive ? 1.0 : -1.0);
      const double slope = weight * term.slope;
      s.loss += weight * term.loss;
      s.slope += slope;
      s.weight += weight;
      s.lean += std::fabs(slope);
      if (is_positive) {
        s.positive += weight;
        s.dual += weight * term.loss - m * slope;
      }
      counts_[at] = count;
      curvature_[at] = weight * std::fmax(term.curvature, kLeast);
      if (slope == 0) continue;
      for (std::int64_t k = b.indptr[i]; k < b.indptr[i + 1]; ++k)
        gradient[static_cast<std::uint64_t>(b.indices[k])] += slope * static_cast<double>(b.values[k]);
    }
  }

  bool second_order(std::int64_t from, std::int64_t to, int me, int threads) noexcept {
    try {
      outer_products(from, to, me, threads);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  void outer_products(std::int64_t from, std::int64_t to, int me, int threads) {
    for (std::int64_t i = from; i < to; ++i) {
      const auto at = static_cast<std::size_t>(i - from);
      const Entry* entries = entries_.data() + offsets_[at];
      if (curvature_[at] == 0) continue;
      for (std::int32_t k = 0; k < counts_[at]; ++k)
        if (entries[k].slot % threads == me) matrix_.add(entries, k, counts_[at], curvature_[at]);
    }
  }

  // Slots of the other sketch's features here; the same points only.
  std::vector<std::size_t> adopt(const SketchOf& from) {
    if (intercept_ != from.intercept_)
      throw std::invalid_argument("one sketch has an intercept, the other has not");
    std::vector<std::size_t> to(first() + from.keys.size());
    for (std::size_t k = 0; k < first(); ++k) to[k] = k;
    if constexpr (Matrix::kOrdered) {
      if (keys != from.keys || weights != from.weights)
        throw std::invalid_argument("sketches add up only when they were taken at the same point");
      for (std::size_t k = 0; k < to.size(); ++k) to[k] = k;
    } else {
      for (std::size_t k = 0; k < from.keys.size(); ++k) {
        const std::int64_t key = from.keys[k];
        if (!slots_.reserve(static_cast<std::uint64_t>(key) + 1)) throw std::bad_alloc();
        if (slots_[key] == 0) {
          slots_[key] = static_cast<std::int32_t>(weights.size());
          weights.push_back(0.0);
          keys.push_back(key);
        }
        to[first() + k] = static_cast<std::size_t>(slots_[key] - 1);
        if (weights[to[first() + k] + 1] != from.weights[first() + k + 1])
          throw std::invalid_argument("sketches add up only when they were taken at the same point");
      }
      matrix_.grow(first() + keys.size());
    }
    return to;
  }
  void add_curvature(const Matrix& from, const std::vector<std::size_t>& to) {
    if constexpr (Matrix::kOrdered) {
      for (std::size_t k = 0; k < matrix_.cells().size(); ++k) matrix_.cells()[k] += from.cells()[k];
    } else {
      for (std::size_t j = 0; j < from.size(); ++j)
        from.row(j).each([&](std::size_t k, double value) {
          if (value != 0) matrix_.add(to[j], to[k], value);
        });
    }
  }

  Matrix matrix_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> offsets_;
  std::vector<std::int32_t> counts_;
  std::vector<double> curvature_;
};

}  // namespace riata
