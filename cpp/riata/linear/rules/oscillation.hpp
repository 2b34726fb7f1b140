// Where a weight is after many steps of w' = w - a(t) sign(w), found without taking them one by one.
//
// The steps fall as a(t) = C (t + 1)^-p. Far from zero they add up. Once |w| < a(t) the weight oscillates: it
// jumps over zero and back, and two steps are one small one,
//
//   w(t + 2) = w(t) - s1(t) sign(w(t)),   s1(t) = a(t) - a(t + 1),
//
// which is the same walk again, with stride 2 and steps s1. So there are levels. On level k the stride is 2^k
// and a step is sk(t) = s(k-1)(t) - s(k-1)(t + 2^(k-1)); s0 is a. All of them are positive and fall for ever,
// since a is completely monotone. A weight is on level k once |w(t)| < s(k-1)(t).
//
// On level k steps add up too while |w| >= sk, and their sum is a matter of both ends: with E = exp(D) the
// shift by one step, sk = (1 - E)(1 - E^2) ... (1 - E^(2^(k-1))) a, which summed at stride 2^k from t to
// before t' is
//
//   Fk(t) - Fk(t'),   Fk = 1 / (1 - E^(2^k)) sk
//                        = (-1)^(k+1) tanh(D/2) tanh(D) ... tanh(2^(k-2) D) / (2 sinh(D/2)) a(t - 1/2),
//
// a series in the derivatives of a power: that of Euler and Maclaurin for k = 0, that of Boole for k = 1.
// Since
//
//   Fk(t) + Fk(t + 2^(k-1)) = s(k-1)(t),
//
// a weight with Fk < |w| < s(k-1) is one step of level k - 1 away from one beyond zero with |w| < Fk. From
// there on |w| = Fk - q with one and the same q, until Fk falls below q: then |w| < sk, and level k + 1 is
// reached. So all it takes are values of Fk and the place where it is q: no tables that grow with the stream.
// What is left in the end, less than 2^k steps, is one step or none on each level below. The number of levels
// does not depend on that of the steps: sk / a is about 2^(k(k-1)/2) (p / t) ((p + 1) / t) ... ((p + k - 1) /
// t), and after a few levels that is less than the rounding of a. There the weight is zero, and stays so, as
// sign(0) is 0. (Taken one by one in floating point, the steps lead to zero there too: differences of steps
// have only so many values, and 0 is one of them.)
//
// How exact is that? From step to step |w| becomes | |w| - a |, so an error of |w| is never made larger: the
// size is that of the exact walk but for a few roundings of the first |w| or a. The sign too, unless the walk
// came so close to zero that those decided on which side: then no two ways to compute it need agree, and may
// be 2 a apart.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "riata/linear/schedule.hpp"

namespace riata {

class Oscillation {
 public:
  Oscillation(const Schedule& schedule, double gravity)
      : schedule_(schedule), gravity_(gravity), p_(power_of(schedule)) {
    for (int k = 0; k <= kLevels; ++k) coefficients_[k] = expand(k);
  }

  // The weight w after the steps from, from + 1, ..., to - 1.
  double operator()(double w, std::uint64_t from, std::uint64_t to, double factor) const noexcept {
    if (p_ == 0) return steady(w, to - from, factor * schedule_.eta0 * gravity_);
    return falling(w, from, to, factor);
  }

 private:
  static constexpr int kLevels = 8;                 // more than it takes, unless p is large
  static constexpr int kTerms = 7;                  // of each series, for times from first(k) on
  static constexpr double kEarly = 24, kLate = 64;  // late: three terms do
  static constexpr std::uint64_t kFew = 8;          // so many steps are sooner taken than thought about
  static constexpr double kRounding = 0x1p-54;      // of a: half of its last bit, and less rounds to zero
  using Series = std::array<double, kTerms>;

  struct Walk {
    double size;  // |w| / C
    bool below;   // w < 0
    double y;     // t + 1/2, where a(t - 1/2) of the series is y^-p
    double left;  // steps to go
    void step(double s, double stride) noexcept {
      if (size < s) below = !below;
      size = std::fabs(size - s);
      advance(stride);
    }
    void advance(double steps) noexcept {
      y += steps;
      left -= steps;
    }
  };

  // All steps are the same: down to within one of zero, and then to and fro.
  static double steady(double w, std::uint64_t steps, double step) noexcept {
    const double down = std::floor(std::fabs(w) / step), rest = std::fabs(w) - down * step;
    if (!(down < static_cast<double>(steps))) return w - std::copysign(static_cast<double>(steps) * step, w);
    const bool oscillates = (steps - static_cast<std::uint64_t>(down)) % 2 == 1;
    return std::copysign(1.0, w) * (oscillates && rest != 0 ? rest - step : rest);
  }

  // Never inlined: most rows of an example need none of it.
  [[gnu::noinline]] double falling(double w, std::uint64_t from, std::uint64_t to,
                                   double factor) const noexcept {
    const double unit = factor * schedule_.eta0 * gravity_;
    const bool few = to - from <= kFew;
    for (; from < to && w != 0 && (few || static_cast<double>(from) < first(1)); ++from) {
      const double step = factor * schedule_(from) * gravity_;
      if (step == 0) return w;
      w -= std::copysign(step, w);
    }
    if (from >= to || w == 0) return w;
    Walk walk{std::fabs(w) / unit, w < 0, static_cast<double>(from) + 0.5, static_cast<double>(to - from)};
    run(walk);
    return walk.below ? -walk.size * unit : walk.size * unit;
  }

  static double power_of(const Schedule& schedule) noexcept {
    switch (schedule.kind) {
      case Schedule::Kind::constant:
        return 0;
      case Schedule::Kind::inv_sqrt:
        return 0.5;
      case Schedule::Kind::inv_t:
        return 1;
      case Schedule::Kind::invscaling:
        return schedule.power_t;
    }
    return 0;
  }

  // From here on the series of level k are as good as doubles are.
  double first(int k) const noexcept { return static_cast<double>(1 << k) * (kEarly + 2 * p_); }

  static Series divide(const Series& a, const Series& b) noexcept {  // b[0] is 1
    Series out{};
    for (int j = 0; j < kTerms; ++j) {
      out[j] = a[j];
      for (int i = 0; i < j; ++i) out[j] -= out[i] * b[j - i];
    }
    return out;
  }
  // sinh(z)/z where odd is 1 and cosh(z) where it is 0, z = scale D, in powers of D^2.
  static Series hyperbolic(double scale, int odd) noexcept {
    Series out{1};
    for (int j = 1; j < kTerms; ++j)
      out[j] = out[j - 1] * scale * scale / ((2 * j - 1 + odd) * (2 * j + odd));
    return out;
  }
  // Fk = y^-(p + k - 1) times a series in y^-2; of F0 what is left when the integral is taken away.
  Series expand(int k) const noexcept {
    Series out = divide({1}, hyperbolic(0.5, 1));
    for (int i = 0; i < k; ++i) {
      const double scale = std::ldexp(1.0, i - 1);
      const Series tanh = divide(hyperbolic(scale, 1), hyperbolic(scale, 0));
      Series product{};
      for (int a = 0; a < kTerms; ++a)
        for (int b = 0; a + b < kTerms; ++b) product[a + b] += out[a] * scale * tanh[b];
      out = product;
    }
    double rising = 1;  // p (p + 1) ...: D^n y^-p is (-1)^n of it times y^-(p + n)
    int n = 0;
    for (int j = 0; j < kTerms; ++j) {
      for (; n < k - 1 + 2 * j; ++n) rising *= p_ + n;
      out[j] *= rising;
    }
    if (k == 0) out[0] = 0;
    return out;
  }

  double fallen(double y) const noexcept {  // y^-p
    if (p_ == 0.5) return 1 / std::sqrt(y);
    return p_ == 1 ? 1 / y : std::pow(y, -p_);
  }
  double f(int k, double y) const noexcept {  // Fk
    const double inverse = 1 / y, z = inverse * inverse;
    const Series& c = coefficients_[k];
    double value = c[2];
    if (y < kLate * first(k)) value += z * (c[3] + z * (c[4] + z * (c[5] + z * c[6])));
    value = (c[0] + z * (c[1] + z * value)) * fallen(y);
    for (int i = 1; i < k; ++i) value *= inverse;
    return k == 0 ? value * y : value;
  }
  // sk, as a sum of two: as a difference it would be less exact.
  double step_of(int k, double y) const noexcept { return f(k + 1, y) + f(k + 1, y + std::ldexp(1.0, k)); }
  // The sum of the first n steps from y on.
  double sum(double y, double n) const noexcept {
    const double slope = 1 - p_, ends = f(0, y) - f(0, y + n);
    if (p_ == 0.5) return 2 * n / (std::sqrt(y) + std::sqrt(y + n)) + ends;
    const double grown = std::log1p(n / y);
    if (slope == 0) return grown + ends;
    return y * fallen(y) * std::expm1(slope * grown) / slope + ends;
  }
  // How many steps from y on add up to about `size`.
  double count(double y, double size) const noexcept {
    const double slope = 1 - p_, start = y * fallen(y);
    if (slope == 0) return y * std::expm1(size);
    return y * std::expm1(std::log1p(slope * size / start) / slope);
  }

  // The last n at which `holds` does, given that it does at 0 and not at `end`; the guess is usually right.
  template <class Holds>
  static double last(double guess, double end, Holds holds) noexcept {
    double low = 0, high = end, stride = 1;
    bool held = false, failed = false;
    double n = guess >= end ? end - 1 : guess >= 1 ? std::floor(guess) : 1;  // 1 also for none
    while (high - low > 1) {
      if (n <= low || n >= high) n = std::floor(low + (high - low) / 2);
      if (holds(n)) {
        low = n;
        held = true;
      } else {
        high = n;
        failed = true;
      }
      n = held && failed ? 0 : held ? low + stride : high - stride;  // 0: the middle
      stride *= 2;
    }
    return low;
  }

  void run(Walk& walk) const noexcept {
    approach(walk);
    for (int k = 1; walk.left > 0; ++k) {
      const double stride = std::ldexp(1.0, k), half = stride / 2;
      if (!wait(walk, k)) return finish(walk, k - 1);
      if (vanishes(walk)) return;
      double here = f(k, walk.y);
      if (walk.size > here) {  // to the other side, where it is less
        if (walk.left < half) return finish(walk, k - 1);
        const double there = f(k, walk.y + half);
        walk.step(here + there, half);
        here = there;
      }
      const double q = here - walk.size;
      double n = std::floor(walk.left / stride);
      if (n > 0) {
        const auto after = [&](double steps) { return f(k, walk.y + steps * stride); };
        double value = after(n);
        if (value < q) {
          const double guess = walk.y * (std::pow(here / q, 1 / (p_ + k - 1)) - 1) / stride;
          n = last(guess, n, [&](double steps) { return after(steps) >= q; });
          value = after(n);
        }
        walk.advance(n * stride);
        walk.size = std::max(0.0, value - q);
      }
      if (walk.left < stride) return finish(walk, k);
    }
  }

  // Level 0: until the next step leads past zero.
  void approach(Walk& walk) const noexcept {
    if (walk.size < fallen(walk.y + 0.5)) return;
    double n = walk.left;
    if (sum(walk.y, n) > walk.size)
      n = last(count(walk.y, walk.size), n, [&](double steps) { return sum(walk.y, steps) <= walk.size; });
    walk.size = std::max(0.0, walk.size - sum(walk.y, n));
    walk.advance(n);
  }
  // Steps of level k - 1, one by one, while it is too early for level k: a number that does not depend on
  // what is left. False: the walk ends before.
  bool wait(Walk& walk, int k) const noexcept {
    const double stride = std::ldexp(1.0, k - 1);
    while (k > kLevels || walk.y < first(k)) {
      if (walk.left < stride) return false;
      if (vanishes(walk)) return true;
      walk.step(f(k - 1, walk.y) - f(k - 1, walk.y + stride), stride);
    }
    return true;
  }
  bool vanishes(Walk& walk) const noexcept {
    if (walk.size > kRounding * fallen(walk.y)) return false;
    walk.size = 0;
    walk.below = false;
    return true;
  }
  // What is left is less than 2^k steps.
  void finish(Walk& walk, int k) const noexcept {
    for (int i = k - 1; i >= 0; --i)
      if (const double stride = std::ldexp(1.0, i); walk.left >= stride)
        walk.step(step_of(i, walk.y), stride);
  }

  Schedule schedule_;
  double gravity_, p_;
  std::array<Series, kLevels + 1> coefficients_;
};

}  // namespace riata
