// Workspace for one example of a Bayesian model: its rows side by side.
#pragma once

#include <cstdint>
#include <new>
#include <vector>

namespace riata {

// What the kernels may read, and write nothing of, behind the last row.
inline constexpr std::size_t kSlack = 32, kSlackRows = 4;

// Whole cache lines: eight doubles never lie in two.
template <class T>
struct OnLines {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  OnLines() = default;
  template <class U>
  explicit OnLines(const OnLines<U>&) noexcept {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* p, std::size_t) noexcept { ::operator delete(p, kLine); }
  bool operator==(const OnLines&) const noexcept { return true; }
};
using Doubles = std::vector<double, OnLines<double>>;

struct Workspace {
  std::int64_t room = 0;
  std::vector<double*> rows;
  std::vector<const double*> next;  // rows of the next example
  std::int64_t next_rows = 0;
  std::vector<double*> guessed;       // in a table: where those most likely are
  std::vector<std::uint32_t> others;  // numbers of rows that were not where they were looked for
  Doubles x;                          // rows x views
  Doubles variances, moves, gains;    // rows x columns
  Doubles means, spreads, y;          // columns
  Doubles copies;                     // rows as score() wants them, where they are not stored so

  explicit Workspace(int columns) {
    const auto k = static_cast<std::size_t>(columns);
    means.resize(k);
    spreads.resize(k);
    y.resize(k);
  }
  // An offset is a feature of a known weight: it moves every column's mean, and adds no doubt.
  void shift(double offset) noexcept {
    if (offset == 0) return;
    for (double& mean : means) mean += offset;
  }
  bool make(std::int64_t count, int columns, int views, int copy_width) noexcept {
    const auto k = static_cast<std::size_t>(columns), v = static_cast<std::size_t>(views);
    if (count <= room) return true;
    const auto n = 2 * static_cast<std::size_t>(count);
    try {
      x.resize((n + kSlackRows) * v + kSlack);
      variances.assign((n + kSlackRows) * k + kSlack, 1.0);
      moves.resize(n * k);
      gains.resize(n * k);
      copies.resize(n * static_cast<std::size_t>(copy_width));
      rows.resize(n + kSlack);
      next.resize(n);
      guessed.resize(n);
      others.resize(n);
    } catch (const std::bad_alloc&) {
      return false;
    }
    room = 2 * count;
    return true;
  }
};

}  // namespace riata
