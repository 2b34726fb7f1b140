// What a rule is. A rule knows how one row of state moves; it runs once a feature, so it is a template argument.
//
//   static int width(int m)                     doubles in a row of m columns; the first m are the (scaled) weights
//   void fresh(double* row, int m)              a row of zero weights, as if it had been there from the start
//   void settle(double* row, int m)             bring it current
//   double peek(const double* row, int m, int c)     the settled weight of column c, without writing
//   bool needed(const double* row, int m)       false: forgetting this row changes nothing
//   double scale()                              weight = scale * settled value
//   begin(rate); push(row, m, gradient, x) for every feature of the example; end(rate)
//   double gain(rate)                           the factor that turns a slope into the `gradient` of push
//   push_intercept(intercept, slopes, m, rate)
//   stale(), rescale(store, m)                  once in a long while, visit every row
//   clock_size(m), save(clock), load(clock)     the rule's running scalars
#pragma once

#include <cmath>
#include <cstdint>

#include "riata/numbers.hpp"

namespace riata {

inline double shrink(double v, double by) noexcept {  // towards zero, by >= 0
  const double a = std::fabs(v) - by;
  return std::copysign(a > 0 ? a : 0.0, v);
}

// Most rules: the intercept takes a plain gradient step, nothing ever goes stale, weights are stored as they are.
struct PlainRule {
  double scale() const noexcept { return 1; }
  double gain(double rate) const noexcept { return rate; }
  void begin(double) noexcept {}
  void push_intercept(double* intercept, const double* slopes, int m, double rate) noexcept {
    for (int c = 0; c < m; ++c) intercept[c] -= rate * slopes[c];
  }
  static constexpr bool stale() noexcept { return false; }
  template <class Store>
  void rescale(Store&, int) noexcept {}
};

// A row holds m weights and, once for all of them, the mark of a running scalar at the last touch.
// Rule::at(v, mark) is the weight v once all that happened since the mark is made up for.
template <class Rule>
struct Marked : PlainRule {
  static constexpr int width(int m) noexcept { return m + 1; }
  void fresh(double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c) row[c] = 0;
    row[m] = self().now();
  }
  void settle(double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c) row[c] = self().at(row[c], row[m]);
    row[m] = self().now();
  }
  double peek(const double* row, int m, int c) const noexcept { return self().at(row[c], row[m]); }
  bool needed(const double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c)
      if (peek(row, m, c) != 0) return true;
    return false;
  }

 private:
  const Rule& self() const noexcept { return static_cast<const Rule&>(*this); }
};

}  // namespace riata
