// The solution of a sparse symmetric system (Davis 2006, chapter 4: the factor row by row, along the elimination tree).
//
// It is as fast as its columns are in a good order: those with few entries first.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace riata {

struct UpperHalf {  // of a symmetric matrix, by columns: rows up to the diagonal, which is there
  std::vector<std::size_t> start = {0};
  std::vector<std::int32_t> row;
  std::vector<double> value;

  std::size_t size() const noexcept { return start.size() - 1; }
};

class SparseCholesky {
 public:
  // Where the factor A = L L' has entries. False: in more than `most` places below its diagonal, and there is none.
  bool plan(const UpperHalf& a, std::size_t most) {
    const std::size_t n = a.size();
    make_tree(a);
    seen_.assign(n, kNowhere);
    branch_.resize(n), reached_.resize(n);
    std::vector<std::size_t> counts(n);
    std::size_t entries = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t first = reach(a, k);
      entries += n - first;
      if (entries > most) return false;
      for (std::size_t r = first; r < n; ++r) ++counts[static_cast<std::size_t>(reached_[r])];
    }
    start_.assign(1, 0);
    products_ = 0;
    for (const std::size_t count : counts) {
      start_.push_back(start_.back() + count);
      products_ += 0.5 * static_cast<double>(count) * static_cast<double>(count + 1);
    }
    return true;
  }

  double products() const noexcept { return products_; }  // that the factor costs

  // Of the matrix that was planned for, which is positive semidefinite. A coordinate that depends on those before it, up to
  // rounding, has no place in the factor: it stays at 0, and its equation counts for nothing.
  void factor(const UpperHalf& a) {
    constexpr double kRounding = 1e-11;
    const std::size_t n = a.size();
    row_.resize(start_.back()), value_.resize(start_.back());
    seen_.assign(n, kNowhere);
    diagonal_.assign(n, 0.0);
    std::vector<std::size_t> end(start_.begin(), start_.end() - 1);
    std::vector<double> x(n, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t first = reach(a, k);
      for (std::size_t p = a.start[k]; p < a.start[k + 1]; ++p)
        x[static_cast<std::size_t>(a.row[p])] = a.value[p];
      const double whole = x[k];
      double left = whole;
      x[k] = 0;
      for (std::size_t r = first; r < n; ++r) {
        const auto j = static_cast<std::size_t>(reached_[r]);
        const double entry = diagonal_[j] > 0 ? x[j] / diagonal_[j] : 0;
        x[j] = 0;
        if (entry == 0) continue;
        for (std::size_t p = start_[j]; p < end[j]; ++p)
          x[static_cast<std::size_t>(row_[p])] -= value_[p] * entry;
        left -= entry * entry;
        row_[end[j]] = static_cast<std::int32_t>(k), value_[end[j]++] = entry;
      }
      diagonal_[k] = left > kRounding * whole ? std::sqrt(left) : 0;
    }
    end_ = std::move(end);
  }

  // b becomes the solution.
  void solve(std::vector<double>& b) const noexcept {
    for (std::size_t j = 0; j < b.size(); ++j) {
      b[j] = diagonal_[j] > 0 ? b[j] / diagonal_[j] : 0;
      for (std::size_t p = start_[j]; p < end_[j]; ++p)
        b[static_cast<std::size_t>(row_[p])] -= value_[p] * b[j];
    }
    for (std::size_t j = b.size(); j-- > 0;) {
      for (std::size_t p = start_[j]; p < end_[j]; ++p)
        b[j] -= value_[p] * b[static_cast<std::size_t>(row_[p])];
      b[j] = diagonal_[j] > 0 ? b[j] / diagonal_[j] : 0;
    }
  }

 private:
  static constexpr std::int32_t kNowhere = -1;

  void make_tree(const UpperHalf& a) {
    const std::size_t n = a.size();
    parent_.assign(n, kNowhere);
    std::vector<std::int32_t> ancestor(n, kNowhere);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t p = a.start[k]; p < a.start[k + 1]; ++p)
        for (std::int32_t i = a.row[p]; i != kNowhere && i < static_cast<std::int32_t>(k);) {
          const auto at = static_cast<std::size_t>(i);
          const std::int32_t next = ancestor[at];
          ancestor[at] = static_cast<std::int32_t>(k);
          if (next == kNowhere) parent_[at] = static_cast<std::int32_t>(k);
          i = next;
        }
  }

  // The columns that have an entry in row k of the factor, each before those that it changes: reached_, from the place that
  // is returned.
  std::size_t reach(const UpperHalf& a, std::size_t k) noexcept {
    std::size_t top = a.size();
    const auto mark = static_cast<std::int32_t>(k);
    seen_[k] = mark;
    for (std::size_t p = a.start[k]; p < a.start[k + 1]; ++p) {
      std::size_t length = 0;
      for (std::int32_t i = a.row[p]; i != kNowhere && seen_[static_cast<std::size_t>(i)] != mark;
           i = parent_[static_cast<std::size_t>(i)]) {
        branch_[length++] = i;
        seen_[static_cast<std::size_t>(i)] = mark;
      }
      while (length > 0) reached_[--top] = branch_[--length];
    }
    return top;
  }

  std::vector<std::size_t> start_, end_;  // of the columns of the factor, below the diagonal
  std::vector<std::int32_t> row_;
  std::vector<double> value_, diagonal_;
  std::vector<std::int32_t> parent_, seen_, branch_, reached_;
  double products_ = 0;
};

}  // namespace riata
