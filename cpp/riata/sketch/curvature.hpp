// Symmetric matrices of curvature, H = sum w x x', that rows are added to one by one.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "riata/base/probe_table.hpp"

namespace riata {

struct Entry {  // a feature of an example, by its slot
  std::int32_t slot;
  float value;
};

// The active features' curvature, dense. Filled below the diagonal, mirrored once when all is added.
class SquareMatrix {
 public:
  static constexpr bool kOrdered = true;  // an example's entries have ascending slots

  void reset(std::size_t n) {
    n_ = n;
    mirrored_ = false;
    cells_.assign(n * n, 0.0);
  }
  void reopen() noexcept { mirrored_ = false; }
  std::size_t size() const noexcept { return n_; }
  double diagonal(std::size_t j) const noexcept { return cells_[j * n_ + j]; }

  // Row `entries[at].slot` of w x x', up to the diagonal.
  void add(const Entry* entries, std::int32_t at, std::int32_t, double w) noexcept {
    double* row = cells_.data() + static_cast<std::size_t>(entries[at].slot) * n_;
    const double factor = w * static_cast<double>(entries[at].value);
    for (std::int32_t k = 0; k <= at; ++k)
      row[entries[k].slot] += factor * static_cast<double>(entries[k].value);
  }
  void complete() noexcept {
    if (mirrored_) return;
    constexpr std::size_t kTile = 32;
    for (std::size_t i0 = 0; i0 < n_; i0 += kTile)
      for (std::size_t j0 = 0; j0 <= i0; j0 += kTile)
        for (std::size_t i = i0; i < i0 + kTile && i < n_; ++i)
          for (std::size_t j = j0; j < j0 + kTile && j < i; ++j) cells_[j * n_ + i] = cells_[i * n_ + j];
    mirrored_ = true;
  }
  void subtract_column(std::size_t j, double delta, double* r) const noexcept {
    const double* row = cells_.data() + j * n_;
    for (std::size_t k = 0; k < n_; ++k) r[k] -= delta * row[k];
  }

  std::vector<double>& cells() noexcept { return cells_; }
  const std::vector<double>& cells() const noexcept { return cells_; }
  std::size_t bytes() const noexcept { return cells_.capacity() * sizeof(double); }

 private:
  std::size_t n_ = 0;
  bool mirrored_ = false;
  std::vector<double> cells_;
};

// One row of a matrix of any size: a small hash table while it has few entries, an array once that is
// smaller.
class AdaptiveRow {
 public:
  void add(std::uint32_t key, double value, std::size_t n) {
    if (dense_.empty() && cells_.is_full() && !widen(n)) throw std::bad_alloc();
    if (!dense_.empty()) {
      if (key >= dense_.size()) dense_.resize(n, 0.0);
      dense_[key] += value;
      return;
    }
    Cell* const cell = find(key);
    if (is_empty(*cell)) cells_.put(cell, key, {key + 1, 0.0});
    cell->value += value;
  }
  template <class Visit>  // visit(key, value)
  void each(Visit visit) const {
    for (std::size_t k = 0; k < dense_.size(); ++k) visit(k, dense_[k]);
    for (const Cell& cell : cells_)
      if (!is_empty(cell)) visit(static_cast<std::size_t>(cell.key_plus_1 - 1), cell.value);
  }
  template <class Visit>  // the same with keys ascending, whatever the table's hash is
  void each_in_order(Visit visit) const {
    if (!dense_.empty()) return each(visit);
    std::vector<std::pair<std::size_t, double>> entries;
    entries.reserve(cells_.size());
    each([&entries](std::size_t k, double value) { entries.emplace_back(k, value); });
    std::sort(entries.begin(), entries.end());
    for (const auto& [k, value] : entries) visit(k, value);
  }
  double at(std::uint32_t key) const noexcept {
    if (!dense_.empty()) return key < dense_.size() ? dense_[key] : 0;
    return cells_.capacity() == 0 ? 0 : find(key)->value;  // an empty cell has 0
  }
  std::size_t bytes() const noexcept { return dense_.capacity() * sizeof(double) + cells_.bytes(); }

  // What it may take at most once `more` entries have been added to a matrix of size n.
  std::size_t bytes_with(std::size_t more, std::size_t n) const noexcept {
    if (!dense_.empty())
      return n <= dense_.capacity() ? bytes() : std::max(n, 2 * dense_.size()) * sizeof(double);
    const std::size_t cells = std::bit_ceil((std::min(cells_.size() + more, n) + 1) * 8 / 5 + 8);
    return std::max(bytes(), std::min(cells * sizeof(Cell), n * sizeof(double)));
  }

 private:
  struct Cell {
    std::uint32_t key_plus_1;
    double value;
  };
  static bool is_empty(const Cell& cell) noexcept { return cell.key_plus_1 == 0; }
  static std::uint64_t key_of(const Cell& cell) noexcept { return cell.key_plus_1 - 1; }

  Cell* find(std::uint32_t key) const noexcept {
    return cells_.find(key, [key](const Cell& cell) { return is_empty(cell) || cell.key_plus_1 == key + 1; });
  }
  // A larger table, or an array of n where the table would take as much. False: memory is exhausted.
  bool widen(std::size_t n) {
    if (cells_.bytes_when_grown() < n * sizeof(double)) return cells_.grow(is_empty, key_of);
    std::vector<double> wide(n, 0.0);
    each([&wide](std::size_t k, double value) { wide[k] = value; });
    dense_ = std::move(wide);
    cells_ = ProbeTable<Cell>();
    return true;
  }

  std::vector<double> dense_;
  ProbeTable<Cell> cells_;
};

// A sum that several threads add to; it is copied with what it counts, when none does.
class SharedSum {
 public:
  SharedSum() = default;
  SharedSum(const SharedSum& other) noexcept : total_(other.get()) {}
  SharedSum& operator=(const SharedSum& other) noexcept {
    total_.store(other.get(), std::memory_order_relaxed);
    return *this;
  }
  std::size_t get() const noexcept { return total_.load(std::memory_order_relaxed); }
  void add(std::size_t more) noexcept {
    if (more != 0) total_.fetch_add(more, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::size_t> total_ = 0;
};

// The curvature of all features: rows that are sparse or dense, whichever is smaller. Both halves are kept.
class RowsMatrix {
 public:
  static constexpr bool kOrdered = false;

  void reset(std::size_t n) {
    rows_.clear();
    rows_.resize(n);
    diagonal_.assign(n, 0.0);
    row_bytes_ = {};
  }
  void grow(std::size_t n) {
    rows_.resize(n);
    diagonal_.resize(n, 0.0);
  }
  std::size_t size() const noexcept { return rows_.size(); }
  double diagonal(std::size_t j) const noexcept { return diagonal_[j]; }

  void add(const Entry* entries, std::int32_t at, std::int32_t count, double w) {
    const auto slot = static_cast<std::size_t>(entries[at].slot);
    const double value = static_cast<double>(entries[at].value);
    const double factor = w * value;
    diagonal_[slot] += factor * value;
    AdaptiveRow& row = rows_[slot];
    const std::size_t before = row.bytes();
    for (std::int32_t k = 0; k < count; ++k)
      row.add(static_cast<std::uint32_t>(entries[k].slot), factor * static_cast<double>(entries[k].value),
              size());
    row_bytes_.add(row.bytes() - before);
  }
  void add(std::size_t j, std::size_t k, double value) {
    if (j == k) diagonal_[j] += value;
    const std::size_t before = rows_[j].bytes();
    rows_[j].add(static_cast<std::uint32_t>(k), value, size());
    row_bytes_.add(rows_[j].bytes() - before);
  }
  void reopen() noexcept {}
  void complete() noexcept {}
  void subtract_column(std::size_t j, double delta, double* r) const {
    rows_[j].each([&](std::size_t k, double value) { r[k] -= delta * value; });
  }
  const AdaptiveRow& row(std::size_t j) const noexcept { return rows_[j]; }
  std::size_t bytes() const noexcept {
    return diagonal_.capacity() * sizeof(double) + rows_.capacity() * sizeof(AdaptiveRow) + row_bytes_.get();
  }
  // What it may take at most with room for n rows, empty but for those that are there.
  std::size_t bytes_with(std::size_t n) const noexcept {
    return bytes() + (n <= rows_.capacity() ? 0 : 2 * n * (sizeof(AdaptiveRow) + sizeof(double)));
  }

 private:
  std::vector<AdaptiveRow> rows_;
  std::vector<double> diagonal_;
  SharedSum row_bytes_;  // of what all rows hold
};

// A matrix whose coordinate 0 is always at its optimum, whatever the others do: the Schur complement of it.
// For an intercept without penalty that is what centring the features would do, and coordinate descent needs
// it: against an intercept, features far from zero would take forever.
template <class Matrix>
class Centred {
 public:
  explicit Centred(const Matrix& whole) : whole_(whole), first_(whole.size(), 0.0) {
    whole.subtract_column(0, -1.0, first_.data());  // column 0
    top_ = whole.diagonal(0);
  }
  std::size_t size() const noexcept { return whole_.size(); }
  double diagonal(std::size_t j) const noexcept {
    if (j == 0) return 0;
    const double whole = whole_.diagonal(j), left = whole - first_[j] / top_ * first_[j];
    return left > kRounding * whole ? left : 0;  // a constant feature is the intercept's
  }
  void subtract_column(std::size_t j, double delta, double* r) const {
    whole_.subtract_column(j, delta, r);
    const double back = delta * first_[j] / top_;
    for (std::size_t k = 0; k < first_.size(); ++k) r[k] += back * first_[k];
  }
  // The step of coordinate 0 to its optimum from the slope r0: of r too, where it is given.
  double step(double r0, double* r) const noexcept {
    const double delta = r0 / top_;
    if (r != nullptr)
      for (std::size_t k = 0; k < first_.size(); ++k) r[k] -= delta * first_[k];
    return delta;
  }
  double first(std::size_t j) const noexcept { return first_[j]; }

 private:
  static constexpr double kRounding = 1e-12;
  const Matrix& whole_;
  std::vector<double> first_;
  double top_ = 0;
};

}  // namespace riata
