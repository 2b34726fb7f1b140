// The update of taylor.hpp.
//
// What stands between the state and its update is a chain of some sixty operations, each waiting for the one
// before. So it is cut into links, and each link goes over a chunk of rows before the next begins: there is
// always a neighbour to work on.
#include "riata/bayesian/average.hpp"
#include "riata/bayesian/curves.hpp"
#include "riata/bayesian/taylor.hpp"
#include "riata/simd/cells.hpp"

namespace riata::RIATA_TARGET {
namespace {

inline constexpr int kManyRows = 32;  // from here curves pay
inline constexpr int kCells = 128;    // of a chunk
inline constexpr int kAhead = 16;  // so many cells further roots are taken while exponentials are worked out

struct Chunk {
  alignas(64) double roots[kCells + kAhead], exps[kCells], margins[kCells], powers[kCells], moves[kCells],
      gains[kCells];
};

// 1 / sqrt(1 + pi/8 s^2), s^2 the variance of all the other features.
RIATA_INLINE void shrink(const Example& e, const Eight& x, const double* variance, double* out) noexcept {
  const Eight others = e.spread - x * (x * eight(variance));
  store(out, 1 / sqrt(1 + kEighthOfPi * max(others, eight(0.0))));
}
// Eq. 17 in terms of the margin z: it moves by b slope / (1 + b curvature), where with t = exp(-|z|)
// curvature is t / (1 + t)^2, and slope t / (1 + t), or 1 / (1 + t) for z < 0.
RIATA_INLINE void move(const Example& e, const Eight& x, const double* variance, Chunk& c, int at) noexcept {
  const Eight v = eight(variance), r = eight(c.roots + at), t = eight(c.exps + at);
  const Eight xr = x * r, power = e.weight * (xr * xr), b = power * v, u = 1 + t;
  const Eight s = select(e.margin > 0, t, eight(1.0)) * u / (u * u + b * t);
  store(c.powers + at, power);
  store(c.moves + at, e.pull * (xr * v) * s);
  store(c.margins + at, e.margin * r + b * s);
}

// Eq. 19: the curvature there.
RIATA_INLINE Eight gain(const Chunk& c, int at) noexcept {
  const Eight t = exp_of_minus_size(eight(c.margins + at)), u = 1 + t;
  return eight(c.powers + at) * t / (u * u);
}

// All links but the last. x(i) is eight values, variance(i) where the variances are, at cell i of the chunk.
template <class X, class Variance>
RIATA_INLINE void moves(const Example& e, int cells, Chunk& c, X x, Variance variance) noexcept {
  for (int i = 0; i < kAhead; i += 8) shrink(e, x(i), variance(i), c.roots + i);
  for (int i = 0; i < cells; i += 8) {
    shrink(e, x(i + kAhead), variance(i + kAhead), c.roots + i + kAhead);
    store(c.exps + i, exp_of_minus_size(e.margin * eight(c.roots + i)));
  }
  for (int i = 0; i < cells; i += 8) move(e, x(i), variance(i), c, i);
}

RIATA_INLINE int part(std::int64_t left, int most) noexcept {
  return static_cast<int>(left < most ? left : most);
}

// Fetches the next example's rows little by little, while this one is worked on: all at once, they would
// stand in its way.
class Fetching {
 public:
  RIATA_INLINE explicit Fetching(const Taylor& m) noexcept
      : at_(m.next),
        end_(m.next + m.next_rows),
        each_(m.rows > 0 ? m.next_rows / m.rows + 1 : 0),
        doubles_(2 * m.columns) {}
  RIATA_INLINE void some(int rows) noexcept {  // while so many are worked on
    const double* const* stop = end_ - at_ < rows * each_ ? end_ : at_ + rows * each_;
    for (; at_ < stop; ++at_)
      for (int j = 0; j < doubles_; j += 8) __builtin_prefetch(*at_ + j);
  }

 private:
  const double *const *at_, *const *end_;
  std::int64_t each_;
  int doubles_;
};

// One column: eight rows at a time.

RIATA_INLINE void gather_one(const Taylor& m) noexcept {
  Eight mean = eight(0.0), spread = eight(0.0);
  alignas(64) double first[8];
  for (double& p : first) p = m.precisions[0];
  if (m.intercept_first) first[0] = m.intercept_precisions[0];
  Eight prior = eight(first);
  for (std::int64_t from = 0; from < m.rows; from += 8) {
    Eight means, gains;
    load_rows([&](int k) { return m.state[from + k]; }, means, gains);
    const Eight x = eight(m.x + from), variance = 1 / (prior + gains);
    store(m.variances + from, variance);
    mean = mean + x * (m.mean + means);
    spread = spread + x * (x * variance);
    prior = eight(m.precisions[0]);
  }
  m.means[0] = sum(mean);
  m.spreads[0] = sum(spread);
}

// The rows of a chunk one by one, by the chain of links: moves and gains.
template <class X, class Variance>
RIATA_INLINE void steps(const Example& e, int rows, Chunk& c, X x, Variance variance) noexcept {
  moves(e, rows, c, x, variance);
  for (int i = 0; i < rows; i += 8) store(c.gains + i, gain(c, i));
}

template <int kSide>
struct Side {
  constexpr int operator()() const noexcept { return kSide; }
};

// The same by curves, and by links for those few that are above their end.
RIATA_INLINE void curve(const Example& e, const Curves& curves, int rows, const double* x, const double* v,
                        Fetching& fetching, Chunk& c) noexcept {
  int large[kCells], count = 0;
  const auto some = [&](int i, auto side) {
    fetching.some(8 * side());
    Curved<side(), Eight> at;
    Eight move[side()], gain[side()];
    for (int n = 0; n < side(); ++n) at.take(curves, n, eight(x + i + 8 * n), eight(v + i + 8 * n));
    at.follow(curves, move, gain);
    for (int n = 0; n < side(); ++n) {
      store(c.moves + i + 8 * n, move[n]);
      store(c.gains + i + 8 * n, gain[n]);
      for (unsigned over = not_below(at.u[n], 1.0); over != 0; over &= over - 1)
        large[count++] = i + 8 * n + __builtin_ctz(over);
    }
  };
  int i = 0;
  for (; i + 16 < rows; i += 24) some(i, Side<3>());
  for (; i < rows; i += 8) some(i, Side<1>());
  if (count == 0) return;
  Chunk d;
  alignas(64) double xs[kCells + kAhead], vs[kCells + kAhead];
  for (int i = 0; i < count; ++i) {
    xs[i] = x[large[i]];
    vs[i] = v[large[i]];
  }
  for (int i = count; i < (count + 7) / 8 * 8 + kAhead; ++i) {
    xs[i] = 0;
    vs[i] = 1;
  }
  steps(e, count, d, [&](int i) { return eight(xs + i); }, [&](int i) { return vs + i; });
  for (int i = 0; i < count; ++i) {
    c.moves[large[i]] = d.moves[i];
    c.gains[large[i]] = d.gains[i];
  }
}

RIATA_INLINE void step_one(const Taylor& m) noexcept {
  Chunk c;
  const Example e{eight(m.spreads[0]), eight(m.y[0] * m.means[0]), eight(m.y[0] * m.weight), m.weight};
  const Double2 high{kLargestMean, kLargestPrecision}, low{-kLargestMean, 0};
  const bool curved = m.rows >= kManyRows && m.weight <= kLargestCurved;
  Curves curves;
  if (curved) curves = curves_of_one(e);
  Fetching fetching(m);
  if (!curved) fetching.some(static_cast<int>(m.rows));
  for (std::int64_t from = 0; from < m.rows; from += kCells) {
    const int rows = part(m.rows - from, kCells);
    const double *x = m.x + from, *v = m.variances + from;
    if (curved)
      curve(e, curves, rows, x, v, fetching, c);
    else
      steps(e, rows, c, [&](int i) { return eight(x + i); }, [&](int i) { return v + i; });
    for (int i = 0; i < rows; ++i) {
      double* row = m.state[from + i];
      Double2 p;
      std::memcpy(&p, row, sizeof p);
      p += Double2{c.moves[i], c.gains[i]};
      p = max(min(p, high), low);
      std::memcpy(row, &p, sizeof p);
    }
  }
}

// Columns eight cells at a time, which all see the same value of a feature.

struct Viewed {
  const Taylor& m;
  int view;
  RIATA_INLINE auto x(const auto& cells, std::int64_t i) const noexcept {
    return cells.value(m.x + view, i, m.views);
  }
  RIATA_INLINE Eight variances(const auto& cells, std::int64_t i, double rest) const noexcept {
    return cells.of_matrix(m.variances, i, m.columns, rest);
  }
};

template <class Cells>
RIATA_INLINE void gather_cells(const Viewed& v, const Cells& cells) noexcept {
  constexpr int kSums = 8 / Cells::kRows;
  const Taylor& m = v.m;
  Eight means[kSums], spreads[kSums];  // as one column would add them up
  for (int j = 0; j < kSums; ++j) means[j] = spreads[j] = eight(0.0);
  const Eight common = cells.of_columns(m.precisions, 1);
  const auto take = [&](std::int64_t i, int j, const Eight& prior) {
    const auto x = v.x(cells, i);
    const Eight variance = 1 / (prior + cells.of_rows(m.state, i, m.columns));
    cells.put_matrix(m.variances, i, m.columns, variance);
    means[j] = means[j] + x * (m.mean + cells.of_rows(m.state, i, 0));
    spreads[j] = spreads[j] + x * (x * variance);
  };
  std::int64_t i = 0;
  if (m.rows > 0 && m.intercept_first) {
    take(0, 0, cells.first_and_others(cells.of_columns(m.intercept_precisions, 1), common));
    for (int j = 1; j < kSums && j * Cells::kRows < m.rows; ++j) take(j * Cells::kRows, j, common);
    i = 8;
  }
  for (; i + 8 <= m.rows; i += 8)
    for (int j = 0; j < kSums; ++j) take(i + j * Cells::kRows, j, common);
  for (int j = 0; i < m.rows; i += Cells::kRows) take(i, j++, common);
  cells.put_columns(m.means, cells.total(means));
  cells.put_columns(m.spreads, cells.total(spreads));
}

template <bool kWhole, class V>
RIATA_INLINE void absorb(const Columns& c, double* row, std::int64_t k, const V& move,
                         const V& gain) noexcept {
  const V mean = get<kWhole, V>(c, row) + move, precision = get<kWhole, V>(c, row + k) + gain;
  put<kWhole>(c, row, max(min(mean, all<V>(kLargestMean)), all<V>(-kLargestMean)));
  put<kWhole>(c, row + k, max(min(precision, all<V>(kLargestPrecision)), all<V>(0.0)));
}

// The same for what curves give, without bounds: there x^2 v is below 0.16 (1 + pi/8 sigma_t^2), so that no
// mean moves by more than half its standard deviation, and no precision gains more than the square of a
// float. No number of examples comes near the bounds. Both are read before either is written: a processor that has just
// stored some numbers of a vector lets a read wait that begins inside the whole vector.
template <bool kWhole, class V>
RIATA_INLINE void learn_within(const Columns& c, double* row, std::int64_t k, const V& move,
                               const V& gain) noexcept {
  const V mean = get<kWhole, V>(c, row) + move, precision = get<kWhole, V>(c, row + k) + gain;
  put<kWhole>(c, row, mean);
  put<kWhole>(c, row + k, max(precision, all<V>(0.0)));
}

// Up to kCells / 8 times eight cells, by links; row(i) is the number of their first row. update(row, move, gain).
template <class Cells, class Row, class Update>
RIATA_INLINE void steps_cells(const Viewed& v, const Cells& cells, const Example& e, int count, Row row,
                              Update update) noexcept {
  constexpr bool kInPlace = Cells::kAll && Cells::kRows == 1;
  const Taylor& m = v.m;
  Chunk chunk;
  alignas(64) double variances[kInPlace ? 8 : kCells + kAhead];
  if (!kInPlace)
    for (int i = 0; i < count + kAhead / 8; ++i)
      store(variances + 8 * i, v.variances(cells, row(i < count ? i : 0), 1));
  moves(
      e, 8 * count, chunk, [&](int i) { return as_eight(v.x(cells, row(i / 8))); },
      [&](int i) { return kInPlace ? m.variances + row(i / 8) * m.columns + cells.first : variances + i; });
  for (int i = 0; i < count; ++i) update(row(i), eight(chunk.moves + 8 * i), gain(chunk, 8 * i));
}

template <class Cells>
RIATA_INLINE void absorb_cells(const Taylor& m, const Cells& cells, std::int64_t i, const Eight& move,
                               const Eight& gain) noexcept {
  cells.each(i, move, gain, [&](std::int64_t row, const auto& its_move, const auto& its_gain) {
    absorb<Cells::kAll>(cells, m.state[row], m.columns, its_move, its_gain);
  });
}

// Rows that are beyond the curves in some columns: there by links, in the others as everyone.
template <class Cells>
RIATA_INLINE void large_cells(const Viewed& v, const Cells& cells, const Example& e, const Curves& curves,
                              const std::int64_t* large, int count) noexcept {
  steps_cells(
      v, cells, e, count, [&](int i) { return large[i]; },
      [&](std::int64_t i, const Eight& move, const Eight& gain) {
        Curved<1, decltype(v.x(cells, i))> at;
        at.take(curves, 0, v.x(cells, i), v.variances(cells, i, 0));
        Eight curved_move[1], curved_gain[1];
        at.follow(curves, curved_move, curved_gain);
        const Eight within = 1 - at.u[0];
        absorb_cells(v.m, cells, i, select(within > 0, curved_move[0], move),
                     select(within > 0, curved_gain[0], gain));
      });
}

// Rows that wait. One of features that share it may stand in an example twice: as its parts are added up in their order,
// what comes behind a part that waits must wait, too. By a bit each, so that now and then one waits for nothing.
class Waiting {
 public:
  RIATA_INLINE void add(const double* row) noexcept { bits_ |= bit(row); }
  RIATA_INLINE bool may_have(const double* row) const noexcept { return (bits_ & bit(row)) != 0; }

 private:
  RIATA_INLINE static std::uint64_t bit(const double* row) noexcept {
    return std::uint64_t{1} << (reinterpret_cast<std::uintptr_t>(row) * 0x9E3779B97F4A7C15 >> 58);
  }
  std::uint64_t bits_ = 0;
};

template <class Cells>
RIATA_INLINE void curve_cells(const Viewed& v, const Cells& cells, const Example& e,
                              Fetching& fetching) noexcept {
  constexpr int kMost = kCells / 8, kBlock = 8 * kMost, kRows = Cells::kRows;
  const Taylor& m = v.m;
  const OneRow<Cells::kAll && kRows == 1> one(cells, m.rows);
  const Curves curves = curves_of_columns(e);
  std::int64_t large[kBlock + kAhead / 8];
  for (std::int64_t from = 0; from < m.rows; from += kBlock) {
    const std::int64_t end = from + part(m.rows - from, kBlock);
    int count = 0;
    Waiting waiting;
    const auto some = [&](std::int64_t first, auto side) {
      fetching.some(side() * kRows);
      Curved<side(), decltype(v.x(cells, first))> at;
      Eight move[side()], gain[side()];
      for (int n = 0; n < side(); ++n)
        at.take(curves, n, v.x(cells, first + n * kRows), v.variances(cells, first + n * kRows, 0));
      at.follow(curves, move, gain);
      for (int n = 0; n < side(); ++n) {
        const std::int64_t i = first + n * kRows;
        const unsigned over = not_below(at.u[n], 1.0);
        cells.each(i, move[n], gain[n], [&](std::int64_t row, const auto& its_move, const auto& its_gain) {
          if (cells.of_row(over, row - i) == 0 && (count == 0 || !waiting.may_have(m.state[row])))
              [[likely]] {
            learn_within<Cells::kAll>(cells, m.state[row], m.columns, its_move, its_gain);
          } else {
            large[count++] = row;
            waiting.add(m.state[row]);
          }
        });
      }
    };
    std::int64_t i = from;
    for (; i + 3 * kRows <= end; i += 3 * kRows) some(i, Side<3>());
    for (; i < end; i += kRows) some(i, Side<1>());
    for (int k = count; k < count + kAhead / 8; ++k) large[k] = 0;  // looked at, not used
    for (int k = 0; k < count; k += kMost) large_cells(v, one, e, curves, large + k, part(count - k, kMost));
  }
}

template <class Cells>
RIATA_INLINE void step_cells(const Viewed& v, const Cells& cells, Fetching& fetching) noexcept {
  constexpr int kMost = kCells / 8, kRows = Cells::kRows;
  const Taylor& m = v.m;
  const Eight y = cells.of_columns(m.y);
  const Example e{cells.of_columns(m.spreads), y * cells.of_columns(m.means), y * m.weight, m.weight};
  if (m.rows >= kManyRows && m.weight <= kLargestCurved) return curve_cells(v, cells, e, fetching);
  fetching.some(static_cast<int>(m.rows));
  for (std::int64_t from = 0; from < m.rows; from += kMost * kRows)
    steps_cells(
        v, cells, e, part((m.rows - from + kRows - 1) / kRows, kMost),
        [&](int i) { return from + i * kRows; },
        [&](std::int64_t i, const Eight& move, const Eight& gain) { absorb_cells(m, cells, i, move, gain); });
}

template <class Visit>
RIATA_INLINE void each_cells(const Taylor& m, Visit visit) noexcept {
  const int width = m.columns / m.views;
  for (int view = 0; view < m.views; ++view)
    for (int first = 0; first < width; first += 8)
      visit_cells({view * width + first, width - first < 8 ? width - first : 8}, m.rows,
                  [&](const auto& cells) { visit(Viewed{m, view}, cells); });
}

void gather(const Taylor& given) noexcept {
  const Taylor m = given;  // a copy that nothing stored can change
  if (m.columns == 1) return gather_one(m);
  each_cells(m, [](const Viewed& v, const auto& cells) { gather_cells(v, cells); });
}
void step(const Taylor& given) noexcept {
  const Taylor m = given;
  if (m.columns == 1) return step_one(m);
  Fetching fetching(m);
  each_cells(m, [&](const Viewed& v, const auto& cells) { step_cells(v, cells, fetching); });
}

}  // namespace

const TaylorKernels taylor_kernels{places, lay_out, gather, step, average, credit};

}  // namespace riata::RIATA_TARGET
