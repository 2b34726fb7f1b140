// What a rule is: how one row of state moves. It runs once a feature, so it is a template argument; the concept
// LinearRule below is the contract, and LinearModel checks it.
//
//   kDecay                        how a row that was not touched is brought current: see decay.hpp. Rules other
//                                 than `none` derive from DecayRule, and kernels learn several rows at a time.
//   kStill                        begin() does not change what current() gives: it may be kept from scoring to push
//   kPushesMany                   push_many takes all rows of an example with one column at once
//   kImplicit                     steps take the slope after them: prepare, prepare_intercept, learn_residuals and unit, see
//                                 adagrad.hpp, are called before push
//   kRemembersRates               missed steps are made up for with the factor of now: set_factor is to be told
//
//   width(m)                      doubles in a row of m columns; the first m are the (scaled) weights
//   init(row, m)                  a row of zero weights, as if it had been there from the start
//   current(row, m, c)            the weight of column c, brought current, without writing
//   catch_up(row, m)              bring the row current
//   is_live(row, m)               false: forgetting this row changes nothing
//   scale()                       weight = scale() * current()
//
//   begin(rate)                   before an example,
//   push(row, m, gradient, x)     for every feature of it: brings the row current and then moves it (a row that occurs twice
//                                 in one example is pushed twice),
//   push_many(rows, x, n, g)      or instead, where kPushesMany: rows of one column, no two of them the same,
//   push_intercept(intercept, slopes, m, rate)
//   end(rate)                     after it
//   gain(rate)                    the factor that turns a slope into the `gradient` of push
//
//   stale(), rescale(store, m)    once in a long while, visit every row
//   set_factor(factor)            learning rates are multiplied by it from now on; all rows are current
//   state_size(m), save(to), load(from)     the rule's running scalars
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>

#include "riata/base/parameters.hpp"
#include "riata/linear/decay.hpp"

namespace riata {

template <class R, class Store>
concept LinearRule = requires(R rule, const R& still, Store& store, double* row, const double* numbers, int m,
                              double* const* rows, const float* x, std::int64_t n, double rate) {
  requires std::same_as<decltype(R::kDecay), const DecayKind>;
  requires std::same_as<decltype(R::kStill), const bool>;
  requires std::same_as<decltype(R::kPushesMany), const bool>;
  requires std::same_as<decltype(R::kRemembersRates), const bool>;
  requires std::same_as<decltype(R::kImplicit), const bool>;
  { R::width(m) } -> std::same_as<int>;
  still.init(row, m);
  { still.current(numbers, m, 0) } -> std::same_as<double>;
  still.catch_up(row, m);
  { still.is_live(numbers, m) } -> std::same_as<bool>;
  { still.scale() } -> std::same_as<double>;
  rule.begin(rate);
  still.push(row, m, numbers, rate);
  still.push_many(rows, x, n, rate);
  rule.push_intercept(row, numbers, m, rate);
  rule.end(rate);
  { still.gain(rate) } -> std::same_as<double>;
  { still.decay() } -> std::same_as<Decay>;
  { still.stale() } -> std::same_as<bool>;
  rule.rescale(store, m);
  rule.set_factor(rate);
  { R::state_size(m) } -> std::same_as<int>;
  still.save(row);
  rule.load(numbers);
};

// What most rules have in common: nothing is special about them, the intercept takes a gradient step, nothing ever
// goes stale, weights are stored as they are.
struct RuleDefaults {
  static constexpr DecayKind kDecay = DecayKind::none;
  static constexpr bool kStill = false, kPushesMany = false, kRemembersRates = false, kImplicit = false;
  double scale() const noexcept { return 1; }
  double gain(double rate) const noexcept { return rate; }
  void begin(double) noexcept {}
  void push_many(double* const*, const float*, std::int64_t, double) const noexcept {}
  void push_intercept(double* intercept, const double* slopes, int m, double rate) noexcept {
    for (int c = 0; c < m; ++c) intercept[c] -= rate * slopes[c];
  }
  Decay decay() const noexcept { return {}; }
  static constexpr bool stale() noexcept { return false; }
  template <class Store>
  void rescale(Store&, int) noexcept {}
  void set_factor(double) noexcept {}
};

// A row holds m weights and, once for all of them, the mark of the rule's running scalar. The rule says kDecay,
// kStill and decay().
template <class Rule, DecayKind kind>
struct DecayRule : RuleDefaults {
  static constexpr DecayKind kDecay = kind;
  static constexpr int width(int m) noexcept { return m + 1; }
  void init(double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c) row[c] = 0;
    row[m] = self().decay().now;
  }
  void catch_up(double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c) row[c] = current(row, m, c);
    row[m] = self().decay().now;
  }
  double current(const double* row, int m, int c) const noexcept {
    return decayed<kind>(self().decay(), row[c], row[m]);
  }
  bool is_live(const double* row, int m) const noexcept {
    for (int c = 0; c < m; ++c)
      if (current(row, m, c) != 0) return true;
    return false;
  }
  void push(double* row, int m, const double* gradient, double x) const noexcept {
    for (int c = 0; c < m; ++c) row[c] = current(row, m, c) - gradient[c] * x;
    row[m] = self().decay().now;
  }

 private:
  const Rule& self() const noexcept { return static_cast<const Rule&>(*this); }
};

}  // namespace riata
