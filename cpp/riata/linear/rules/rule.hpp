// What a rule is. A rule knows how one row of state moves; it runs once a feature, so it is a template
// argument.
//
//   static int width(int m)                     doubles in a row of m columns; the first m are the (scaled)
//   weights void init(double* row, int m)              a row of zero weights, as if it had been there from
//   the start double current(const double* row, int m, int c)     the weight of column c, brought current,
//   without writing void catch_up(double* row, int m)             bring the row current bool is_live(const
//   double* row, int m)       false: forgetting this row changes nothing double scale() weight = scale *
//   value brought current begin(rate); push(row, m, gradient, x) for every feature of the example; end(rate)
//       push brings the row current and then moves it; a row met twice in one example is pushed twice
//   double gain(rate)                           the factor that turns a slope into the `gradient` of push
//   push_intercept(intercept, slopes, m, rate)
//   stale(), rescale(store, m)                  once in a long while, visit every row
//   state_size(m), save(rule_state), load(rule_state)     the rule's running scalars
#pragma once

#include <cmath>
#include <cstdint>

#include "riata/base/parameters.hpp"
#include "riata/simd/wide.hpp"

namespace riata {

// Most rules: the intercept takes a plain gradient step, nothing ever goes stale, weights are stored as they
// are.
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
//
//   double now()                    that scalar
//   T at(T v, T mark)               the weight v once all that happened since the mark is made up for
//   kStill                          begin() does not move now(): what was brought current for scoring still
//   is
//
// T is double or Wide: a single column in a store of distinct rows is learned several rows at a time.
template <class Rule>
struct Marked : PlainRule {
  static constexpr bool kMarked = true;
  static constexpr int width(int m) noexcept { return m + 1; }
  void init(double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c) row[c] = 0;
    row[m] = self().now();
  }
  void catch_up(double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c) row[c] = self().at(row[c], row[m]);
    row[m] = self().now();
  }
  double current(const double* row, int m, int c) const noexcept { return self().at(row[c], row[m]); }
  bool is_live(const double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c)
      if (current(row, m, c) != 0) return true;
    return false;
  }
  void push(double* row, int m, const double* gradient, double x) const noexcept {
    for (int c = 0; c < m; ++c) row[c] = self().at(row[c], row[m]) - gradient[c] * x;
    row[m] = self().now();
  }

 private:
  const Rule& self() const noexcept { return static_cast<const Rule&>(*this); }
};

}  // namespace riata
