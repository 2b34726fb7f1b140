// Scores put right by how they did so far: the kernels of single.hpp, eight scores at a time.
#include "riata/portfolio/kernels.hpp"
#include "riata/simd/columns.hpp"
#include "riata/simd/exp.hpp"
#include "riata/simd/rows.hpp"

namespace riata::RIATA_TARGET {
namespace {

inline constexpr double kLargestScore = 100, kHeaviest = 1e10;

struct State {
  Eight number[kSingleWidth];

  RIATA_INLINE State(double* const* states, int have) noexcept {
    for (int i = 0; i < kSingleWidth; ++i)
      collect(number[i], [&](int k) { return k < have ? states[k][i] : 0.0; });
  }
  // The mean of the factor and of the constant: two equations.
  RIATA_INLINE void means(Eight& a, Eight& c) const noexcept {
    const Eight aa = kSinglePrior + number[0], ac = number[1], cc = kSinglePrior + number[2];
    const Eight rest = ac / aa, first = kSinglePrior + number[3];
    c = (number[4] - rest * first) / max(cc - rest * ac, eight(kSinglePrior));
    a = (first - ac * c) / aa;
  }
};

RIATA_INLINE Eight within(const Eight& x, double limit) noexcept {
  return max(min(x, eight(limit)), eight(-limit));
}

void read(int n, double* const* states, double* factors, double* constants) noexcept {
  for (int i = 0; i < n; i += 8) {
    const int have = n - i < 8 ? n - i : 8;
    Eight a, c;
    State(states + i, have).means(a, c);
    store_first(factors + i, have, max(a, eight(0.0)));
    store_first(constants + i, have, c);
  }
}

void learn(const Corrections& given) noexcept {
  const Corrections m = given;
  const double weight = m.weight < kHeaviest ? m.weight : kHeaviest;
  for (int i = 0; i < m.n; i += 8) {
    const int have = m.n - i < 8 ? m.n - i : 8;
    const State state(m.states + i, have);
    Eight a, c;
    state.means(a, c);
    const Eight score = load_first(m.scores + i, have, 0);
    const Eight against = -m.y * ((max(a, eight(0.0)) * score + c) + m.offset);
    const Eight size = exp_of_minus(min(abs(against), eight(kExpLimit)));
    const Eight loss = max(against, eight(0.0)) + log_of_one_and(size);

    const Eight x = within(score, kLargestScore), z = a * x + c;
    const Eight e = exp_of_minus(0 - within(m.y * (z + m.offset), kExpLimit)), slope = 1 / (1 + e);
    const Eight curvature = weight * (e * slope * slope), pull = curvature * z + (m.y * weight) * slope;
    const Eight gains[kSingleWidth] = {curvature * x * x, curvature * x, curvature,
                                       pull * x,          pull,          weight * loss};
    for (int k = 0; k < kSingleWidth; ++k) {
      alignas(64) double now[8];
      store(now, state.number[k] + gains[k]);
      for (int j = 0; j < have; ++j) m.states[i + j][k] = now[j];
    }
  }
}

}  // namespace

const CorrectionKernels correction_kernels{read, learn};

}  // namespace riata::RIATA_TARGET
