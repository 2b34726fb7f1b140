// The kernels of log_loss.hpp.
#include "riata/losses/log_loss.hpp"
#include "riata/simd/columns.hpp"
#include "riata/simd/exp.hpp"

namespace riata::RIATA_TARGET {
namespace {

void losses(std::int64_t n, const double* scores, const double* labels, double* out) noexcept {
  for (std::int64_t i = 0; i < n; i += 8) {
    const int have = n - i < 8 ? static_cast<int>(n - i) : 8;
    const Eight minus_y = select(load_first(labels + i, have, 1) != 1, eight(1.0), eight(-1.0));
    const Eight z = minus_y * load_first(scores + i, have, 0);
    const Eight e = exp_of_minus(min(eight(708.0), abs(z)));  // in this order a NaN stays one
    store_first(out + i, have, max(z, eight(0.0)) + log_of_one_and(e));
  }
}

}  // namespace

constinit const LogLossKernels log_loss_kernels{losses};

}  // namespace riata::RIATA_TARGET
