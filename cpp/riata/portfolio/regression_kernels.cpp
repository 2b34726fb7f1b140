// The kernels of regression_kernels.hpp.
#include "riata/portfolio/regression_kernels.hpp"

#include "riata/simd/columns.hpp"

namespace riata::RIATA_TARGET {
namespace {

// Eight columns of one row at a time, or what is left of them.
template <class Work>
RIATA_INLINE void each_eight(const GaussianColumns& m, Work work) noexcept {
  for (int c = 0; c < m.columns; c += 8) work(c, m.columns - c < 8 ? m.columns - c : 8);
}

RIATA_INLINE Eight prior(const GaussianColumns& m, std::int64_t row, int c, int have) noexcept {
  if (m.intercept_first && row == 0) return eight(m.intercept_precision);
  return load_first(m.precisions + c, have, 1);
}

void gather(const GaussianColumns& given) noexcept {
  const GaussianColumns m = given;
  each_eight(m, [&](int c, int have) {
    Eight mean = eight(0.0), spread = eight(0.0);
    for (std::int64_t r = 0; r < m.rows; ++r) {
      const double* row = m.state[r] + c;
      const double x = m.x[r];
      mean = mean + x * load_first(row, have, 0);
      spread = spread + (x * x) / (prior(m, r, c, have) + load_first(row + m.distance, have, 0));
    }
    store_first(m.means + c, have, mean);
    store_first(m.spreads + c, have, spread);
  });
}

void step(const GaussianColumns& given) noexcept {
  const GaussianColumns m = given;
  each_eight(m, [&](int c, int have) {
    const Eight noise = load_first(m.noise + c, have, 1), total = noise + load_first(m.spreads + c, have, 0);
    const Eight pull = load_first(m.residuals + c, have, 0) / total;
    for (std::int64_t r = 0; r < m.rows; ++r) {
      double* row = m.state[r] + c;
      const double x = m.x[r];
      const Eight gain = load_first(row + m.distance, have, 0), variance = 1 / (prior(m, r, c, have) + gain);
      store_first(row, have, load_first(row, have, 0) + x * variance * pull);
      store_first(row + m.distance, have, gain + (x * x) / max(total - (x * x) * variance, noise));
    }
  });
}

}  // namespace

const RegressionKernels regression_kernels{gather, step};

}  // namespace riata::RIATA_TARGET
