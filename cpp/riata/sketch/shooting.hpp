// Modified Shooting (Balakrishnan & Madigan 2008, Algorithm 1): coordinate descent on
//
//   b'H b / 2 - c'b + sum gamma_j |b_j|,      H = -2 Psi and c = theta in the paper's letters.
//
// It keeps r = c - H b, the negative gradient, current: the paper's Omega_j is r_j + H_jj b_j. A coordinate
// that moves costs its column of H, one that stays costs nothing. Sweeps alternate between all coordinates
// and those that are not zero.
//
// A Matrix has size(), diagonal(j) and subtract_column(j, delta, r): r -= delta * H[:, j].
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

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

// By how much coordinate j violates optimality: the distance of 0 from the subdifferential.
inline double violation_at(double r, double b, double gamma) noexcept {
  if (b > 0) return std::fabs(r - gamma);
  if (b < 0) return std::fabs(r + gamma);
  return std::fmax(0, std::fabs(r) - gamma);
}

template <class Matrix>
class Shooting {
 public:
  // b and r are read and written; gamma has an entry a coordinate.
  Shooting(const Matrix& h, const double* gamma, double* b, double* r) noexcept
      : h_(h), gamma_(gamma), b_(b), r_(r) {}

  // `first`: coordinates to bring in order before the first full sweep; may be empty.
  ShootingReport run(const ShootingStop& stop, std::vector<std::size_t> first = {}) {
    ShootingReport report;
    const std::size_t n = h_.size();
    std::vector<std::size_t> live = std::move(first);
    while (report.sweeps < stop.sweeps) {
      while (!live.empty() && report.sweeps < stop.sweeps) {
        ++report.sweeps;
        if (done(stop, sweep(live))) break;
      }
      if (report.sweeps == stop.sweeps) break;
      ++report.sweeps;
      begin();
      for (std::size_t j = 0; j < n; ++j) move(j);
      live.clear();
      double worst = 0;
      for (std::size_t j = 0; j < n; ++j) {
        if (b_[j] != 0) live.push_back(j);
        if (h_.diagonal(j) > kNone) worst = std::fmax(worst, violation_at(r_[j], b_[j], gamma_[j]));
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

  void begin() noexcept { moved_ = length_ = 0; }

  void move(std::size_t j) noexcept {
    const double d = h_.diagonal(j);
    const double old = b_[j];
    length_ += old * old;
    if (!(d > kNone)) {
      if (old != 0 && std::fabs(r_[j]) < gamma_[j]) set(j, 0);
      return;
    }
    const double omega = r_[j] + d * old;
    const double size = std::fabs(omega) - gamma_[j];
    const double next = size > 0 ? std::copysign(size, omega) / d : 0;
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
      if (h_.diagonal(j) > kNone) worst = std::fmax(worst, violation_at(r_[j], b_[j], gamma_[j]));
    return worst;
  }

  bool done(const ShootingStop& stop, double worst) const noexcept {
    return worst <= stop.violation || moved_ <= stop.change * stop.change * length_;
  }

  const Matrix& h_;
  const double* gamma_;
  double* b_;
  double* r_;
  double moved_ = 0, length_ = 0;
};

}  // namespace riata
