// How a pass is made, by one thread or two, over either kind of curvature.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "riata/base/barrier.hpp"
#include "riata/sketch/active_rows.hpp"
#include "riata/sketch/curvature.hpp"
#include "riata/sketch/quadratic.hpp"
#include "riata/sketch/sketch.hpp"

namespace riata {

template <class Matrix>
class SketchOf final : public Sketch {
 public:
  SketchOf(const Link& link, bool fit_intercept) : Sketch(link, fit_intercept) {}

  void begin(const std::vector<std::int64_t>& new_keys, const std::vector<double>& b, double intercept,
             bool curved) override {
    curved_ = curved || !Matrix::kOrdered;
    for (const std::int64_t key : keys) slots_[key] = 0;
    keys = new_keys;
    weights.assign(1, 0.0);
    if (intercept_) weights.push_back(intercept);
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (!slots_.reserve(static_cast<std::uint64_t>(keys[k]) + 1)) throw std::bad_alloc();
      slots_[keys[k]] = static_cast<std::int32_t>(weights.size());
      weights.push_back(b[k]);
    }
    origin.clear();
    matrix_.reset(curved_ ? first() + keys.size() : 0);
    for (int part = 0; part < kParts; ++part) {
      sums[part] = {};
      gradients[part].clear();
    }
    seen = {};
    largest = 0;
  }

  void came_from(const std::vector<std::int64_t>& from_keys, const std::vector<double>& b,
                 double intercept) override {
    origin.assign(weights.size(), 0.0);
    if (intercept_) origin[1] = intercept;
    for (std::size_t k = 0; k < from_keys.size(); ++k) {
      const std::int32_t at = slot(from_keys[k]);
      if (at == 0) throw std::invalid_argument("a step may begin at active features alone");
      origin[static_cast<std::size_t>(at)] = b[k];
    }
  }

  Accumulated accumulate(const BlockView<std::int32_t>& block, double positive, int threads, double* scores,
                         double* losses) override {
    return run(block, positive, threads, scores, losses);
  }
  Accumulated accumulate(const BlockView<std::int64_t>& block, double positive, int threads, double* scores,
                         double* losses) override {
    return run(block, positive, threads, scores, losses);
  }

  ShootingReport solve(double gamma, double gamma0, const ShootingStop& stop, std::vector<double>& b,
                       CoordinateBounds bounds) override {
    if (!curved_) throw std::invalid_argument("a pass without curvature has no next weights");
    matrix_.complete();
    const std::size_t n = matrix_.size();
    b.assign(weights.begin() + 1, weights.end());
    std::vector<double> r(n), penalty(n, gamma);
    if (intercept_) {
      r[0] = -total().slope;
      penalty[0] = gamma0;
    }
    for (std::size_t k = 0; k < keys.size(); ++k) r[first() + k] = -gradient(keys[k]);
    if (!intercept_ || gamma0 > 0)
      return Shooting(matrix_, penalty.data(), b.data(), r.data(), bounds).run(stop);
    const Centred<Matrix> centred(matrix_);
    double slope = r[0];
    centred.step(slope, r.data());
    const std::vector<double> before = b;
    const ShootingReport report = Shooting(centred, penalty.data(), b.data(), r.data(), bounds).run(stop);
    for (std::size_t j = 1; j < n; ++j) slope -= (b[j] - before[j]) * centred.first(j);
    b[0] += centred.step(slope, nullptr);
    return report;
  }

  void merge(const Sketch& other) override {
    const auto& from = dynamic_cast<const SketchOf&>(other);
    const std::vector<std::size_t> to = adopt(from);
    for (int part = 0; part < kParts; ++part) {
      sums[part].add(from.sums[part]);
      if (!gradients[part].reserve(static_cast<std::uint64_t>(from.features))) throw std::bad_alloc();
      from.gradients[part].each([&](std::uint64_t index, double g) {
        if (g != 0) gradients[part].add(index, g);
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
        matrix_.row(j).each_in_order([&](std::size_t k, double value) {
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
    std::size_t total = matrix_.bytes() + kParts * room_ * sizeof(Entry);
    for (const GradientArray& gradient : gradients) total += gradient.bytes();
    return total;
  }

 private:
  // Rows that threads share before they wait for each other.
  static constexpr std::int64_t kRound = 4 * kParts * kTurn;
  static constexpr std::int64_t kShare = std::int64_t{1} << 15;  // non-zeros that are worth a second thread
  static constexpr double kSmall = 0.01, kLarge = 1;

  template <class Index>
  Accumulated run(const BlockView<Index>& b, double positive, int threads, double* scores, double* losses) {
    for (std::int64_t i = 0; i < b.rows; ++i)
      if (!b.holds(i)) return Accumulated::bad_block;
    threads = b.nnz >= kShare && threads > 1 ? 2 : 1;
    static_assert(kParts == 2);
    Inspected inspected[kParts];
    std::atomic<Accumulated> outcome = Accumulated::ok;  // an exception must not leave a thread
    Barrier barrier(threads);
    share(threads, [&](int me) {
      inspected[me] = inspect(b, b.rows * me / threads, b.rows * (me + 1) / threads);
      barrier.arrive_and_wait();
      if (me == 0) outcome = admit(b, inspected);
      barrier.arrive_and_wait();
      for (std::int64_t from = 0; from < b.rows && outcome == Accumulated::ok; from += kRound) {
        const std::int64_t to = std::min(b.rows, from + kRound);
        for (int part = me; part < kParts; part += threads)
          first_order(b, from, to, part, positive, scores, losses);
        barrier.arrive_and_wait();
        if (curved_ && !second_order(to - from, me, threads)) outcome = Accumulated::out_of_memory;
        barrier.arrive_and_wait();
      }
    });
    if (outcome == Accumulated::ok) seen.rows += b.rows;
    return outcome;
  }

  template <class Work>
  static void share(int threads, Work work) {
    if (threads == 1) return work(0);
    std::thread other(work, 1);
    work(0);
    other.join();
  }

  // Makes room for the block and takes its fingerprint, if all of it is good, before anything is added.
  template <class Index>
  Accumulated admit(const BlockView<Index>& b, const Inspected (&inspected)[kParts]) noexcept {
    Inspected all;
    for (const Inspected& part : inspected) all.add(part);
    if (all.outcome != Accumulated::ok) return all.outcome;
    const auto width = static_cast<std::uint64_t>(all.high + 1);
    for (GradientArray& gradient : gradients)
      if (!gradient.reserve(width)) return Accumulated::out_of_memory;
    if (!slots_.reserve(width)) return Accumulated::out_of_memory;
    try {
      make_room(b);
      if constexpr (!Matrix::kOrdered) activate_all(b);
    } catch (const std::bad_alloc&) {
      return Accumulated::out_of_memory;
    }
    matrix_.reopen();
    features = std::max(features, all.high + 1);
    largest = std::max(largest, static_cast<double>(all.widest));
    if (b.rows > 0) seen.nnz += b.indptr[b.rows] - b.indptr[0];
    seen.sum += all.sum;
    return Accumulated::ok;
  }

  // A part may get all rows of a round, and all their features may be active: memory that is not touched
  // before it is so.
  template <class Index>
  void make_room(const BlockView<Index>& b) {
    std::int64_t most = 0;
    for (std::int64_t from = 0; from < b.rows; from += kRound)
      most = std::max(most, b.indptr[std::min(b.rows, from + kRound)] - b.indptr[from]);
    const auto room = static_cast<std::size_t>(most + kRound + 1);
    if (room > room_) {
      room_ = 0;
      for (auto& entries : entries_) entries = std::make_unique_for_overwrite<Entry[]>(room);
      room_ = room;
    }
    rows_.resize(kRound);
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
    if (!origin.empty()) origin.resize(weights.size(), 0.0);
    matrix_.grow(first() + keys.size());
  }

  template <class Index>
  void first_order(const BlockView<Index>& b, std::int64_t from, std::int64_t to, int part, double positive,
                   double* scores, double* losses) noexcept {
    Sums& s = sums[part];
    Entry* entries = entries_[part].get();
    for (std::int64_t i = from; i < to; ++i) {
      if (((seen.rows + i) / kTurn) % kParts != part) continue;
      const std::int32_t count = active(b, i, entries);
      double m = 0;
      for (std::int32_t k = 0; k < count; ++k)
        m += weights[static_cast<std::size_t>(entries[k].slot) + 1] * static_cast<double>(entries[k].value);
      double moved = 0;  // the margin, by the step that led here
      if (!origin.empty()) {
        for (std::int32_t k = 0; k < count; ++k) {
          const auto slot = static_cast<std::size_t>(entries[k].slot) + 1;
          moved += (weights[slot] - origin[slot]) * static_cast<double>(entries[k].value);
        }
      }
      if constexpr (Matrix::kOrdered) {  // named features come in the order of the data
        const auto lower = [](const Entry& x, const Entry& y) { return x.slot < y.slot; };
        if (!std::is_sorted(entries, entries + count, lower)) std::sort(entries, entries + count, lower);
      }
      const double score = m + b.offset(i);
      scores[i] = score;
      const double weight = b.weights == nullptr ? 1.0 : b.weights[i];
      const bool is_positive = b.labels[i] == positive;
      const Term term = link_.at(score, is_positive ? 1.0 : -1.0);
      losses[i] = term.loss;
      const double slope = weight * term.slope;
      s.loss += weight * term.loss;
      if (!origin.empty()) along(s, score, moved, is_positive ? 1.0 : -1.0, weight, term);
      s.slope += slope;
      s.weight += weight;
      s.absolute_slope += std::fabs(slope);
      if (is_positive) {
        s.positive += weight;
        s.dual += weight * term.loss - m * slope;
      }
      rows_[static_cast<std::size_t>(i - from)] = {
          entries, count, weight * model_curvature(is_positive ? score : -score, term)};
      entries += count;
      if (slope != 0) add_gradient(b, i, slope, gradients[part]);
    }
  }

  // The loss at parts of the step. Where a margin moves little, that is nearly the polynomial with the loss's value, slope and
  // curvature at both ends, and where it hardly moves, the parabola of one.
  void along(Sums& s, double score, double moved, double y, double weight, const Term& to) const noexcept {
    const bool hardly = std::fabs(moved) < kSmall, little = !hardly && std::fabs(moved) < kLarge;
    const Term from = little ? link_.at(score - moved, y) : to;
    for (int k = 0; k < kLengths; ++k) {
      const double t = kLength[k], u = 1 - t, ahead = t * moved, back = -u * moved, t3 = t * t * t;
      double loss = 0;
      if (hardly)
        loss = to.loss + back * (to.slope + 0.5 * back * to.curvature);
      else if (little)
        loss = from.loss + t3 * (10 - 15 * t + 6 * t * t) * (to.loss - from.loss) +
               u * u * u * ahead * ((1 + 3 * t) * from.slope + 0.5 * ahead * from.curvature) +
               t3 * back * ((1 + 3 * u) * to.slope + 0.5 * back * to.curvature);
      else
        loss = link_.at(score + back, y).loss;
      s.along[k] += weight * loss;
    }
  }

  // The row's active features, by slot, the intercept first; how many. Most features are not active.
  template <class Index>
  std::int32_t active(const BlockView<Index>& b, std::int64_t i, Entry* entries) const noexcept {
    const std::int32_t* slots = slots_.data();
    std::int32_t count = 0;
    if (intercept_) entries[count++] = {0, 1.0f};
    for (std::int64_t k = b.indptr[i]; k < b.indptr[i + 1]; ++k) {
      const std::int32_t slot = slots[b.indices[k]];
      entries[count] = {slot - 1, b.values[k]};
      count += slot != 0;
    }
    return count;
  }

  template <class Index>
  static void add_gradient(const BlockView<Index>& b, std::int64_t i, double slope,
                           GradientArray& to) noexcept {
    if (to.tracks_writes())
      for (std::int64_t k = b.indptr[i]; k < b.indptr[i + 1]; ++k)
        to.note_write(static_cast<std::uint64_t>(b.indices[k]));
    double* gradient = to.data();
    for (std::int64_t k = b.indptr[i]; k < b.indptr[i + 1]; ++k)
      gradient[b.indices[k]] += slope * static_cast<double>(b.values[k]);
  }

  // Of a round's rows, the part of the curvature that is this thread's: each has a range of slots, so that
  // every number is one thread's, and it adds to it row after row.
  bool second_order(std::int64_t rows, int me, int threads) noexcept {
    try {
      const std::int32_t middle = threads == 1 ? 0 : middle_slot<Matrix>(rows_.data(), rows, matrix_.size());
      for (std::int64_t i = 0; i < rows; ++i) {
        const ActiveRow& row = rows_[static_cast<std::size_t>(i)];
        if (row.curvature == 0) continue;
        const bool low = threads > 1 && me == 0;
        if constexpr (Matrix::kOrdered) {
          const std::int32_t cut = middle == 0 ? 0 : row.below(middle);
          for (std::int32_t k = low ? 0 : cut; k < (low ? cut : row.count); ++k)
            matrix_.add(row.entries, k, row.count, row.curvature);
        } else {
          for (std::int32_t k = 0; k < row.count; ++k)
            if ((row.entries[k].slot < middle) == low) matrix_.add(row.entries, k, row.count, row.curvature);
        }
      }
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  // Slots of the other sketch's features here; the same points only.
  std::vector<std::size_t> adopt(const SketchOf& from) {
    if (intercept_ != from.intercept_)
      throw std::invalid_argument("one sketch has an intercept, the other has not");
    std::vector<std::size_t> to(first() + from.keys.size());
    for (std::size_t k = 0; k < first(); ++k) to[k] = k;
    if constexpr (Matrix::kOrdered) {
      if (keys != from.keys || weights != from.weights || curved_ != from.curved_)
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
        if (!origin.empty()) origin.resize(weights.size(), 0.0);
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
  std::unique_ptr<Entry[]> entries_[kParts];  // the active features of a round, a part's rows together
  std::size_t room_ = 0;                      // in each
  std::vector<ActiveRow> rows_;
};

}  // namespace riata
