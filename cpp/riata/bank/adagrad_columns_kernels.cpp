// The kernels of adagrad_columns.hpp.
#include "riata/bank/adagrad_columns.hpp"
#include "riata/bank/sum_of.hpp"
#include "riata/simd/columns.hpp"
#include "riata/simd/exp.hpp"

namespace riata::RIATA_TARGET {
namespace {

// Of eight columns, what AdaGradPenalty has of one.
struct Penalties {
  Eight l1, l2, gravity, theta;
  double period;
};
template <bool kWhole>
RIATA_INLINE Penalties penalties_of(const AdaGradColumns& by, const Columns& c) noexcept {
  return {get<kWhole>(c, by.l1), get<kWhole>(c, by.l2), get<kWhole>(c, by.gravity), get<kWhole>(c, by.theta),
          by.period};
}

constexpr std::int64_t kAhead = 6;

template <PenaltyKind kind, bool kWhole>
RIATA_INLINE void gather_part(const AdaGradColumns& given, const AdaGradPart& part, const AdaGradEntries& of,
                              double* current, double* dot) noexcept {
  const AdaGradColumns by = given;
  const AdaGradEntries e = of;
  const Columns c{part.at, part.have};
  const Penalties penalty = penalties_of<kWhole>(by, c);
  const Eight rates = get<kWhole>(c, by.rates);
  const Eight sum = sum_of(e.n, [&](std::int64_t k) __attribute__((always_inline)) {
    const double* const later = e.cells[k + kAhead < e.n ? k + kAhead : e.n - 1] + c.first;
    __builtin_prefetch(later);
    __builtin_prefetch(later + by.roots);
    const double* const cells = e.cells[k];
    Eight w = get<kWhole>(c, cells);
    w = adagrad_current<kind, Eight>(penalty, rates, w, get<kWhole>(c, cells + by.roots), eight(e.missed[k]));
    store(current + 8 * k, w);
    return w * static_cast<double>(e.x[k]);
  });
  put<kWhole>(c, dot, sum);
}

template <bool kWhole>
RIATA_INLINE void prepare_part(const AdaGradColumns& given, const AdaGradPart& part, const AdaGradEntries& of,
                               const double* slopes, double factor, double* rates,
                               double* strengths) noexcept {
  const AdaGradColumns by = given;
  const AdaGradEntries e = of;
  const Columns c{part.at, part.have};
  const Eight slope = get<kWhole>(c, slopes), rate_of_one = get<kWhole>(c, by.rates);
  const Eight sum = sum_of(e.n, [&](std::int64_t k) __attribute__((always_inline)) {
    double* const roots = e.cells[k] + by.roots;
    const double value = factor * static_cast<double>(e.x[k]);
    const Eight gradient = slope * value;
    const Eight root = adagrad_root<Eight>(by.first, get<kWhole>(c, roots), gradient);
    const Eight rate = adagrad_rate(rate_of_one, root);
    put<kWhole>(c, roots, root);
    store(rates + 8 * k, rate);
    return select(gradient != 0, value * value * rate, eight(0.0));
  });
  put<kWhole>(c, strengths, get<kWhole>(c, strengths) + sum);
}

template <PenaltyKind kind, bool kWhole>
RIATA_INLINE void push_part(const AdaGradColumns& given, const AdaGradPart& part, const AdaGradEntries& of,
                            const double* slopes, const double* current, const double* rates) noexcept {
  const AdaGradColumns by = given;
  const AdaGradEntries e = of;
  const Columns c{part.at, part.have};
  const Penalties penalty = penalties_of<kWhole>(by, c);
  const Eight slope = get<kWhole>(c, slopes);
  const Eight due = eight(part.ends_period ? 1.0 : 0.0);
  for (std::int64_t k = 0; k < e.n; ++k) {
    const Eight rate = eight(rates + 8 * k);
    const Eight step = rate * slope * static_cast<double>(e.x[k]);
    put<kWhole>(c, e.cells[k],
                adagrad_moved<kind, Eight>(penalty, eight(current + 8 * k), rate, step, due > 0));
  }
}

template <PenaltyKind kind>
void gather(const AdaGradColumns& by, const AdaGradPart& part, const AdaGradEntries& of, double* current,
            double* dot) noexcept {
  part.have == 8 ? gather_part<kind, true>(by, part, of, current, dot)
                 : gather_part<kind, false>(by, part, of, current, dot);
}
void prepare(const AdaGradColumns& by, const AdaGradPart& part, const AdaGradEntries& of,
             const double* slopes, double factor, double* rates, double* strengths) noexcept {
  part.have == 8 ? prepare_part<true>(by, part, of, slopes, factor, rates, strengths)
                 : prepare_part<false>(by, part, of, slopes, factor, rates, strengths);
}
template <PenaltyKind kind>
void push(const AdaGradColumns& by, const AdaGradPart& part, const AdaGradEntries& of, const double* slopes,
          const double* current, const double* rates) noexcept {
  part.have == 8 ? push_part<kind, true>(by, part, of, slopes, current, rates)
                 : push_part<kind, false>(by, part, of, slopes, current, rates);
}

// 1 / (1 + exp(-z)), as losses/loss.hpp has it.
template <class T>
RIATA_INLINE T sigmoid(const T& z) noexcept {
  const T e = exp_of_minus(min(abs(z), all<T>(708)));
  return select(z < 0, e, all<T>(1)) / (1 + e);
}
// Of positive, normal numbers.
template <class T>
RIATA_INLINE T natural_log(const T& x) noexcept {
  T k, mantissa;
  split(x, k, mantissa);
  return log_from(k, mantissa - 1);
}

// implicit_logistic of losses/loss.hpp for several columns: each ends by itself.
template <class T>
RIATA_INLINE T implicit_logistic(const T& margin, const T& strength) noexcept {
  const T before = sigmoid<T>(0 - margin), zero = all<T>(0), one = all<T>(1), least = all<T>(1e-300);
  const auto moves = strength > 1e-300;
  const T wanted = natural_log<T>(max(min(strength, all<T>(1e300)), least));
  T d = max(min(strength * before, max(wanted - margin, one)), least);
  T q = natural_log<T>(d), active = select(moves, one, zero);
  for (int n = 0; n < 100 && not_below(active, 0.5) != 0; ++n) {
    const T m = margin + d, t = exp_of_minus(min(abs(m), all<T>(708)));
    const T value = q + (select(m > 0, m, zero) + log_of_one_and(t)) - wanted;
    const T change = value / (1 + d * (select(m > 0, one, t) / (1 + t)));
    q = select(active > 0, q - change, q);
    d = select(active > 0, exp(q), d);
    active = select(abs(change) <= 1e-8, zero, active);
  }
  return select(moves, sigmoid<T>(0 - (margin + d)), before);
}

// Each step of the search waits for the one before: sixteen columns at a time take hardly longer than eight.
void implicit(const ImplicitColumns& given) noexcept {
  using Sixteen = Two<Eight>;
  const ImplicitColumns m = given;
  const auto slopes = [&]<class T>(const T& p, const T& strength) {
    return m.weight * (-m.y * implicit_logistic<T>(m.y * p, m.weight * strength));
  };
  int c = 0;
  for (; c + 16 <= m.n; c += 16)
    store(m.slopes + c, slopes(loaded<Sixteen>(m.scores + c), loaded<Sixteen>(m.strengths + c)));
  for (; c < m.n; c += 8) {
    const int have = m.n - c < 8 ? m.n - c : 8;
    store_first(m.slopes + c, have,
                slopes(load_first(m.scores + c, have, 0), load_first(m.strengths + c, have, 0)));
  }
}

template <PenaltyKind kind>
constexpr BankAdaGradKernels kernels_of() noexcept {
  return {gather<kind>, prepare, push<kind>};
}

}  // namespace

constinit const AllBankAdaGradKernels bank_adagrad_kernels{
    {kernels_of<PenaltyKind::fobos>(), kernels_of<PenaltyKind::sgd>(), kernels_of<PenaltyKind::truncate>(),
     kernels_of<PenaltyKind::round>()},
    implicit};

}  // namespace riata::RIATA_TARGET
