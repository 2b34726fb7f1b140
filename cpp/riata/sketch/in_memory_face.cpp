// The features that are not zero, on their own: their signs kept, the model has its minimum where a linear system says.
#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <utility>

#include "riata/sketch/in_memory.hpp"

namespace riata {

namespace {

constexpr int kMostRounds = 20;
constexpr std::size_t kMostFactor = std::size_t{1} << 22;  // entries
constexpr double kNone = 1e-200;                           // less curvature is none

}  // namespace

// Those of the features that are not zero, nor at a bound, for which the model has a minimum on their own: columns with few
// entries first. Of columns that are equal, one has the weights of all: that costs no more, and the system has no use for others.
void InMemory::choose_face() {
  struct Column {
    std::size_t entries;
    std::uint64_t hash;
    std::size_t feature;
    auto operator<=>(const Column&) const = default;
  };
  std::vector<Column> columns;
  for (const std::size_t j : live_)
    if (b_[j] != 0 && diagonal_[j] > kNone && b_[j] > low(j) && b_[j] < high(j))
      columns.push_back({x_.entries(j), x_.hash(j), j});
  std::sort(columns.begin(), columns.end());
  face_.clear();
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::size_t j = columns[k].feature;
    if (k > 0 && task_.bounds.low == nullptr && columns[k].hash == columns[k - 1].hash &&
        x_.equal(j, face_.back()) && (b_[j] > 0) == (b_[face_.back()] > 0)) {
      b_[face_.back()] += std::exchange(b_[j], 0);
      continue;
    }
    face_.push_back(j);
  }
}

bool InMemory::intercept_joins() const noexcept {
  return task_.intercept && curvature0_ > kNone && (free_intercept() || b0_ != 0);
}

// The curvature of the face, the intercept last, and where its factor has entries. False: in too many places.
bool InMemory::plan_face() {
  struct Cell {
    std::int32_t at;
    double value;
  };
  std::vector<std::size_t> start(x_.rows() + 1, 0);
  for (const std::size_t j : face_) x_.each(j, [&](std::size_t i, double) { ++start[i + 1]; });
  for (std::size_t i = 0; i < x_.rows(); ++i) start[i + 1] += start[i];
  std::vector<Cell> cells(start.back());  // by example
  std::vector<std::size_t> end(start.begin(), start.end() - 1);
  std::vector<double> column(face_.size());
  std::vector<std::int32_t> seen(face_.size(), -1), touched;
  UpperHalf& upper = upper_;
  upper = {};
  double products = 0;
  for (std::size_t k = 0; k < face_.size() && upper.row.size() <= kMostFactor; ++k) {
    touched.clear();
    x_.each(face_[k], [&](std::size_t i, double v) {
      cells[end[i]++] = {static_cast<std::int32_t>(k), v};
      const double factor = at_.curvature[i] * v;
      products += static_cast<double>(end[i] - start[i]);
      for (std::size_t c = start[i]; c < end[i]; ++c) {
        const auto at = static_cast<std::size_t>(cells[c].at);
        if (seen[at] != static_cast<std::int32_t>(k)) {
          seen[at] = static_cast<std::int32_t>(k);
          column[at] = 0;
          touched.push_back(cells[c].at);
        }
        column[at] += factor * cells[c].value;
      }
    });
    for (const std::int32_t at : touched) {
      upper.row.push_back(at);
      upper.value.push_back(column[static_cast<std::size_t>(at)]);
    }
    upper.start.push_back(upper.row.size());
  }
  if (intercept_joins()) {
    for (std::size_t k = 0; k < face_.size(); ++k) {
      upper.row.push_back(static_cast<std::int32_t>(k));
      upper.value.push_back(x_.dot(face_[k], at_.curvature.data()));
    }
    upper.row.push_back(static_cast<std::int32_t>(face_.size()));
    upper.value.push_back(curvature0_);
    upper.start.push_back(upper.row.size());
  }
  work_left_ -= products;
  return upper.row.size() <= kMostFactor && cholesky_.plan(upper, kMostFactor);
}

// The face and its curvature without the others. False: there is nothing left to solve.
bool InMemory::leave_face(const std::vector<char>& stays) {
  std::vector<std::int32_t> places(upper_.size(), -1);
  std::int32_t count = 0;
  for (std::size_t k = 0; k < upper_.size(); ++k)
    if (k >= stays.size() || stays[k]) places[k] = count++;
  UpperHalf left;
  for (std::size_t k = 0; k < upper_.size(); ++k) {
    if (places[k] < 0) continue;
    for (std::size_t p = upper_.start[k]; p < upper_.start[k + 1]; ++p) {
      const std::int32_t place = places[static_cast<std::size_t>(upper_.row[p])];
      if (place >= 0) left.row.push_back(place), left.value.push_back(upper_.value[p]);
    }
    left.start.push_back(left.row.size());
  }
  upper_ = std::move(left);
  std::size_t to = 0;
  for (std::size_t k = 0; k < face_.size(); ++k)
    if (stays[k]) face_[to++] = face_[k];
  face_.resize(to);
  return to > 0 && cholesky_.plan(upper_, kMostFactor);
}

// The face goes to its optimum: features that would change their sign on the way become zero, and the others go on without
// them. Where the model is not lower there, as far towards it as it falls.
void InMemory::solve_face() {
  solved_ = true;
  const std::size_t first = task_.intercept ? 1 : 0;
  std::vector<double> from(live_.size() + first);
  for (std::size_t k = 0; k < live_.size(); ++k) from[k] = b_[live_[k]];
  if (first == 1) from.back() = b0_;
  other_bent_ = bent_;
  for (int rounds = 1;; ++rounds) {
    cholesky_.factor(upper_);
    work_left_ -= cholesky_.products();
    const std::vector<double> step = step_of_face();
    std::vector<char> stays(face_.size(), false);
    for (std::size_t k = 0; k < face_.size(); ++k) {
      const std::size_t j = face_[k];
      const double to = b_[j] + step[k], stop = b_[j] * to > 0 && std::isfinite(to) ? to : 0;
      if (stop == to && inside(j, to) == to)
        stays[k] = true;
      else
        shift(j, inside(j, stop));
    }
    if (std::find(stays.begin(), stays.end(), false) == stays.end()) {
      for (std::size_t k = 0; k < face_.size(); ++k) shift(face_[k], b_[face_[k]] + step[k]);
      if (intercept_joins()) shift_intercept(b0_ + step.back());
      break;
    }
    if (rounds == kMostRounds || !leave_face(stays)) break;
  }
  back(from);
  spent_ = 0;
}

// The step of the face to its optimum, the intercept last.
std::vector<double> InMemory::step_of_face() const {
  std::vector<double> step(upper_.size());
  for (std::size_t k = 0; k < face_.size(); ++k) {
    const std::size_t j = face_[k];
    step[k] = pulls[j] - x_.dot(j, bent_.data()) - std::copysign(task_.gamma, b_[j]);
  }
  if (step.size() > face_.size()) {
    double& r = step.back();
    r = pull0_ - (free_intercept() ? 0 : std::copysign(task_.gamma0, b0_));
    for (const double bent : bent_) r -= bent;
  }
  cholesky_.solve(step);
  return step;
}

void InMemory::shift_intercept(double to) noexcept {
  const double delta = to - b0_;
  b0_ = to;
  for (std::size_t i = 0; i < bent_.size(); ++i) bent_[i] += delta * at_.curvature[i];
}

// As far from those weights of `live_`, where `other_bent_` is, to where they are, as the model falls: no weight changes its
// sign on the way.
void InMemory::back(const std::vector<double>& from) {
  double slope = 0, curvature = 0;  // along the way
  for (std::size_t k = 0; k < live_.size(); ++k) {
    const double to = b_[live_[k]];
    slope += task_.gamma * (std::fabs(to) - std::fabs(from[k])) - pulls[live_[k]] * (to - from[k]);
  }
  if (task_.intercept)
    slope += task_.gamma0 * (std::fabs(b0_) - std::fabs(from.back())) - pull0_ * (b0_ - from.back());
  for (std::size_t i = 0; i < bent_.size(); ++i) {
    if (!(at_.curvature[i] > 0)) continue;
    const double delta = bent_[i] - other_bent_[i], moves = delta / at_.curvature[i];
    slope += moves * other_bent_[i];
    curvature += moves * delta;
  }
  const double part = slope < 0 ? std::min<double>(1, -slope / curvature) : 0;
  if (part == 1) return;
  const auto between = [part](double a, double c) { return part > 0 ? a + part * (c - a) : a; };
  for (std::size_t i = 0; i < bent_.size(); ++i) bent_[i] = between(other_bent_[i], bent_[i]);
  for (std::size_t k = 0; k < live_.size(); ++k) b_[live_[k]] = between(from[k], b_[live_[k]]);
  if (task_.intercept) b0_ = between(from.back(), b0_);
}

}  // namespace riata
