// The kernels of kernels.hpp.
#include "riata/portfolio/kernels.hpp"
#include "riata/simd/cells.hpp"
#include "riata/simd/exp.hpp"

namespace riata::RIATA_TARGET {
namespace {

// Values.

void views(Views& v) noexcept {
  const std::int64_t first = v.intercept_first ? 1 : 0;
  if (v.intercept_first) v.raw[0] = v.rms[0] = v.unit[0] = v.unit_rms[0] = 1;
  Eight squares = eight(0.0), scaled_squares = eight(0.0);
  for (std::int64_t i = first; i < v.rows; i += 8) {
    const int have = v.rows - i < 8 ? static_cast<int>(v.rows - i) : 8;
    double zeros[2] = {};  // what is behind the last row
    const auto row = [&](int k) { return k < have ? v.state[i + k] : zeros; };
    Eight count, total;
    load_rows(row, count, total);
    const Eight x = eight(v.raw + i), square = x * x;
    count = count + select(x != 0, eight(1.0), eight(0.0));
    total = total + square;
    const Eight rms = select(total > 0, x / sqrt(total / max(count, eight(1.0))), eight(0.0));
    store(v.rms + i, rms);
    squares = squares + square;
    scaled_squares = scaled_squares + rms * rms;
    if (v.learn) store_rows(row, count, total);
  }
  v.lengths[0] = __builtin_sqrt(sum(squares));
  v.lengths[1] = __builtin_sqrt(sum(scaled_squares));
  const double raw = v.lengths[0] > 0 ? 1 / v.lengths[0] : 0, rms = v.lengths[1] > 0 ? 1 / v.lengths[1] : 0;
  for (std::int64_t i = first; i < v.rows; i += 8) {
    store(v.unit + i, eight(v.raw + i) * raw);
    store(v.unit_rms + i, eight(v.rms + i) * rms);
  }
}

// The implicit step.

RIATA_INLINE Eight exp_of_minus_size(const Eight& m) noexcept {
  return exp_of_minus(min(abs(m), eight(kExpLimit)));
}

// 1 / (1 + exp(m)): the slope of log(1 + exp(-m)), without its sign.
RIATA_INLINE Eight slope(const Eight& m) noexcept {
  const Eight t = exp_of_minus_size(m);
  return select(m > 0, t, eight(1.0)) / (1 + t);
}

// The slope after the step: m = margin + d with d = strength slope(m). In q = ln(d) that is
//
//   q + ln(1 + exp(margin + exp(q))) = ln(strength),
//
// whose left side rises and is convex: Newton's steps come down to the solution from any start above it. Above it
// are the explicit step, and for d >= 1, as ln(1 + exp(m)) > m, ln(strength) - margin. Every column stops by itself,
// so that its bits do not depend on its neighbours.
RIATA_INLINE Eight implicit_slope(const Eight& margin, const Eight& explicit_slope,
                                  const Eight& strength) noexcept {
  const Eight wanted = log_of_normal(strength);
  Eight d = max(min(strength * explicit_slope, max(wanted - margin, eight(1.0))), eight(1e-300));
  Eight q = log_of_normal(d), active = eight(1.0);
  for (int n = 0; n < 100; ++n) {
    const Eight m = margin + d, t = exp_of_minus_size(m);
    const Eight value = q + (max(m, eight(0.0)) + log_of_one_and(t)) - wanted;
    const Eight change = value / (1 + d * (select(m > 0, eight(1.0), t) / (1 + t)));
    const Eight step = max(min(change, eight(kExpLimit)), eight(-kExpLimit));
    q = select(active > 0, q - step, q);
    d = select(active > 0, d * exp_of_minus(step), d);
    active = select(abs(step) > 1e-8, active, eight(0.0));
    if (not_below(active, 0.5) == 0) break;
  }
  return slope(margin + d);
}

inline constexpr double kLargestStrength = 1e300, kSmallestStrength = 1e-300;

RIATA_INLINE Eight bounded(const Eight& strength) noexcept {
  return max(min(strength, eight(kLargestStrength)), eight(kSmallestStrength));
}

// x / sqrt(sum of squares), nothing where that is zero.
RIATA_INLINE Eight ratio_of(const Eight& x, const Eight& squares) noexcept {
  return select(squares > 0, x / sqrt(squares), eight(0.0));
}

// One column: eight rows at a time.

void gather_one(const AdaGradRows& m) noexcept {
  Eight score = eight(0.0);
  for (std::int64_t from = 0; from < m.rows; from += 8) {
    Eight weights, squares;
    load_rows([&](int k) { return m.state[from + k]; }, weights, squares);
    score = score + eight(m.x + from) * weights;
  }
  m.scores[0] = sum(score);
}

void step_one(const AdaGradRows& m) noexcept {
  const Eight margin = eight(m.y[0] * m.scores[0]), before = slope(margin), g = m.weight * before;
  Eight along = eight(0.0);
  for (std::int64_t from = 0; from < m.rows; from += 8) {
    const Eight x = eight(m.x + from), gx = g * x;
    double squares[8];
    store(squares, gx * gx);
    for (int k = 0; k < 8; ++k)  // one after the other: a row may stand there twice
      squares[k] = from + k < m.rows ? m.state[from + k][1] += squares[k] : 0;
    const Eight ratio = ratio_of(x, eight(squares));
    store(m.ratios + from, ratio);
    along = along + x * ratio;
  }
  const Eight strength = bounded(eight(m.weight * m.rates[0]) * sum(along));
  double slopes[8];
  store(slopes, implicit_slope(margin, before, strength));
  const double by = m.y[0] * (m.weight * m.rates[0]) * slopes[0];
  for (std::int64_t i = 0; i < m.rows; ++i) m.state[i][0] += by * m.ratios[i];
}

// More columns, eight cells at a time.

template <class Cells>
RIATA_INLINE void gather_cells(const AdaGradRows& m, const Cells& cells) noexcept {
  Eight scores[8 / Cells::kRows];
  for (Eight& each : scores) each = eight(0.0);
  each_row<Cells>(m.rows, [&](std::int64_t i, int j) {
    scores[j] = scores[j] + cells.value(m.x, i) * cells.of_rows(m.state, i, 0);
  });
  cells.put_columns(m.scores, cells.total(scores));
}

template <class Cells>
RIATA_INLINE void step_cells(const AdaGradRows& m, const Cells& cells) noexcept {
  const int k = m.columns;
  const Eight y = cells.of_columns(m.y, 1), rate = m.weight * cells.of_columns(m.rates, 1);
  const Eight margin = y * cells.of_columns(m.scores), before = slope(margin), g = m.weight * before;
  Eight along[8 / Cells::kRows];
  for (Eight& each : along) each = eight(0.0);
  each_row<Cells>(m.rows, [&](std::int64_t i, int j) {
    const Eight x = as_eight(cells.value(m.x, i)), gx = g * x;
    const Eight ratio = ratio_of(x, cells.add_to_rows(m.state, i, k, gx * gx));
    store(m.ratios + 8 * i, ratio);
    along[j] = along[j] + x * ratio;
  });
  const Eight strength = bounded(rate * cells.total(along));
  const Eight by = y * rate * implicit_slope(margin, before, strength);
  for (std::int64_t i = 0; i < m.rows; i += Cells::kRows)
    cells.add_to_rows(m.state, i, 0, by * eight(m.ratios + 8 * i));
}

template <class Visit>
RIATA_INLINE void each_cells(const AdaGradRows& m, Visit visit) noexcept {
  for (int first = 0; first < m.columns; first += 8)
    visit_cells({first, m.columns - first < 8 ? m.columns - first : 8}, m.rows, visit);
}

void gather(const AdaGradRows& given) noexcept {
  const AdaGradRows m = given;  // a copy that nothing stored can change
  if (m.columns == 1) return gather_one(m);
  each_cells(m, [&](const auto& cells) { gather_cells(m, cells); });
}
void step(const AdaGradRows& given) noexcept {
  const AdaGradRows m = given;
  if (m.columns == 1) return step_one(m);
  each_cells(m, [&](const auto& cells) { step_cells(m, cells); });
}

// Averaging.

void average(int n, const double* scores, const double* weights, double* sums) noexcept {
  sums[0] = sums[1] = 0;
  for (int i = 0; i < n; i += 8) {
    const int have = n - i < 8 ? n - i : 8;
    const Eight z = load_first(scores + i, have, 0), t = exp_of_minus_size(z);
    const Eight likely = load_first(weights + i, have, 0) / (1 + t), unlikely = likely * t;
    sums[0] += sum(select(z > 0, likely, unlikely));
    sums[1] += sum(select(z > 0, unlikely, likely));
  }
}

inline constexpr double kSmallestRest = 1e-16;  // rounding may leave nothing of it

void losses(int n, const double* scores, double y, double* out) noexcept {
  for (int i = 0; i < n; i += 8) {
    const int have = n - i < 8 ? n - i : 8;
    const Eight m = y * load_first(scores + i, have, 0);
    store_first(out + i, have, max(0 - m, eight(0.0)) + log_of_one_and(exp_of_minus_size(m)));
  }
}

// With p the average's chance of the label and r = p_c / p: without c, that would be p (1 - w r) / (1 - w).
void credit(int n, const double* losses_, const double* weights, double average_, double weight,
            double* worth) noexcept {
  for (int i = 0; i < n; i += 8) {
    const int have = n - i < 8 ? n - i : 8;
    const Eight w = load_first(weights + i, have, 0), behind = load_first(losses_ + i, have, 0) - average_;
    const Eight r = exp_of_minus(max(min(behind, eight(kExpLimit)), eight(-kExpLimit)));
    const Eight others = max(1 - w, eight(kSmallestRest)), rest = max(1 - w * r, eight(kSmallestRest));
    const Eight more = log_of_normal(others) - log_of_normal(rest);
    store_first(worth + i, have, load_first(worth + i, have, 0) + weight * more);
  }
}

double reweigh(int n, const double* losses_, double best, double weight, double* weights) noexcept {
  double total = 0;
  for (int i = 0; i < n; i += 8) {
    const int have = n - i < 8 ? n - i : 8;
    const Eight behind = weight * (load_first(losses_ + i, have, best) - best);
    const Eight now = load_first(weights + i, have, 0) * exp_of_minus(min(behind, eight(kExpLimit)));
    store_first(weights + i, have, now);
    total += sum(now);
  }
  return total;
}

}  // namespace

const PortfolioKernels portfolio_kernels{views, gather, step, average, losses, credit, reweigh};

}  // namespace riata::RIATA_TARGET
