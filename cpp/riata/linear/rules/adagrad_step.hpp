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

RIATA_INLINE bool all_zero(double v) noexcept { return v == 0; }
template <class V>
RIATA_INLINE bool all_zero(const V& v) noexcept {  // of numbers that are not negative
  return not_below(v, 0x1p-1074) == 0;
}

// 1 - q^k for q = 1 / (1 + a) of FoBoS, or 1 - a of SGD. Where a is small, as it nearly always is, ln(q) is a short series; where
// k of them are not much either, there is no range to reduce. Which way is taken is up to each number alone.
template <PenaltyKind kind, class T>
RIATA_INLINE T lost_in(const T& a, const T& k) noexcept {
  const T u = kind == PenaltyKind::fobos ? 0 - a : a;
  const T y = k * (a * (1 + u * (0.5 + u * (1.0 / 3 + u * 0.25))));
  const auto near = (a <= 0x1p-13) & (y <= 0.34);
  const T lost = y - exp_beyond_linear<T>(y);
  if (all_zero(select(near, all<T>(0), all<T>(1)))) return lost;
  const T log_q = kind == PenaltyKind::fobos ? wide_log1p<T>(min(a, all<T>(1e300)))
                                             : 0 - wide_log1p<T>(0 - min(a, all<T>(1)));
  return select(near, lost, one_minus_exp_of_minus<T>(min(k * log_q, all<T>(708))));
}

// By: AdaGradPenalty, or one with a number for each weight in its place. With the rate n of its feature: once,
template <PenaltyKind kind, class T, class By>
RIATA_INLINE T penalised(const By& by, const T& w, const T& n) noexcept {
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
template <PenaltyKind kind, class T, class By>
RIATA_INLINE T penalised(const By& by, const T& w, const T& n, const T& k) noexcept {
  if constexpr (kind == PenaltyKind::truncate) {
    return select(abs(w) <= by.theta, shrink<T>(w, k * n * by.period * by.gravity), w);
  } else if constexpr (kind == PenaltyKind::round) {
    return penalised<kind>(by, w, n);
  } else {
    const auto linear = [&] { return shrink<T>(w, k * n * by.l1); };
    if (all_zero(by.l2)) return linear();
    const T lost = lost_in<kind, T>(n * by.l2, k);
    const T shrunk = shrink<T>(w * (1 - lost), by.l1 / by.l2 * lost);
    if constexpr (sizeof(by.l2) == sizeof(double))
      return shrunk;
    else
      return select(by.l2 > 0, shrunk, linear());
  }
}

// The rate of a feature by the root of its sum, before or after a gradient.
template <class T, class Rate>
RIATA_INLINE T adagrad_rate(const Rate& rate, const T& root) noexcept {
  return select(root > 0, rate / root, all<T>(0));
}
// The root of a sum, which starts with `first` squared, after a gradient.
template <class T>
RIATA_INLINE T adagrad_root(double first, const T& root, const T& gradient) noexcept {
  const T start = select(root > 0, root, all<T>(first));
  return select(gradient != 0, square_root(start * start + gradient * gradient), root);
}

// A weight brought current: `missed` penalties have passed since the last one.
template <PenaltyKind kind, class T, class By, class Rate>
RIATA_INLINE T adagrad_current(const By& by, const Rate& rate, const T& w, const T& root,
                               const T& missed) noexcept {
  const auto due = (w != 0) & (missed > 0);
  return select(due, penalised<kind, T>(by, w, adagrad_rate(rate, root), missed), w);
}
// The step of a current weight; `now`: where the period ends, and the weight has not had its penalty.
template <PenaltyKind kind, class T, class By, class Mask>
RIATA_INLINE T adagrad_moved(const By& by, const T& w, const T& n, const T& step, const Mask& now) noexcept {
  if constexpr (kind == PenaltyKind::sgd) return select(now, penalised<kind, T>(by, w, n), w) - step;
  const T moved = w - step;
  return select(now, penalised<kind, T>(by, moved, n), moved);
}

}  // namespace RIATA_TARGET
}  // namespace riata
