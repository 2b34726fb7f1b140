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

#include "riata/linear/model.hpp"
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

// What keeps these sums, as bindings see it.
class ScaleSums {
 public:
  virtual ~ScaleSums() = default;
  virtual bool scaled() const noexcept {
    return true;
  }  // a model may leave values as they are: then ask no more
  // The values of n entries by what was learned, so that a score is linear in them; those of features never seen are 1 or
  // -1.
  template <class Index>
  void scale_values(const Index* keys, const float* values, std::int64_t n, float* out) const noexcept {
    for (std::int64_t k = 0; k < n; ++k)
      out[k] = value_by_sums(sums_of(static_cast<std::uint64_t>(keys[k])), values[k]);
  }
  // The root mean squares of features by the keys that rows have when they are saved; 1 of those never seen.
  void roots(const std::int64_t* keys, std::int64_t n, double* out) const noexcept {
    for (std::int64_t i = 0; i < n; ++i)
      out[i] = root_of_sums(saved_sums(static_cast<std::uint64_t>(keys[i])));
  }
  // The sums of all features, by ascending key.
  virtual Rows scale_sums() const = 0;
  // Those of a saved model, after its rows. False: a key is out of range, or memory is exhausted.
  virtual bool set_scale_sums(const std::int64_t* keys, const double* sums, std::int64_t n) noexcept = 0;

 protected:
  virtual const double* sums_of(std::uint64_t key) const noexcept = 0;  // null: nothing is known
  // The same by a saved key: in a hashed store that is a place.
  virtual const double* saved_sums(std::uint64_t key) const noexcept = 0;
};

}  // namespace riata
