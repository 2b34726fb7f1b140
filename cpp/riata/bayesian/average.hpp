// What the kernels of taylor.hpp do beside the update: averaging components, and finding rows.
#pragma once

#include "riata/bayesian/curves.hpp"
#include "riata/bayesian/taylor.hpp"
#include "riata/simd/columns.hpp"

namespace riata::RIATA_TARGET {
namespace {

// Averaging components.

struct Margins {
  Eight z;  // the margin, eq. 8
  Eight t;  // exp(-|z|)
};

RIATA_INLINE Margins margins_of(const Eight& mean, const Eight& spread) noexcept {
  const Eight z = mean / sqrt(1 + kEighthOfPi * spread);
  return {z, exp_of_minus(min(abs(z), eight(kExpLimit)))};
}

RIATA_INLINE Eight part_of(const double* p, int have, double rest) noexcept {
  return have == 8 ? eight(p) : load_first(p, have, rest);
}

RIATA_INLINE void add_weighted(const Margins& at, const Eight& log_weights, double* sums) noexcept {
  const Eight weight = exp_of_minus(min(0 - log_weights, eight(kExpLimit)));
  const Eight likely = weight / (1 + at.t), unlikely = likely * at.t;
  sums[0] += sum(select(at.z > 0, likely, unlikely));
  sums[1] += sum(select(at.z > 0, unlikely, likely));
}

void average(int n, const double* means, const double* spreads, const double* log_weights,
             double* sums) noexcept {
  for (int i = 0; i < n; i += 8) {
    const int have = n - i < 8 ? n - i : 8;
    const Margins at = margins_of(part_of(means + i, have, 0), part_of(spreads + i, have, 0));
    add_weighted(at, part_of(log_weights + i, have, -kExpLimit), sums);
  }
}

void credit(int n, const double* means, const double* spreads, double y, double weight, double keep,
            double* log_weights, double* sums) noexcept {
  for (int i = 0; i < n; i += 8) {
    const int have = n - i < 8 ? n - i : 8;
    const Margins at = margins_of(part_of(means + i, have, 0), part_of(spreads + i, have, 0));
    const Eight before = part_of(log_weights + i, have, -kExpLimit);
    const Eight lost = max(min(y * at.z, eight(0.0)), eight(-kExpLimit));
    const Eight seen = lost - log_of_one_and(at.t), after = keep * before + weight * seen;
    if (have == 8)
      store(log_weights + i, after);
    else
      store_first(log_weights + i, have, after);
    add_weighted(at, before, sums);
  }
}

// Locating rows.

std::uint32_t places(std::int64_t n, const std::int32_t* indices, std::uintptr_t base, std::uint64_t bytes,
                     const double** rows) noexcept {
  std::uint32_t any = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const auto i = static_cast<std::uint32_t>(indices[k]);
    any |= i;
    rows[k] = reinterpret_cast<const double*>(base + static_cast<std::uint32_t>(bytes) * std::uint64_t{i});
  }
  return any;
}

std::uint32_t lay_out(std::int64_t n, const std::int32_t* indices, const float* values, double* x) noexcept {
  std::uint32_t largest = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const auto i = static_cast<std::uint32_t>(indices[k]);
    largest = i > largest ? i : largest;
    x[k] = static_cast<double>(values[k]);
  }
  return largest;
}

}  // namespace
}  // namespace riata::RIATA_TARGET
