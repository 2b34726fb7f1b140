// The kernels of kernels.hpp.
#include "riata/bank/kernels.hpp"
#include "riata/bank/sum_of.hpp"
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

constexpr std::int64_t kAhead = 6;

RIATA_INLINE Columns columns_of(const BankPart& part) noexcept { return {part.at, part.have}; }

template <DecayKind kind, bool kWhole>
RIATA_INLINE void gather_part(const BankPart& given, const BankEntries& of, double* current,
                              double* dot) noexcept {
  const BankPart part = given;
  const BankEntries e = of;
  const Columns c = columns_of(part), in_group{part.first, part.have};
  const Eight now = get<kWhole>(c, part.now), theta = get<kWhole>(c, part.theta);
  const auto one = [&](std::int64_t k) __attribute__((always_inline)) {
    const std::int64_t later = k + kAhead < e.n ? k + kAhead : e.n - 1;
    __builtin_prefetch(e.cells[later] + c.first);
    __builtin_prefetch(e.marks[later] + in_group.first);
    const Eight v =
        current_of<kind>(now, theta, get<kWhole>(c, e.cells[k]), get<kWhole>(in_group, e.marks[k]));
    store(current + 8 * k, v);
    return v * static_cast<double>(e.x[k]);
  };
  put<kWhole>(c, dot, sum_of(e.n, one));
}

template <bool kWhole>
RIATA_INLINE void push_part(const BankPart& given, const BankEntries& of, const double* gradient,
                            const double* current) noexcept {
  const BankPart part = given;
  const BankEntries e = of;
  const Columns c = columns_of(part);
  const Eight g = get<kWhole>(c, gradient);
  for (std::int64_t k = 0; k < e.n; ++k)
    put<kWhole>(c, e.cells[k], eight(current + 8 * k) - g * static_cast<double>(e.x[k]));
}

template <DecayKind kind, bool kWhole>
RIATA_INLINE void push_anew_part(const BankPart& given, const BankEntries& of,
                                 const double* gradient) noexcept {
  const BankPart part = given;
  const BankEntries e = of;
  const Columns c = columns_of(part), in_group{part.first, part.have};
  const Eight now = get<kWhole>(c, part.now), theta = get<kWhole>(c, part.theta),
              g = get<kWhole>(c, gradient);
  for (std::int64_t k = 0; k < e.n; ++k) {
    const Eight v =
        current_of<kind>(now, theta, get<kWhole>(c, e.cells[k]), get<kWhole>(in_group, e.marks[k]));
    put<kWhole>(c, e.cells[k], v - g * static_cast<double>(e.x[k]));
  }
}

template <DecayKind kind>
void gather(const BankPart& part, const BankEntries& of, double* current, double* dot) noexcept {
  part.have == 8 ? gather_part<kind, true>(part, of, current, dot)
                 : gather_part<kind, false>(part, of, current, dot);
}
void push(const BankPart& part, const BankEntries& of, const double* gradient,
          const double* current) noexcept {
  part.have == 8 ? push_part<true>(part, of, gradient, current)
                 : push_part<false>(part, of, gradient, current);
}
template <DecayKind kind>
void push_anew(const BankPart& part, const BankEntries& of, const double* gradient) noexcept {
  part.have == 8 ? push_anew_part<kind, true>(part, of, gradient)
                 : push_anew_part<kind, false>(part, of, gradient);
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
