// The quadratic model of a step, and coordinate descent on it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "riata/sketch/in_memory.hpp"

namespace riata {

namespace {

constexpr int kMostSweeps = 500;
constexpr std::size_t kMostSquare = 1500, kLeastFace = 700;  // features
constexpr double kFaceRounds = 5;                            // that a face takes, about
constexpr double kMostMeetings = 16;  // of two of them, on average; with more, their curvature is not sparse
constexpr double kAsk = 1e8;          // products: a tenth of a second
constexpr double kNone = 1e-200;      // less curvature is none

}  // namespace

// Coordinate descent on the parabolas, until no active feature violates optimality by more than `accuracy`.
void InMemory::model(double accuracy) {
  std::fill(bent_.begin(), bent_.end(), 0.0);
  old_ = b_, old0_ = b0_;
  curvature0_ = 0;
  for (const double c : at_.curvature) curvature0_ += c;
  for (const std::size_t j : active_) enter(j);
  live_.clear();
  spent_ = 0;
  at_once_ = std::exchange(solved_, false);
  double costs = 0;
  for (int sweeps = 0; sweeps < kMostSweeps && work_left_ > 0; ++sweeps) {
    const double worst = sweep(active_);
    live_.clear();
    for (const std::size_t j : active_)
      if (b_[j] != 0) live_.push_back(j);
    if (worst <= accuracy) return;
    while (sweeps < kMostSweeps && work_left_ > 0) {
      if (at_once_ || spent_ >= costs) {
        costs = together(accuracy);
        if (solved_square_) break;
      }
      ++sweeps;
      if (sweep(live_) <= accuracy) break;
    }
  }
}

void InMemory::enter(std::size_t j) noexcept {
  double sum = 0;
  x_.each(j, [&](std::size_t i, double v) { sum += at_.curvature[i] * v * v; });
  diagonal_[j] = sum;
}

// To the best place of one coordinate; by how much it violated optimality before.
double InMemory::move(std::size_t j) noexcept {
  const double d = diagonal_[j], old = b_[j];
  spent_ += static_cast<double>(x_.entries(j));
  if (!(d > kNone)) {  // a column that counts for nothing costs its penalty
    if (std::fabs(pulls[j]) < task_.gamma) shift(j, inside(j, 0));
    return 0;
  }
  const double r = pulls[j] - x_.dot(j, bent_.data());
  const double far = violation(j, r);
  const double omega = r + d * old, size = std::fabs(omega) - task_.gamma;
  const double next = inside(j, size > 0 ? std::copysign(size, omega) / d : 0);
  if (std::isfinite(next)) shift(j, next);
  return far;
}

void InMemory::shift(std::size_t j, double to) noexcept {
  const double delta = to - b_[j];
  if (delta == 0) return;
  b_[j] = to == low(j) || to == high(j) ? to : inside(j, b_[j] + delta);
  spent_ += static_cast<double>(x_.entries(j));
  x_.each(j, [&](std::size_t i, double v) { bent_[i] += delta * v * at_.curvature[i]; });
}

double InMemory::move_intercept() noexcept {
  if (!task_.intercept) return 0;
  if (!(curvature0_ > kNone)) {
    if (std::fabs(pull0_) < task_.gamma0) b0_ = 0;
    return 0;
  }
  double r = pull0_;
  for (const double bent : bent_) r -= bent;
  spent_ += static_cast<double>(x_.rows());
  const double omega = r + curvature0_ * b0_, size = std::fabs(omega) - task_.gamma0;
  const double next = size > 0 ? std::copysign(size, omega) / curvature0_ : 0;
  const double far = free_intercept() ? std::fabs(r) : violation_at(r, b0_, task_.gamma0);
  const double delta = next - b0_;
  if (delta != 0 && std::isfinite(delta)) {
    b0_ = next;
    for (std::size_t i = 0; i < bent_.size(); ++i) bent_[i] += delta * at_.curvature[i];
  }
  return far;
}

double InMemory::sweep(const std::vector<std::size_t>& features) noexcept {
  const double before = spent_;
  double worst = move_intercept();
  for (const std::size_t j : features) worst = std::max<double>(worst, move(j));
  work_left_ -= spent_ - before;
  if (task_.interrupted != nullptr && asked_at_ - work_left_ > kAsk) {
    asked_at_ = work_left_;
    if (task_.interrupted()) work_left_ = 0;
  }
  return worst;
}

// The features that are not zero go to their optimum together, as soon as sweeps have cost as much as that would: what it
// costs, where it is left for later. Few of them, or such as share most examples, have a square of curvature; many that are
// seldom in one example have a sparse system.
double InMemory::together(double accuracy) {
  solved_square_ = live_.size() < kLeastFace && at_once_;
  if (solved_square_) {
    solve_square(accuracy);
    return 0;
  }
  const double curvature = curvature_costs(), m = static_cast<double>(live_.size() + 1),
               system = m * m * m / 6;
  const double square = live_.size() <= kMostSquare ? curvature + system : HUGE_VAL;
  if (live_.size() >= kLeastFace && curvature < kMostMeetings * m * m / 2 &&
      kFaceRounds * curvature < square) {
    if (!at_once_ && spent_ < curvature) return curvature;
    choose_face();
    const double face = plan_face() ? curvature + cholesky_.products() : HUGE_VAL;
    if (kFaceRounds * face < square) {
      if (!at_once_ && spent_ < face) return face;
      solve_face();
      at_once_ = false;
      return kFaceRounds * face;
    }
  }
  if (square < HUGE_VAL && (at_once_ || spent_ >= square)) {
    solve_square(accuracy);
    solved_square_ = true;
  }
  return square;
}

// What the curvature of the features that are not zero costs, in products.
double InMemory::curvature_costs() {
  in_row_.assign(x_.rows(), 0);
  for (const std::size_t j : live_) x_.each(j, [&](std::size_t i, double) { ++in_row_[i]; });
  double costs = 0;
  for (const std::int32_t n : in_row_) costs += 0.5 * n * n;
  return costs;
}

// The curvature of the features that are not zero, and of the intercept before them.
SquareMatrix InMemory::square_of_live() {
  const std::size_t first = task_.intercept ? 1 : 0;
  std::vector<std::size_t> start(x_.rows() + 1, 0);
  for (const std::size_t j : live_) x_.each(j, [&](std::size_t i, double) { ++start[i + 1]; });
  double products = 0;
  for (std::size_t i = 0; i < x_.rows(); ++i) {
    const std::size_t count = start[i + 1] + first;
    products += 0.5 * static_cast<double>(count * count);
    start[i + 1] = start[i] + count;
  }
  work_left_ -= products;
  std::vector<Entry> entries(start.back());
  std::vector<std::size_t> at(start.begin(), start.end() - 1);
  for (std::size_t i = 0; i < x_.rows() && first == 1; ++i) entries[at[i]++] = {0, 1.0f};
  for (std::size_t k = 0; k < live_.size(); ++k)
    x_.each(live_[k], [&](std::size_t i, double v) {
      entries[at[i]++] = {static_cast<std::int32_t>(first + k), static_cast<float>(v)};
    });
  SquareMatrix square;
  square.reset(first + live_.size());
  for (std::size_t i = 0; i < x_.rows(); ++i) {
    const auto count = static_cast<std::int32_t>(start[i + 1] - start[i]);
    for (std::int32_t k = 0; k < count; ++k)
      square.add(entries.data() + start[i], k, count, at_.curvature[i]);
  }
  square.complete();
  return square;
}

// The features that are not zero go to their optimum by Shooting on their own square of curvature.
void InMemory::solve_square(double accuracy) {
  solved_ = true;
  const std::size_t first = task_.intercept ? 1 : 0, n = first + live_.size();
  const SquareMatrix square = square_of_live();
  std::vector<double> b(n), r(n), gamma(n, task_.gamma), lows(n, -HUGE_VAL), highs(n, HUGE_VAL);
  if (first == 1) {
    b[0] = b0_, gamma[0] = task_.gamma0, r[0] = pull0_;
    for (const double bent : bent_) r[0] -= bent;
  }
  for (std::size_t k = 0; k < live_.size(); ++k) {
    const std::size_t j = live_[k];
    b[first + k] = b_[j], r[first + k] = pulls[j] - x_.dot(j, bent_.data());
    lows[first + k] = low(j), highs[first + k] = high(j);
  }
  CoordinateBounds bounds;
  if (task_.bounds.low != nullptr) bounds = {lows.data(), highs.data()};
  const double sweep_costs = 0.5 * static_cast<double>(n * n);
  const ShootingStop stop{0, accuracy / 2,
                          1 + static_cast<int>(std::min<double>(1999, work_left_ / sweep_costs))};
  ShootingReport done;
  if (free_intercept()) {
    const Centred<SquareMatrix> centred(square);
    double slope = r[0];
    centred.step(slope, r.data());
    const std::vector<double> before = b;
    done = Shooting(centred, gamma.data(), b.data(), r.data(), bounds).run(stop);
    for (std::size_t k = 1; k < n; ++k) slope -= (b[k] - before[k]) * centred.first(k);
    b[0] += centred.step(slope, nullptr);
  } else {
    done = Shooting(square, gamma.data(), b.data(), r.data(), bounds).run(stop);
  }
  if (first == 1) {
    const double delta = b[0] - b0_;
    b0_ = b[0];
    for (std::size_t i = 0; i < bent_.size(); ++i) bent_[i] += delta * at_.curvature[i];
  }
  for (std::size_t k = 0; k < live_.size(); ++k) shift(live_[k], b[first + k]), b_[live_[k]] = b[first + k];
  spent_ = 0;
  work_left_ -= static_cast<double>(n * n * n) / 6 + sweep_costs * done.sweeps;
}

}  // namespace riata
