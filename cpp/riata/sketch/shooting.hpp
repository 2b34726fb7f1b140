// Modified Shooting (Balakrishnan & Madigan 2008, Algorithm 1): coordinate descent on
//
//   b'H b / 2 - c'b + sum gamma_j |b_j|,      H = -2 Psi and c = theta in the paper's letters.
//
// Where there are bounds, low_j <= b_j <= high_j: in one coordinate the function is convex, so its minimum there
// is the free one, or else the bound that is nearest to it.
//
// It keeps r = c - H b, the negative gradient, current: the paper's Omega_j is r_j + H_jj b_j. A coordinate
// that moves costs its column of H, one that stays costs nothing. Sweeps alternate between all coordinates
// and those that are not zero. Where features go together, sweeps take forever; so, whenever sweeps have cost as much
// as that, those that are not zero go to their optimum together, by a linear system, as far as none of them changes
// sign.
//
// A Matrix has size(), diagonal(j) and subtract_column(j, delta, r): r -= delta * H[:, j].
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "riata/sketch/cholesky.hpp"

namespace riata {

struct ShootingStop {
  double change = 1e-6;  // stop when a sweep moved b by less than this, relative to b, in the Euclidean norm
  double violation = 0;  // or when no coordinate violates optimality by more than this
  int sweeps = 10000;
};

struct ShootingReport {
  int sweeps = 0;
  bool converged = false;
};

struct CoordinateBounds {  // by coordinate; null: there are none
  const double* low = nullptr;
  const double* high = nullptr;
};

// By how much coordinate j violates optimality: the distance of 0 from the subdifferential.
inline double violation_at(double r, double b, double gamma) noexcept {
  if (b > 0) return std::fabs(r - gamma);
  if (b < 0) return std::fabs(r + gamma);
  return std::fmax(0, std::fabs(r) - gamma);
}

// The same inside bounds: only what a move that they allow would gain.
inline double violation_at(double r, double b, double gamma, double low, double high) noexcept {
  const double up = b < high ? r - (b >= 0 ? gamma : -gamma) : 0;
  const double down = b > low ? (b > 0 ? gamma : -gamma) - r : 0;
  return std::fmax(0, std::fmax(up, down));
}

template <class Matrix>
class Shooting {
 public:
  // b and r are read and written; gamma has an entry a coordinate.
  Shooting(const Matrix& h, const double* gamma, double* b, double* r, CoordinateBounds bounds = {}) noexcept
      : h_(h), gamma_(gamma), b_(b), r_(r), bounds_(bounds) {}

  // `first`: coordinates to bring in order before the first full sweep; may be empty.
  ShootingReport run(const ShootingStop& stop, std::vector<std::size_t> first = {}) {
    ShootingReport report;
    const std::size_t n = h_.size();
    std::vector<std::size_t> live = std::move(first);
    int last = 0, factor = 1;  // the sweep of the last linear system; what its wait is multiplied by
    while (report.sweeps < stop.sweeps) {
      while (!live.empty() && report.sweeps < stop.sweeps) {
        ++report.sweeps;
        if (done(stop, sweep(live))) break;
        if (report.sweeps >= last + factor * wait(live.size())) {
          factor = go_together(live) ? 1 : 2 * factor;
          last = report.sweeps;
        }
      }
      if (report.sweeps == stop.sweeps) break;
      ++report.sweeps;
      begin();
      for (std::size_t j = 0; j < n; ++j) move(j);
      live.clear();
      double worst = 0;
      for (std::size_t j = 0; j < n; ++j) {
        if (b_[j] != 0) live.push_back(j);
        if (h_.diagonal(j) > kNone) worst = std::fmax(worst, violation(j));
      }
      if (done(stop, worst)) {
        report.converged = true;
        break;
      }
    }
    return report;
  }

 private:
  static constexpr double kNone = 1e-200;  // less is none: such a feature goes to zero or stays where it is

  static constexpr std::size_t kLeastWait = 4;                // sweeps before a linear system
  static constexpr std::size_t kMost = 1500;                  // of its size
  static constexpr std::size_t kWork = std::size_t{1} << 30;  // products, before sweeps go on
  static constexpr double kFlat = 1e-9;                       // of the penalty: less is no pull
  static constexpr double kForEver = 1e12;  // of a step where there is no curvature: something will stop it

  // Sweeps over m coordinates that cost what their linear system does, m^3 / 6 products against m n.
  int wait(std::size_t m) const noexcept {
    return static_cast<int>(std::max(kLeastWait, m * m / (6 * h_.size())));
  }

  // Coordinates that are not zero and not at a bound go to their optimum; where one of them comes to zero or to a bound
  // on the way, it stays there, and the others go on. Whether they got there.
  bool go_together(const std::vector<std::size_t>& live) {
    std::vector<std::size_t> some;
    for (const std::size_t j : live)
      if (b_[j] != 0 && h_.diagonal(j) > kNone &&
          (bounds_.low == nullptr || (b_[j] > bounds_.low[j] && b_[j] < bounds_.high[j])))
        some.push_back(j);
    if (some.size() > kMost) return false;
    for (std::size_t work = 0; !some.empty() && work < kWork;
         work += some.size() * some.size() * some.size()) {
      const std::vector<double> step = direction(some);
      if (step.empty()) return true;
      const std::size_t stops = go(some, step);
      if (stops == some.size()) return along_curvature_;
      some.erase(some.begin() + static_cast<std::ptrdiff_t>(stops));
    }
    return false;
  }

  // To the optimum of these coordinates; or, where they are there but for directions without curvature, along one of
  // those in which the penalty falls, for ever. Empty: there is no better place.
  std::vector<double> direction(const std::vector<std::size_t>& some) {
    const std::size_t m = some.size();
    std::vector<double> system(m * m), step(m), column(h_.size());
    for (std::size_t i = 0; i < m; ++i) {
      column.assign(column.size(), 0.0);
      h_.subtract_column(some[i], -1.0, column.data());
      for (std::size_t k = 0; k < m; ++k) system[i * m + k] = column[some[k]];
      step[i] = r_[some[i]] - std::copysign(gamma_[some[i]], b_[some[i]]);
    }
    const std::vector<double> pull = step, whole = system;
    const std::vector<std::size_t> dependent = solve_symmetric(system, step);
    along_curvature_ = true;
    double steepest = 0;
    std::size_t best = m;
    for (const std::size_t i : dependent) {
      double left = pull[i];  // of its equation
      for (std::size_t k = 0; k < m; ++k) left -= whole[i * m + k] * step[k];
      if (std::fabs(left) > kFlat * gamma_[some[i]] && std::fabs(left) > std::fabs(steepest))
        steepest = left, best = i;
    }
    if (best == m) return step;
    // With coordinate `best` up by one, the others move so that no equation but its own changes.
    std::vector<double> flat(m);
    for (std::size_t k = 0; k < m; ++k) flat[k] = -whole[k * m + best];
    for (const std::size_t i : dependent) flat[i] = 0;
    substitute(system, flat);
    flat[best] = 1;
    for (double& value : flat) value = std::copysign(1.0, steepest) * value * kForEver;
    along_curvature_ = false;
    return flat;
  }

  // Along the step, as far as the first coordinate comes to zero or to a bound: which; or to its end.
  std::size_t go(const std::vector<std::size_t>& some, const std::vector<double>& step) {
    const std::size_t m = some.size();
    double part = along_curvature_ ? 1 : 0;
    std::size_t stops = m;
    for (std::size_t i = 0; i < m; ++i) {
      const double from = b_[some[i]], to = from + step[i];
      const double end = inside(some[i], (from > 0) != (to > 0) ? 0 : to);
      if (end == to) continue;
      const double reach = (end - from) / step[i];
      if (stops == m ? along_curvature_ ? reach < part : true : reach < part) part = reach, stops = i;
    }
    if (!(part >= 0 && std::isfinite(part))) return m;
    for (std::size_t i = 0; i < m; ++i) {
      const double from = b_[some[i]], to = from + step[i];
      double next = from + part * step[i];
      if (i == stops) next = inside(some[i], (from > 0) != (to > 0) ? 0 : to);
      if (std::isfinite(next)) set(some[i], next);
    }
    return stops;
  }

  void begin() noexcept { moved_ = length_ = 0; }

  double violation(std::size_t j) const noexcept {
    if (bounds_.low == nullptr) return violation_at(r_[j], b_[j], gamma_[j]);
    return violation_at(r_[j], b_[j], gamma_[j], bounds_.low[j], bounds_.high[j]);
  }
  double inside(std::size_t j, double next) const noexcept {
    if (bounds_.low == nullptr) return next;
    return std::fmin(std::fmax(next, bounds_.low[j]), bounds_.high[j]);
  }

  void move(std::size_t j) noexcept {
    const double d = h_.diagonal(j);
    const double old = b_[j];
    length_ += old * old;
    if (!(d > kNone)) {
      const double none = inside(j, 0);
      if (old != none && std::fabs(r_[j]) < gamma_[j]) set(j, none);
      return;
    }
    const double omega = r_[j] + d * old;
    const double size = std::fabs(omega) - gamma_[j];
    const double next = inside(j, size > 0 ? std::copysign(size, omega) / d : 0);
    if (next != old && std::isfinite(next)) set(j, next);
  }

  void set(std::size_t j, double next) noexcept {
    const double delta = next - b_[j];
    b_[j] = next;
    h_.subtract_column(j, delta, r_);
    moved_ += delta * delta;
  }

  double sweep(const std::vector<std::size_t>& live) noexcept {
    begin();
    for (const std::size_t j : live) move(j);
    double worst = 0;
    for (const std::size_t j : live)
      if (h_.diagonal(j) > kNone) worst = std::fmax(worst, violation(j));
    return worst;
  }

  bool done(const ShootingStop& stop, double worst) const noexcept {
    return worst <= stop.violation || moved_ <= stop.change * stop.change * length_;
  }

  const Matrix& h_;
  const double* gamma_;
  double* b_;
  double* r_;
  CoordinateBounds bounds_;
  double moved_ = 0, length_ = 0;
  bool along_curvature_ = true;  // the last direction was to an optimum
};

}  // namespace riata
