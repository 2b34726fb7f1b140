// The kernels of tally.hpp.
#include "riata/bank/tally.hpp"
#include "riata/simd/columns.hpp"
#include "riata/simd/exp.hpp"

namespace riata::RIATA_TARGET {
namespace {

RIATA_INLINE Eight exp_of_minus_size(const Eight& z) noexcept {
  return exp_of_minus(min(abs(z), eight(708.0)));
}

template <class Work>
RIATA_INLINE void by_eight(std::int64_t n, Work work) noexcept {
  for (std::int64_t i = 0; i < n; i += 8) work(i, n - i < 8 ? static_cast<int>(n - i) : 8);
}

void look(std::int64_t n, const double* scores, const double* y, double smallest, double length,
          double* chances, double* out, double* places) noexcept {
  by_eight(n, [&](std::int64_t i, int have) {
    const Eight z = load_first(scores + i, have, 0), e = exp_of_minus_size(z), size = abs(z);
    const Eight p = select(z < 0, e, eight(1.0)) / (1 + e);
    const Eight right = select(load_first(y + i, have, 1) > 0, p, 1 - p);
    store_first(chances + i, have, p);
    store_first(out + i, have, 0 - log_of_normal(max(min(right, eight(1.0)), eight(smallest))));
    store_first(places + i, have, (z / (1 + size) + 1) * (length / 2));
  });
}

}  // namespace

constinit const TallyKernels tally_kernels{look};

}  // namespace riata::RIATA_TARGET
