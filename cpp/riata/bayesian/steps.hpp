// How one example moves the posterior: element by element over its features and all columns.
#pragma once

#include <cstdint>
#include <string>

#include "riata/bayesian/taylor.hpp"

namespace riata {

// An example laid out for the step. "Row" i is one feature (or the intercept), columns are contiguous.
struct UpdateInput {
  std::int64_t rows = 0;
  int columns = 1, views = 1;         // a view has columns / views columns, side by side
  const double* x = nullptr;          // rows x views: the feature's value as each view sees it
  const double* variances = nullptr;  // rows x columns: sigma_i^2
  const double* means = nullptr;      // columns: mu_t, eq. 6
  const double* spreads = nullptr;    // columns: sigma_t^2, eq. 6
  const double* y = nullptr;          // columns: -1 or +1
  double weight = 1;                  // of the example: multiplies its log likelihood
  double* moves = nullptr;            // rows x columns, out: what mu_i gains
  double* gains = nullptr;            // rows x columns, out: what 1 / sigma_i^2 gains
  const double* normals = nullptr;    // "vb": samples of the standard normal distribution
  int samples = 0;
};

void gather(const ScoreMoments&) noexcept;

// Moves and gains to the rows.
void absorb(std::int64_t rows, int columns, double* const* state, const double* moves,
            const double* gains) noexcept;

using Step = void (*)(const UpdateInput&) noexcept;

// Null: no such combination. update: marginal, joint, adf or vb; link: logit or probit; mean: taylor or
// newton; variance: curvature or height (marginal alone).
Step find_step(const std::string& update, const std::string& link, const std::string& mean,
               const std::string& variance) noexcept;

// `count` standard normal numbers that depend on seed and t alone.
void draw_normals(std::uint64_t seed, std::uint64_t t, int count, double* out) noexcept;

}  // namespace riata
