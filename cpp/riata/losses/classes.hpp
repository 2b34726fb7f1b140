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
  constexpr int kFew = 64;
  double parts[kFew];  // exp(score - largest), of few classes
  const auto score = [=](int k) -> double& { return scores[k * stride]; };
  int first = 0;
  for (int k = 1; k < classes; ++k)
    if (score(k) > score(first)) first = k;
  const double largest = score(first);
  double rest = 0, second = -HUGE_VAL;
  for (int k = 0; k < classes; ++k) {
    if (k == first) continue;
    second = score(k) > second ? score(k) : second;
    const double part = exp(score(k) - largest);
    if (k < kFew) parts[k] = part;
    rest += part;
  }
  const double all = 1 + rest;
  double others = largest + log(rest);
  if (rest < 1e-280) {  // all of its digits may have gone
    rest = 0;
    for (int k = 0; k < classes; ++k)
      if (k != first) rest += exp(score(k) - second);
    others = second + log(rest);
  }
  for (int k = 0; k < classes; ++k)
    if (k != first) score(k) -= largest + log(all - (k < kFew ? parts[k] : exp(score(k) - largest)));
  score(first) -= others;
}

}  // namespace riata
