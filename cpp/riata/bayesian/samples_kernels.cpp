#include "riata/bayesian/samples.hpp"
#include "riata/simd/exp.hpp"

namespace riata::RIATA_TARGET {
namespace {

void logit(int n, const double* __restrict s, double z, double step, double* __restrict slopes,
           double* __restrict curvatures) noexcept {
  for (int j = 0; j < n; ++j) {
    const double e = bounded_exp(z + step * s[j]), q = 1 / (1 + e);
    slopes[j] = q;
    curvatures[j] = e * q * q;
  }
}

}  // namespace

const SampleKernels sample_kernels{logit};

}  // namespace riata::RIATA_TARGET
