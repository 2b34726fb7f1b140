// The kernels of kernels.hpp.
#include "riata/bank/kernels.hpp"
#include "riata/simd/columns.hpp"
#include "riata/simd/exp.hpp"

namespace riata::RIATA_TARGET {
namespace {

template <DecayKind kind, class T>
RIATA_INLINE T current_of(const T& now, const T& theta, const T& v, const T& mark) noexcept {
  if constexpr (kind == DecayKind::shrink)
    return shrink(v, now - mark);
  else if constexpr (kind == DecayKind::truncate)
    return select(abs(v) <= theta, shrink(v, now - mark), v);
  else
    return select((mark != now) & (abs(v) <= theta), all<T>(0), v);
}

// work(c) for eight columns, four or one at a time.
template <class Work>
RIATA_INLINE void columns(int width, Work work) noexcept {
  int c = 0;
  for (; c + 8 <= width; c += 8) work(c, Eight{});
  for (; c + 4 <= width; c += 4) work(c, Four{});
  for (; c < width; ++c) work(c, 0.0);
}

RIATA_INLINE void fetch(const double* row, int width) noexcept {
  for (int c = 0; c < width; c += 8) __builtin_prefetch(row + c);
}

constexpr std::int64_t kAhead = 4;

template <DecayKind kind>
void gather(const BankColumns& given, double* const* rows, const float* const* x, std::int64_t n,
            double* sums, double* current) noexcept {
  const BankColumns by = given;
  const int all_columns = by.groups * by.width;
  for (std::int64_t k = 0; k < n; ++k) {
    // A row first, and when it has come what it speaks of.
    if (k + 2 * kAhead < n) fetch(rows[k + 2 * kAhead], all_columns + by.groups);
    if (k + kAhead < n) {
      const double* const places = rows[k + kAhead] + all_columns;
      for (int g = 0; g < by.groups; ++g)
        fetch(by.history[g] + static_cast<std::int64_t>(places[g]) * by.width, by.width);
    }
    const double* const row = rows[k];
    for (int g = 0; g < by.groups; ++g) {
      const double value = static_cast<double>(x[g][k]);
      const int first = g * by.width;
      const double* const marks = by.history[g] + static_cast<std::int64_t>(row[all_columns + g]) * by.width;
      double* const sum = sums + k % 4 * all_columns + first;
      double* const kept = current + k * all_columns + first;
      columns(by.width, [&]<class T>(int c, const T&) {
        const T v = current_of<kind>(loaded<T>(by.now + first + c), loaded<T>(by.theta + first + c),
                                     loaded<T>(row + first + c), loaded<T>(marks + c));
        store(kept + c, v);
        store(sum + c, loaded<T>(sum + c) + v * value);
      });
    }
  }
}

// For each row and group that learns: beside(k, row, g) is what weight(c, row, beside) makes current weights with, column by
// column; they move by -gradient * x from there.
template <class Beside, class Weight>
RIATA_INLINE void push_from(const BankColumns& by, double* const* rows, const float* const* x, std::int64_t n,
                            const double* gradient, const std::uint8_t* learns, const double* marks,
                            const Beside& beside, const Weight& weight) noexcept {
  const int all_columns = by.groups * by.width;
  for (std::int64_t k = 0; k < n; ++k) {
    double* const row = rows[k];
    for (int g = 0; g < by.groups; ++g) {
      if (learns[g] == 0) continue;
      const double value = static_cast<double>(x[g][k]);
      const int first = g * by.width;
      const double* const with = beside(k, row, g);
      columns(by.width, [&]<class T>(int c, const T& kind) {
        store(row + first + c,
              weight(kind, first + c, row, with + c) - loaded<T>(gradient + first + c) * value);
      });
      row[all_columns + g] = marks[g];
    }
  }
}

void push(const BankColumns& given, double* const* rows, const float* const* x, std::int64_t n,
          const double* gradient, const double* current, const std::uint8_t* learns,
          const double* marks) noexcept {
  const BankColumns by = given;
  const int all_columns = by.groups * by.width;
  push_from(
      by, rows, x, n, gradient, learns, marks,
      [&](std::int64_t k, const double*, int g) { return current + k * all_columns + g * by.width; },
      []<class T>(const T&, int, const double*, const double* kept) { return loaded<T>(kept); });
}

template <DecayKind kind>
void push_anew(const BankColumns& given, double* const* rows, const float* const* x, std::int64_t n,
               const double* gradient, const std::uint8_t* learns, const double* marks) noexcept {
  const BankColumns by = given;
  const int all_columns = by.groups * by.width;
  push_from(
      by, rows, x, n, gradient, learns, marks,
      [&](std::int64_t, const double* row, int g) {
        return by.history[g] + static_cast<std::int64_t>(row[all_columns + g]) * by.width;
      },
      [&]<class T>(const T&, int c, const double* row, const double* before) {
        return current_of<kind>(loaded<T>(by.now + c), loaded<T>(by.theta + c), loaded<T>(row + c),
                                loaded<T>(before));
      });
}

// As Logistic::slope has it.
bool log_loss(const LogLossColumns& given) noexcept {
  const LogLossColumns m = given;
  unsigned unusual = 0;
  for (int c = 0; c < m.n; c += 8) {
    const int have = m.n - c < 8 ? m.n - c : 8;
    const Eight scale = load_first(m.scales + c, have, 1), dot = load_first(m.dot + c, have, 0);
    Eight p = scale * m.factor * dot + load_first(m.intercept + c, have, 0) + m.offset;
    p = select(p < m.low, eight(m.low), p);
    p = select(p > m.high, eight(m.high), p);
    const Eight z = -m.y * p, e = exp_of_minus(min(abs(z), eight(708.0)));
    const Eight slope = m.weight * (-m.y * (select(z < 0, e, eight(1.0)) / (1 + e)));
    store_first(m.scores + c, have, p);
    store_first(m.slopes + c, have, slope);
    const Eight size = abs(slope);
    const auto usual = (abs(p) <= kLargestBankScore) & (size <= kLargestBankScore) & (size > 0);
    unusual |= not_below(select(usual, eight(0.0), eight(1.0)), 0.5);
  }
  return unusual == 0;
}

template <DecayKind kind>
constexpr BankKernels kernels_of() noexcept {
  return {gather<kind>, push, push_anew<kind>};
}

}  // namespace

constinit const AllBankKernels bank_kernels{kernels_of<DecayKind::shrink>(),
                                            kernels_of<DecayKind::truncate>(), kernels_of<DecayKind::round>(),
                                            log_loss};

}  // namespace riata::RIATA_TARGET
