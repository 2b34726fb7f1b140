// Learning rates: the step size at t = 0, 1, 2, ...
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "riata/base/parameters.hpp"

namespace riata {

struct Schedule {
  enum class Kind { constant, inv_sqrt, inv_t, invscaling };

  Kind kind = Kind::inv_sqrt;
  double eta0 = 0.5;
  double power_t = 0.5;

  double operator()(std::uint64_t t) const noexcept {
    const double n = static_cast<double>(t) + 1;
    switch (kind) {
      case Kind::constant:
        return eta0;
      case Kind::inv_sqrt:
        return eta0 / std::sqrt(n);
      case Kind::inv_t:
        return eta0 / n;
      case Kind::invscaling:
        return eta0 / std::pow(n, power_t);
    }
    return eta0;
  }
};

inline constexpr std::string_view kSchedules[] = {"constant", "inv_sqrt", "inv_t", "invscaling"};

// Parameters reach a rule as numbers; "schedule" is the place in kSchedules.
inline Schedule schedule_of(const Numbers& n) {
  return {static_cast<Schedule::Kind>(static_cast<int>(n.at("schedule"))), n.at("eta0"), n.at("power_t")};
}

}  // namespace riata
