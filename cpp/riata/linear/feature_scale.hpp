// The running root mean square of every feature's values that were not zero, kept behind the state of its rule.
//
// Two numbers: how often the feature was not zero, and the sum of its squares. A value is divided by the root of their
// quotient, its own square included, so that multiplying a feature by a number changes nothing of what a model sees of it.
// Features that are always 1 stay as they are.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "riata/linear/scale_kernels.hpp"

namespace riata {

// Sums of features that have no row: a table keeps a name for every row, and a model file has those of rows with weights
// alone. They wait here until the feature comes again, with its name.
using WaitingSums = std::unordered_map<std::uint64_t, std::array<double, kScaleSums>>;

inline double root_of_sums(const double* sums) noexcept {
  return sums == nullptr || !(sums[1] > 0) ? 1 : std::sqrt(sums[1] / sums[0]);
}
inline float value_by_sums(const double* sums, float value) noexcept {
  const double x = value;
  if (sums == nullptr || !(sums[1] > 0)) return static_cast<float>((x > 0) - (x < 0));
  return static_cast<float>(x / root_of_sums(sums));
}

}  // namespace riata
