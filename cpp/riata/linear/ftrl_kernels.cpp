// The step of FTRL for all rows of an example with one column, eight at a time: square roots and quotients take
// most of the time, and several of them take no longer than one.
#include "riata/linear/rules/ftrl_step.hpp"
#include "riata/simd/vector.hpp"

namespace riata::RIATA_TARGET {
namespace {

constexpr int kAtOnce = 8;

RIATA_INLINE void step_eight(const FtrlStep& by, double* const* rows, const float* x,
                             double gradient) noexcept {
  double w[kAtOnce], z[kAtOnce], s[kAtOnce];
  for (int i = 0; i < kAtOnce; ++i) {
    w[i] = rows[i][0];
    z[i] = rows[i][1];
    s[i] = rows[i][2];
  }
  for (int i = 0; i < kAtOnce; ++i) by.move(w[i], z[i], s[i], gradient * static_cast<double>(x[i]));
  for (int i = 0; i < kAtOnce; ++i) {
    rows[i][0] = w[i];
    rows[i][1] = z[i];
    rows[i][2] = s[i];
  }
}

void push(const FtrlStep& given, double* const* rows, const float* x, std::int64_t n,
          double gradient) noexcept {
  const FtrlStep by = given;  // a copy that nothing stored can change
  std::int64_t k = 0;
  for (; k + kAtOnce <= n; k += kAtOnce) step_eight(by, rows + k, x + k, gradient);
  for (; k < n; ++k) by.move(rows[k][0], rows[k][1], rows[k][2], gradient * static_cast<double>(x[k]));
}

}  // namespace

const FtrlKernels ftrl_kernels{push};

}  // namespace riata::RIATA_TARGET
