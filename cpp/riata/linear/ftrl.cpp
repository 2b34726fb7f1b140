#include "riata/linear/rules/ftrl.hpp"

#include "riata/linear/make.hpp"

// Vector code for the machine that runs it; the widths give equal bits, as nothing is fused or reordered.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define RIATA_WIDE __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define RIATA_WIDE
#endif

namespace riata {

RIATA_WIDE static void step_rows(const FtrlSteps& by, double* const* rows, const float* x,
                                 double gradient) noexcept {
  constexpr int n = FtrlSteps::kAtOnce;
  const double per_alpha = by.per_alpha, beta = by.beta, l1 = by.l1, l2 = by.l2;
  double w[n], z[n], s[n];
  for (int i = 0; i < n; ++i) {
    w[i] = rows[i][0];
    z[i] = rows[i][1];
    s[i] = rows[i][2];
  }
  for (int i = 0; i < n; ++i) {
    const double g = gradient * static_cast<double>(x[i]);
    const double after = std::sqrt(s[i] * s[i] + g * g);
    z[i] += g - (after - s[i]) * per_alpha * w[i];
    s[i] = after;
    const double moved = -(z[i] - std::copysign(l1, z[i])) / ((beta + s[i]) * per_alpha + l2);
    w[i] = std::fabs(z[i]) <= l1 ? 0 : moved;
  }
  for (int i = 0; i < n; ++i) {
    rows[i][0] = w[i];
    rows[i][1] = z[i];
    rows[i][2] = s[i];
  }
}

void FtrlSteps::operator()(double* const* rows, const float* x, double gradient) const noexcept {
  step_rows(*this, rows, x, gradient);
}

std::unique_ptr<Linear> make_ftrl(const std::string& update, const std::string& store,
                                  const LinearSpec& spec) {
  return update == "ftrl" ? make_linear<Ftrl>(store, spec) : nullptr;
}

}  // namespace riata
