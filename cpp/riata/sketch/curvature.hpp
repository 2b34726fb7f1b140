// Symmetric matrices of curvature, H = sum w x x', that rows are added to one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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
    if (!dense_.empty()) {
      if (key >= dense_.size()) dense_.resize(n, 0.0);
      dense_[key] += value;
      return;
    }
    if ((used_ + 1) * 4 > cells_.size() * 3) {
      if (spread(n)) return add(key, value, n);
    }
    Cell& cell = find(key);
    if (cell.key == kEmpty) {
      cell.key = key;
      ++used_;
    }
    cell.value += value;
  }
  template <class Visit>  // visit(key, value); the order is the same for the same history
  void each(Visit visit) const {
    for (std::size_t k = 0; k < dense_.size(); ++k) visit(k, dense_[k]);
    for (const Cell& cell : cells_)
      if (cell.key != kEmpty) visit(static_cast<std::size_t>(cell.key), cell.value);
  }
  double at(std::uint32_t key) const noexcept {
    if (!dense_.empty()) return key < dense_.size() ? dense_[key] : 0;
    if (cells_.empty()) return 0;
    const Cell& cell = const_cast<AdaptiveRow*>(this)->find(key);
    return cell.key == kEmpty ? 0 : cell.value;
  }
  std::size_t bytes() const noexcept {
    return dense_.capacity() * sizeof(double) + cells_.capacity() * sizeof(Cell);
  }

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffffu;
  struct Cell {
    std::uint32_t key = kEmpty;
    double value = 0;
  };

  Cell& find(std::uint32_t key) noexcept {
    const std::size_t mask = cells_.size() - 1;
    std::size_t at = (key * 2654435769u) & mask;
    while (cells_[at].key != key && cells_[at].key != kEmpty) at = (at + 1) & mask;
    return cells_[at];
  }
  // A larger table; or, true, an array of n, where the table would take as much.
  bool spread(std::size_t n) {
    const std::size_t larger = cells_.empty() ? 8 : cells_.size() * 2;
    std::vector<Cell> old(larger);
    if (larger * sizeof(Cell) >= n * sizeof(double)) {
      dense_.assign(n, 0.0);
      for (const Cell& cell : cells_)
        if (cell.key != kEmpty) dense_[cell.key] = cell.value;
      cells_ = {};
      return true;
    }
    old.swap(cells_);
    for (const Cell& cell : old)
      if (cell.key != kEmpty) find(cell.key) = cell;
    return false;
  }

  std::vector<double> dense_;
  std::vector<Cell> cells_;
  std::size_t used_ = 0;
};

// The curvature of all features: rows that are sparse or dense, whichever is smaller. Both halves are kept.
class RowsMatrix {
 public:
  static constexpr bool kOrdered = false;

  void reset(std::size_t n) {
    rows_.clear();
    rows_.resize(n);
    diagonal_.assign(n, 0.0);
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
    for (std::int32_t k = 0; k < count; ++k)
      row.add(static_cast<std::uint32_t>(entries[k].slot), factor * static_cast<double>(entries[k].value),
              size());
  }
  void add(std::size_t j, std::size_t k, double value) {
    if (j == k) diagonal_[j] += value;
    rows_[j].add(static_cast<std::uint32_t>(k), value, size());
  }
  void reopen() noexcept {}
  void complete() noexcept {}
  void subtract_column(std::size_t j, double delta, double* r) const {
    rows_[j].each([&](std::size_t k, double value) { r[k] -= delta * value; });
  }
  const AdaptiveRow& row(std::size_t j) const noexcept { return rows_[j]; }
  std::size_t bytes() const noexcept {
    std::size_t total = diagonal_.capacity() * sizeof(double) + rows_.capacity() * sizeof(AdaptiveRow);
    for (const AdaptiveRow& r : rows_) total += r.bytes();
    return total;
  }

 private:
  std::vector<AdaptiveRow> rows_;
  std::vector<double> diagonal_;
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
