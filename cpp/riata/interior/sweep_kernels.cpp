#include "riata/interior/sweep.hpp"

namespace riata::RIATA_TARGET {
namespace {

Swept sweep(HalfView pos, HalfView neg, const double* gradient, std::int64_t n, double l1, double mu,
            double a) noexcept {
  Eight product = eight(0.0), least = eight(std::numeric_limits<double>::infinity());
  const std::int64_t whole = n / 8 * 8;
  for (std::int64_t i = 0; i < whole; i += 8) {
    Eight px = eight(pos.x + i), pz = eight(pos.z + i), nx = eight(neg.x + i), nz = eight(neg.z + i);
    const Eight g = eight(gradient + i);
    advance(px, pz, nx, nz, g, l1, mu, a, product, least);
    store(pos.x + i, px);
    store(pos.z + i, pz);
    store(neg.x + i, nx);
    store(neg.z + i, nz);
  }
  double products[8], leasts[8];
  store(products, product);
  store(leasts, least);
  for (std::int64_t i = whole; i < n; ++i) {
    const std::int64_t j = i - whole;
    advance(pos.x[i], pos.z[i], neg.x[i], neg.z[i], gradient[i], l1, mu, a, products[j], leasts[j]);
  }
  Swept out;
  for (int j = 0; j < 8; ++j) {
    out.product += products[j];
    out.least = min(leasts[j], out.least);
  }
  return out;
}

}  // namespace

const SweepKernels sweep_kernels{sweep};

}  // namespace riata::RIATA_TARGET
