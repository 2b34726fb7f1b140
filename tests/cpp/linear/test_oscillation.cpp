// Walks around zero (rules/oscillation.hpp) against the same walks taken step by step, in long double.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <random>
#include <vector>

#include "check.hpp"
#include "riata/linear/rules/oscillation.hpp"

using namespace riata;

namespace {

constexpr double kGravity = 0.01, kFactor = 0.9;
const Schedule kRates[] = {
    {Schedule::Kind::constant, 0.5, 0.5},   {Schedule::Kind::inv_sqrt, 0.5, 0.5},
    {Schedule::Kind::inv_t, 2.0, 0.5},      {Schedule::Kind::invscaling, 0.5, 0.7},
    {Schedule::Kind::invscaling, 0.5, 0.0}, {Schedule::Kind::invscaling, 0.5, 0.02},
    {Schedule::Kind::invscaling, 0.3, 1.3}, {Schedule::Kind::invscaling, 1.0, 3.0},
};

double step_at(const Schedule& schedule, std::uint64_t t) { return kFactor * schedule(t) * kGravity; }

struct Taken {
  long double w;
  double closest;  // how close to zero it came before its last step, in steps
};

Taken take(const Schedule& schedule, double w, std::uint64_t from, std::uint64_t to) {
  Taken taken{w, 1e300};
  for (std::uint64_t t = from; t < to; ++t) {
    const double step = step_at(schedule, t);
    taken.closest = std::min(taken.closest, std::fabs(static_cast<double>(taken.w)) / step);
    taken.w -= std::copysign(static_cast<long double>(step), taken.w);
  }
  return taken;
}

// The size of a weight is well conditioned, | |w| - a | from step to step, and has to be right always, unless
// the weight has come within a rounding of zero: there it stays. Its sign has to be right wherever it does
// not hang on roundings.
void against_steps(const Schedule& schedule, std::uint64_t latest, double longest, int walks) {
  const Oscillation oscillation(schedule, kGravity);
  std::mt19937_64 random(latest);
  std::uniform_real_distribution<double> uniform;
  int decided = 0;
  for (int i = 0; i < walks; ++i) {
    const auto from = static_cast<std::uint64_t>(uniform(random) * static_cast<double>(latest));
    const std::uint64_t to = from + static_cast<std::uint64_t>(std::pow(longest, uniform(random)));
    const double reach = std::pow(10.0, 3 * uniform(random) - 1);
    const double w = (2 * uniform(random) - 1) * reach * step_at(schedule, from);
    const Taken taken = take(schedule, w, from, to);
    const double got = oscillation(w, from, to, kFactor), expected = static_cast<double>(taken.w);
    const double largest = std::max(std::fabs(w), step_at(schedule, from));
    // One rounding of the steps, at random, each: far less than that for all of them.
    const double tolerance = 1e-12 * largest, near = tolerance / step_at(schedule, to);
    if (got == 0) {
      CHECK(taken.closest <= near || std::fabs(expected) <= tolerance);
    } else {
      CHECK(std::fabs(std::fabs(got) - std::fabs(expected)) <= tolerance);
      if (taken.closest > near) {
        CHECK(std::fabs(got - expected) <= tolerance);
        ++decided;
      }
    }
  }
  CHECK(decided > walks / 4);
}

// Where nobody can take all the steps: a walk is a walk to any time between and on from there.
void in_two_parts(const Schedule& schedule, double latest) {
  const Oscillation oscillation(schedule, kGravity);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform;
  int compared = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto from = static_cast<std::uint64_t>(std::pow(latest, 0.3 + 0.7 * uniform(random)));
    const auto gap = [&] { return static_cast<std::uint64_t>(std::pow(latest, uniform(random))); };
    const std::uint64_t middle = from + gap(), to = middle + gap();
    const double w = (2 * uniform(random) - 1) * 30 * step_at(schedule, from);
    const double whole = oscillation(w, from, to, kFactor);
    const double half = oscillation(w, from, middle, kFactor);
    if (half == 0) CHECK(whole == 0);
    const double parts = half == 0 ? 0 : oscillation(half, middle, to, kFactor);
    CHECK(std::fabs(whole) <= std::fabs(w) || std::fabs(whole) <= 1.001 * step_at(schedule, from));
    if (whole == 0 || parts == 0) continue;
    const double largest = std::max(std::fabs(w), step_at(schedule, from));
    CHECK(std::fabs(std::fabs(whole) - std::fabs(parts)) <= 1e-12 * largest);
    ++compared;
  }
  CHECK(compared > 200);
}

// A weight that has come to zero stays there, and all of them come to zero.
void once_zero_always_zero(const Schedule& schedule) {
  const Oscillation oscillation(schedule, kGravity);
  int left = 0;
  for (int i = 1; i < 100; ++i) {
    const double w = 0.013 * i * step_at(schedule, 60);
    bool gone = false;
    for (std::uint64_t gap = 1; gap < 1'000'000'000'000; gap += 1 + gap / 3) {
      const bool zero = oscillation(w, 60, 60 + gap, kFactor) == 0;
      CHECK(zero || !gone);
      gone = zero;
    }
    left += !gone;
  }
  CHECK(left == 0 || schedule.power_t < 0.1);  // rates that hardly fall take longer
}

double seconds(const Oscillation& oscillation, const Schedule& schedule, std::uint64_t gap) {
  double best = 1e300, sum = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const std::clock_t start = std::clock();
    for (std::uint64_t i = 0; i < 3000; ++i)
      sum += oscillation(step_at(schedule, i) * (0.0007 * static_cast<double>(i) + 0.01), 1000 + i,
                         1000 + i + gap, kFactor);
    best = std::min(best, static_cast<double>(std::clock() - start));
  }
  CHECK(std::isfinite(sum));
  return best;
}

void as_long_for_a_long_gap(const Schedule& schedule) {
  const Oscillation oscillation(schedule, kGravity);
  const double little = seconds(oscillation, schedule, 1000);
  CHECK(seconds(oscillation, schedule, 10'000'000) < 20 * little);
  CHECK(seconds(oscillation, schedule, 10'000'000'000'000) < 20 * little);
}

}  // namespace

int main() {
  for (const Schedule& schedule : kRates) {
    against_steps(schedule, 5, 100, 3000);
    against_steps(schedule, 300, 1000, 3000);
    against_steps(schedule, 100'000, 100'000, 60);
    if (schedule.kind == Schedule::Kind::constant || schedule.power_t == 0) continue;
    in_two_parts(schedule, 1e7);
    in_two_parts(schedule, 1e12);
    once_zero_always_zero(schedule);
    as_long_for_a_long_gap(schedule);
  }
  return check::failures();
}
