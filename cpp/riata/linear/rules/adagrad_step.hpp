// AdaGrad's steps and penalties for one weight, or for several side by side. rules/adagrad.hpp says what they are.
#pragma once

#include <cstdint>

#include "riata/simd/exp.hpp"

namespace riata {

// What happens to a weight besides its steps, once every `period` examples.
//
//   fobos, sgd     an elastic net: with q = 1 / (1 + n l2) for FoBoS, q = max(0, 1 - n l2) for SGD, k times in a row |w|
//                  becomes max(0, |w| q^k - l1 / l2 (1 - q^k)), or |w| - k n l1 for l2 = 0. SGD: before the step
//   truncate       weights up to theta shrink by n K gravity, clipped at zero
//   round          weights up to theta become 0
enum class PenaltyKind : std::uint8_t { fobos, sgd, truncate, round };

struct AdaGradPenalty {
  double l1 = 0, l2 = 0;
  double gravity = 0, theta = 0, period = 1;
};

namespace RIATA_TARGET {

// With the rate n of its feature: once,
template <PenaltyKind kind, class T>
RIATA_INLINE T penalised(const AdaGradPenalty& by, const T& w, const T& n) noexcept {
  if constexpr (kind == PenaltyKind::fobos)
    return shrink<T>(w, n * by.l1) / (1 + n * by.l2);
  else if constexpr (kind == PenaltyKind::sgd)
    return shrink<T>(w * max(all<T>(0), 1 - n * by.l2), n * by.l1);
  else if constexpr (kind == PenaltyKind::truncate)
    return select(abs(w) <= by.theta, shrink<T>(w, n * by.period * by.gravity), w);
  else
    return select(abs(w) <= by.theta, all<T>(0), w);
}
// and k times, k > 0.
template <PenaltyKind kind, class T>
RIATA_INLINE T penalised(const AdaGradPenalty& by, const T& w, const T& n, const T& k) noexcept {
  if constexpr (kind == PenaltyKind::truncate) {
    return select(abs(w) <= by.theta, shrink<T>(w, k * n * by.period * by.gravity), w);
  } else if constexpr (kind == PenaltyKind::round) {
    return penalised<kind>(by, w, n);
  } else {
    if (by.l2 == 0) return shrink<T>(w, k * n * by.l1);
    const T log_q = kind == PenaltyKind::fobos ? wide_log1p<T>(min(n * by.l2, all<T>(1e300)))
                                               : 0 - wide_log1p<T>(0 - min(n * by.l2, all<T>(1)));
    const T lost = one_minus_exp_of_minus<T>(min(k * log_q, all<T>(708)));  // 1 - q^k
    return shrink<T>(w * (1 - lost), by.l1 / by.l2 * lost);
  }
}

// The rate of a feature by the root of its sum, before or after a gradient.
template <class T>
RIATA_INLINE T adagrad_rate(double rate, const T& root) noexcept {
  return select(root > 0, rate / root, all<T>(0));
}
// The root of a sum, which starts with `first` squared, after a gradient.
template <class T>
RIATA_INLINE T adagrad_root(double first, const T& root, const T& gradient) noexcept {
  const T start = select(root > 0, root, all<T>(first));
  return select(gradient != 0, square_root(start * start + gradient * gradient), root);
}

// A weight brought current: `missed` penalties have passed since the last one.
template <PenaltyKind kind, class T>
RIATA_INLINE T adagrad_current(const AdaGradPenalty& by, double rate, const T& w, const T& root,
                               const T& missed) noexcept {
  const auto due = (w != 0) & (missed > 0);
  return select(due, penalised<kind, T>(by, w, adagrad_rate(rate, root), missed), w);
}
// The step of a current weight; `now`: where the period ends, and the weight has not had its penalty.
template <PenaltyKind kind, class T, class Mask>
RIATA_INLINE T adagrad_moved(const AdaGradPenalty& by, const T& w, const T& n, const T& step,
                             const Mask& now) noexcept {
  if constexpr (kind == PenaltyKind::sgd) return select(now, penalised<kind, T>(by, w, n), w) - step;
  const T moved = w - step;
  return select(now, penalised<kind, T>(by, moved, n), moved);
}

}  // namespace RIATA_TARGET
}  // namespace riata
