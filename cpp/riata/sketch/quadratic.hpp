// The parabola that stands for an example's loss.
#pragma once

#include <cmath>

#include "riata/losses/loss.hpp"

namespace riata {

// An example far on the right side has no curvature left in floating point; a model needs some.
inline constexpr double kLeastCurvature = 1e-10;

// The curvature of an example's model at `margin`, which is above 0 on the right side.
inline double model_curvature(double margin, const Term& term) noexcept {
  // One far on the wrong side has next to none, but pulls hard: the minimum of its parabola is far beyond that of its
  // loss. Beyond this margin the model has the parabola that touches a logistic loss and is nowhere below it.
  constexpr double kWrong = 8;
  const double above = margin < -kWrong ? 0.5 / -margin : 0;
  return std::fmax(term.curvature, std::fmax(above, kLeastCurvature));
}

}  // namespace riata
