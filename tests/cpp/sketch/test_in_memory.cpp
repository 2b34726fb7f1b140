// The exact solution over examples in memory, without Python: what is found is held against the conditions of
// optimality, worked out here from the rows.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "check.hpp"
#include "riata/sketch/example_columns.hpp"
#include "riata/sketch/in_memory.hpp"
#include "sketch/rows.hpp"

using namespace riata;

namespace {

std::mt19937_64 rng(20260);

double normal() { return std::normal_distribution<double>()(rng); }

struct Problem {
  Rows rows;
  std::size_t features = 0;
  std::vector<double> signs, weights, offsets, low, high;  // but for the signs, empty: there are none
  InMemoryTask task;

  std::size_t size() const { return signs.size(); }
  InMemoryTask whole() const {
    InMemoryTask t = task;
    t.signs = signs.data();
    if (!weights.empty()) t.weights = weights.data();
    if (!offsets.empty()) t.offsets = offsets.data();
    if (!low.empty()) t.bounds = {low.data(), high.data()};
    return t;
  }
  ExampleColumns columns() const { return {rows.view(0, size()), features}; }
};

struct Found {
  std::vector<double> b, pulls;
  double b0 = 0, objective = 0, gap = 0;
  bool converged = false;
  bool operator==(const Found&) const = default;
};

Found find(InMemory& solver, std::vector<double> b, double b0) {
  Found found;
  found.converged = solver.solve(b, b0);
  found.b = std::move(b), found.b0 = b0;
  found.pulls = solver.pulls, found.objective = solver.objective, found.gap = solver.gap;
  return found;
}

// Whatever was solved before, the bits are the same: by a solver of its own, and twice by the same one.
Found solve(const Problem& p, const std::vector<double>& b, double b0, const Link& link = kLinks[0]) {
  const ExampleColumns x = p.columns(), again = p.columns();
  InMemory one(link, x, p.whole()), other(link, again, p.whole());
  const Found found = find(one, b, b0);
  CHECK(find(one, b, b0) == found);
  CHECK(find(other, b, b0) == found);
  return found;
}
Found solve(const Problem& p, const Link& link = kLinks[0]) {
  return solve(p, std::vector<double>(p.features, 0.0), 0, link);
}

// Of the rows as they were given, at some weights: nothing here is the solver's.
struct Facts {
  double losses = 0, penalty = 0, pull0 = 0, curvature0 = 0;
  std::vector<double> pulls, curvatures;  // the latter at the most, wherever one goes
  double objective() const { return losses + penalty; }
};

// -ln F(z) and its slope, by the C library.
std::pair<double, double> loss_and_slope(double z, bool probit) {
  if (!probit)
    return {z > 0 ? std::log1p(std::exp(-z)) : std::log1p(std::exp(z)) - z, -1 / (1 + std::exp(z))};
  const double f = std::erfc(-z / std::sqrt(2.0)) / 2;
  return {-std::log(f), -std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0)) / f};
}

Facts facts_at(const Problem& p, const std::vector<double>& b, double b0, const Link& link) {
  const bool probit = link.name == "probit";
  Facts facts;
  facts.pulls.assign(p.features, 0.0), facts.curvatures.assign(p.features, 0.0);
  for (std::size_t i = 0; i < p.size(); ++i) {
    const auto begin = static_cast<std::size_t>(p.rows.indptr[i]),
               end = static_cast<std::size_t>(p.rows.indptr[i + 1]);
    double margin = b0 + (p.offsets.empty() ? 0 : p.offsets[i]);
    std::vector<double> row(p.features, 0.0);
    for (std::size_t k = begin; k < end; ++k)
      row[static_cast<std::size_t>(p.rows.indices[k])] += static_cast<double>(p.rows.values[k]);
    for (std::size_t j = 0; j < p.features; ++j) margin += row[j] * b[j];
    const double w = p.weights.empty() ? 1 : p.weights[i];
    const auto [loss, slope] = loss_and_slope(p.signs[i] * margin, probit);
    facts.losses += w * loss;
    facts.pull0 -= w * p.signs[i] * slope;
    facts.curvature0 += w * (probit ? 1 : 0.25);
    for (std::size_t j = 0; j < p.features; ++j) {
      facts.pulls[j] -= w * p.signs[i] * slope * row[j];
      facts.curvatures[j] += w * (probit ? 1 : 0.25) * row[j] * row[j];
    }
  }
  for (const double u : b) facts.penalty += p.task.gamma * std::fabs(u);
  if (p.task.intercept) facts.penalty += p.task.gamma0 * std::fabs(b0);
  return facts;
}

// The step that a coordinate would take to the minimum of a parabola that is nowhere below its loss, times the
// parabola's curvature. It is 0 at an optimum and only there; and a step gains residual^2 / (2 curvature) at the least,
// so that it is at most sqrt(2 curvature gap).
double residual(double b, double pull, double curvature, double gamma, double low, double high) {
  if (!(curvature > 0)) return std::fabs(b - std::fmin(std::fmax(0, low), high)) * gamma;
  const double to = b + pull / curvature, size = std::fabs(to) - gamma / curvature;
  return curvature * std::fabs(b - std::fmin(std::fmax(size > 0 ? std::copysign(size, to) : 0, low), high));
}

bool close(double a, double b, double scale) { return std::fabs(a - b) <= 1e-9 * (1 + scale); }

// True of every answer: it is finite, inside its bounds, and what is said of it is so.
Facts check_honest(const Problem& p, const Found& found, const Link& link) {
  for (std::size_t j = 0; j < p.features; ++j) {
    CHECK(std::isfinite(found.b[j]));
    CHECK(p.low.empty() || (found.b[j] >= p.low[j] && found.b[j] <= p.high[j]));
  }
  CHECK(p.task.intercept ? std::isfinite(found.b0) : found.b0 == 0);
  CHECK(found.gap >= 0);
  CHECK(!found.converged || found.gap <= p.task.tolerance * found.objective);
  Facts facts = facts_at(p, found.b, found.b0, link);
  CHECK(close(found.objective, facts.objective(), facts.objective()));
  for (std::size_t j = 0; j < p.features; ++j)
    CHECK(close(found.pulls[j], facts.pulls[j],
                std::sqrt(facts.curvatures[j] * static_cast<double>(p.size()))));
  return facts;
}

// The answer is the minimum, up to the tolerance.
void check_optimal(const Problem& p, const Found& found, const Link& link = kLinks[0]) {
  CHECK(found.converged);
  const Facts facts = check_honest(p, found, link);
  const auto allowed = [&](double curvature) {
    return std::sqrt(2 * curvature * p.task.tolerance * facts.objective()) + 1e-9 * (1 + curvature);
  };
  for (std::size_t j = 0; j < p.features; ++j)
    CHECK(residual(found.b[j], facts.pulls[j], facts.curvatures[j], p.task.gamma,
                   p.low.empty() ? -HUGE_VAL : p.low[j],
                   p.high.empty() ? HUGE_VAL : p.high[j]) <= allowed(facts.curvatures[j]));
  if (p.task.intercept)
    CHECK(residual(found.b0, facts.pull0, facts.curvature0, p.task.gamma0, -HUGE_VAL, HUGE_VAL) <=
          allowed(facts.curvature0));
}

Problem make_problem(int n, int d) {
  Problem p;
  p.rows = make_rows(n, d, rng);
  p.features = static_cast<std::size_t>(d);
  for (const double label : p.rows.labels) p.signs.push_back(label > 0 ? 1 : -1);
  if (n > 1) p.signs[0] = 1, p.signs[1] = -1;
  p.task.tolerance = 1e-9;
  return p;
}

void add_weights_and_offsets(Problem& p) {
  for (std::size_t i = 0; i < p.size(); ++i) {
    p.weights.push_back(i > 1 && i % 5 == 0 ? 0 : std::fabs(normal()) + 0.1);
    p.offsets.push_back(3 * normal());
  }
}

enum class Limits { none, not_negative, box, fixed, without_zero, mixed };

void add_bounds(Problem& p, Limits limits) {
  for (std::size_t j = 0; j < p.features && limits != Limits::none; ++j) {
    const Limits kind = limits == Limits::mixed ? static_cast<Limits>(rng() % 5) : limits;
    const double some = normal() / 5;
    double low = -HUGE_VAL, high = HUGE_VAL;
    if (kind == Limits::not_negative) low = 0;
    if (kind == Limits::box) low = -0.07, high = 0.13;
    if (kind == Limits::fixed) low = high = some;
    if (kind == Limits::without_zero) (some > 0 ? low : high) = some;
    p.low.push_back(low), p.high.push_back(high);
  }
}

constexpr Limits kEveryLimits[] = {Limits::none,  Limits::not_negative, Limits::box,
                                   Limits::fixed, Limits::without_zero, Limits::mixed};

// Every kind of intercept, bounds and start, few examples and many.
void test_optimality() {
  for (const Link& link : kLinks)
    for (const auto& [n, d] : {std::pair{2, 1}, {12, 5}, {60, 20}, {40, 150}, {300, 30}})
      for (const Limits limits : kEveryLimits)
        for (const double gamma0 : {-1.0, 0.0, 0.3, 1.0, 4.0})
          for (const double gamma : {0.1, 1.0}) {
            Problem p = make_problem(n, d);
            p.task.gamma = gamma;
            p.task.intercept = gamma0 >= 0;
            p.task.gamma0 = gamma0 > 0 ? gamma0 * gamma : 0;
            add_bounds(p, limits);
            if (rng() % 2 == 0) add_weights_and_offsets(p);
            check_optimal(p, solve(p, link), link);
            std::vector<double> start(p.features);
            for (double& b : start) b = rng() % 2 == 0 ? 0 : normal();
            check_optimal(p, solve(p, start, p.task.intercept ? normal() : 0, link), link);
          }
}

// A feature twice in a row counts with the sum of both; values are such that sums are exact.
void test_repeated_features() {
  for (const Limits limits : kEveryLimits) {
    Problem p;
    p.features = 6;
    p.task.tolerance = 1e-9;
    for (int i = 0; i < 50; ++i) {
      const auto first = static_cast<std::int32_t>(rng() % 6), second = static_cast<std::int32_t>(rng() % 6);
      for (const std::int32_t j : {first, second, first, first}) {
        p.rows.indices.push_back(j);
        p.rows.values.push_back(static_cast<float>(static_cast<int>(rng() % 257) - 128) / 64);
      }
      p.rows.indptr.push_back(static_cast<std::int64_t>(p.rows.indices.size()));
      p.signs.push_back(i < 2 ? 2 * i - 1 : normal() > 0 ? 1 : -1);
    }
    p.rows.labels = p.signs;
    add_bounds(p, limits);
    check_optimal(p, solve(p));
  }
}

// Columns without entries, of zeros alone, of one value, of the same values: from weights that they need not have.
void test_idle_columns() {
  for (const Limits limits : kEveryLimits)
    for (const double gamma0 : {-1.0, 0.0, 1.0}) {
      Problem p;
      p.features = 7;
      p.task.tolerance = 1e-9;
      p.task.intercept = gamma0 >= 0, p.task.gamma0 = gamma0 > 0 ? gamma0 : 0;
      for (int i = 0; i < 40; ++i) {
        const auto v = static_cast<float>(normal());
        const std::pair<std::int32_t, float> row[] = {{1, 0}, {2, 3}, {3, v}, {4, v}, {5, -v}};
        for (const auto& [j, value] : row) p.rows.indices.push_back(j), p.rows.values.push_back(value);
        p.rows.indptr.push_back(static_cast<std::int64_t>(p.rows.indices.size()));
        p.signs.push_back(v + 1 + normal() > 0 ? 1 : -1);
      }
      p.rows.labels = p.signs;
      add_bounds(p, limits);
      check_optimal(p, solve(p));
      check_optimal(p, solve(p, {1, -2, 0.5, 3, -1, 1, -4}, p.task.intercept ? 2 : 0));
      p.weights.assign(40, 0.0);  // now no column has an entry that counts
      const Found none = solve(p, {1, -2, 0.5, 3, -1, 1, -4}, p.task.intercept ? 2 : 0);
      check_honest(p, none, kLinks[0]);
      for (std::size_t j = 0; j < p.features; ++j)
        CHECK(none.b[j] == (p.low.empty() ? 0 : std::fmin(std::fmax(0, p.low[j]), p.high[j])));
      if (gamma0 > 0) CHECK(none.b0 == 0);
    }
}

// No examples, no features, neither.
void test_nothing() {
  for (const auto& [n, d] : {std::pair{0, 0}, {0, 4}, {6, 0}, {1, 0}})
    for (const double gamma0 : {-1.0, 1.0}) {
      Problem p = make_problem(n, d);
      p.task.intercept = gamma0 > 0, p.task.gamma0 = std::fmax(0, gamma0);
      check_optimal(p, solve(p));
      check_optimal(p, solve(p, std::vector<double>(p.features, 0.5), p.task.intercept ? -2 : 0));
    }
  const ExampleColumns none(BlockView<std::int32_t>{}, 3);
  CHECK(none.rows() == 0 && none.features() == 3 && none.entries(2) == 0 && none.largest() == 0);
}

// Labels of one class: a penalized intercept has a best place; a free one goes off, and no answer is called optimal.
void test_one_class() {
  for (const double sign : {-1.0, 1.0})
    for (const Limits limits : kEveryLimits) {
      Problem p = make_problem(50, 15);
      p.signs.assign(50, sign);
      add_bounds(p, limits);
      p.task.gamma0 = 1;
      check_optimal(p, solve(p));
      p.task.intercept = false;
      check_optimal(p, solve(p));
      p.task.intercept = true, p.task.gamma0 = 0;
      const Found found = solve(p);
      for (const double b : found.b) CHECK(std::isfinite(b));
      CHECK(std::isfinite(found.b0) && found.b0 * sign > 5);
      const Facts at_zero = facts_at(p, std::vector<double>(15, 0.0), 0, kLinks[0]);
      CHECK(limits != Limits::none || (!found.converged && found.objective < at_zero.objective() / 100));
    }
}

// Not more features than there is room for; and where there is room, or among those that are there, an optimum.
void test_capacity() {
  for (const std::size_t capacity : {1u, 3u, 10u, 200u})
    for (const Limits limits : {Limits::none, Limits::not_negative, Limits::box}) {
      Problem p = make_problem(200, 40);
      p.task.capacity = capacity;
      add_bounds(p, limits);
      const Found found = solve(p);
      const Facts facts = check_honest(p, found, kLinks[0]);
      const auto live =
          p.features - static_cast<std::size_t>(std::count(found.b.begin(), found.b.end(), 0.0));
      CHECK(live <= capacity);
      CHECK(live > 0);
      if (live < capacity) check_optimal(p, found);
      for (std::size_t j = 0; j < p.features; ++j)
        if (found.b[j] != 0)
          CHECK(residual(found.b[j], facts.pulls[j], facts.curvatures[j], 1,
                         p.low.empty() ? -HUGE_VAL : p.low[j], p.high.empty() ? HUGE_VAL : p.high[j]) < 1e-3);
    }
}

// Hundreds of features that hardly ever occur, some of them always together: little work, by a sparse system.
void test_rare_features() {
  for (const auto& [limits, gamma0] :
       {std::pair{Limits::none, 0.0}, {Limits::none, 0.05}, {Limits::box, 0.05}}) {
    Problem p;
    p.features = 2400;
    for (std::size_t i = 0; i < 1500; ++i) {
      for (const std::size_t j : {rng() % 20, 20 + rng() % 780, 800 + rng() % 800})
        for (std::size_t k = j; k < p.features;
             k += j < 1400 ? p.features : 800)  // the last come with a copy
          p.rows.indices.push_back(static_cast<std::int32_t>(k)), p.rows.values.push_back(1);
      p.rows.indptr.push_back(static_cast<std::int64_t>(p.rows.indices.size()));
      p.signs.push_back(normal() + static_cast<double>(p.rows.indices.back() % 3) > 1 ? 1 : -1);
    }
    p.rows.labels = p.signs;
    p.task.gamma = 0.05, p.task.gamma0 = gamma0, p.task.tolerance = 1e-8, p.task.work = 2e7;
    add_bounds(p, limits);
    check_optimal(p, solve(p));
  }
}

// Another unit, a power of two: without an intercept, the same bits in that unit.
void test_units() {
  for (const int power : {-100, -40, 40, 100}) {
    Problem p = make_problem(120, 30);
    p.task.intercept = false;
    const Found found = solve(p);
    check_optimal(p, found);
    for (float& value : p.rows.values) value = std::ldexp(value, power);
    p.task.gamma = std::ldexp(p.task.gamma, power);
    const Found other = solve(p);
    CHECK(other.converged && other.objective == found.objective && other.gap == found.gap);
    for (std::size_t j = 0; j < p.features; ++j) CHECK(std::ldexp(other.b[j], power) == found.b[j]);
  }
}

// Columns in units that have nothing to do with each other, and margins that are far off. Rounding alone may keep the
// largest from its optimum: then that is said.
void test_huge_and_tiny() {
  for (const Limits limits : {Limits::none, Limits::mixed})
    for (const double size : {1e-38, 1e-20, 1e-5, 1e5, 1e38}) {
      Problem p = make_problem(30, 6);
      p.task.tolerance = 1e-6, p.task.steps = 20;
      add_bounds(p, limits);
      for (std::size_t k = 0; k < p.rows.indices.size(); ++k)
        if (p.rows.indices[k] == 3)
          p.rows.values[k] = static_cast<float>(std::copysign(size, p.rows.values[k]));
      if (!p.low.empty()) p.low[3] = -HUGE_VAL, p.high[3] = HUGE_VAL;
      const Found found = solve(p);
      for (const double b : found.b) CHECK(std::isfinite(b));
      const Facts zero = facts_at(p, std::vector<double>(6, 0.0), 0, kLinks[0]);
      CHECK(std::isfinite(found.objective));
      CHECK(!p.low.empty() || found.objective <= zero.objective() * (1 + 1e-9));
      if (size <= 1e5) check_optimal(p, found);
    }
  for (const double far : {50.0, 1e4, 1e6}) {
    Problem p = make_problem(60, 10);
    for (std::size_t i = 0; i < p.size(); ++i) p.offsets.push_back(i % 2 == 0 ? far : -far);
    const Found found = solve(p);
    check_optimal(p, found);
  }
}

// What is infinite has no optimum, and none is claimed.
void test_infinite() {
  Problem p = make_problem(30, 4);
  for (float& value : p.rows.values) value = 3e38f;
  p.low.assign(4, 1e300), p.high.assign(4, 1e301);
  CHECK(!solve(p).converged);
}

}  // namespace

int main() {
  test_optimality();
  test_repeated_features();
  test_idle_columns();
  test_nothing();
  test_one_class();
  test_capacity();
  test_rare_features();
  test_units();
  test_huge_and_tiny();
  test_infinite();
  return check::failures();
}
