// Several classes of which exactly one is right, with probabilities in proportion to exp(s_k): multinomial regression.
//
// The log odds of class k against all others together are s_k - ln(sum of exp(s_j), j != k). So for one class alone the others
// are an offset, and a step of the logistic loss at these log odds has the slope of -ln(probability of the right class).
#pragma once

#include <cmath>

#include "riata/simd/exp.hpp"

namespace riata {

// Scores, `stride` apart, become log odds against the others. No digits are lost where one class is nearly certain: its
// others are added up without it.
inline void against_others(double* scores, int classes, int stride = 1) noexcept {
  const auto score = [=](int k) -> double& { return scores[k * stride]; };
  int first = 0;
  for (int k = 1; k < classes; ++k)
    if (score(k) > score(first)) first = k;
  const double largest = score(first);
  double second = -HUGE_VAL, all = 0, rest = 0;
  for (int k = 0; k < classes; ++k) {
    all += exp(score(k) - largest);
    if (k != first && score(k) > second) second = score(k);
  }
  for (int k = 0; k < classes; ++k)
    if (k != first) rest += exp(score(k) - second);
  for (int k = 0; k < classes; ++k) {
    const double others = k == first ? second + log(rest) : largest + log(all - exp(score(k) - largest));
    score(k) -= others;
  }
}

}  // namespace riata
