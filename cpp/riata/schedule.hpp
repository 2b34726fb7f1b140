// Learning rates: the step size at t = 0, 1, 2, ...
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

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

  static bool parse(std::string_view name, Kind& kind) noexcept {
    constexpr std::string_view names[] = {"constant", "inv_sqrt", "inv_t", "invscaling"};
    for (int i = 0; i < 4; ++i) {
      if (names[i] == name) {
        kind = static_cast<Kind>(i);
        return true;
      }
    }
    return false;
  }
};

}  // namespace riata
