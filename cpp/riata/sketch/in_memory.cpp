#include "riata/sketch/in_memory.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "riata/sketch/quadratic.hpp"

namespace riata {

namespace {

constexpr std::size_t kRoom = 100,
                      kRoomFactor = 2;  // features that are active: so many, or times those not zero
constexpr double kDecrease = 0.01;      // of what the slope of the objective promises
constexpr int kMostHalvings = 40;
constexpr double kRounding = 1e-12;  // a rise of the objective by this much, relative, is none
constexpr double kEnough = 0.3;  // of what the tolerance allows, relative to gamma: no model is worth less
// Of the objective: a smaller gap, or a smaller fall by a whole step, and the losses' own curvature serves.
constexpr double kNear = 0.1, kSmallFall = 0.02;
constexpr double kGrowth = 1.2, kTightest = 1e-8;
constexpr double kExact = 0.01;  // a violation below this part of the tolerance, relative to gamma, is none

}  // namespace

InMemory::InMemory(const Link& link, const ExampleColumns& x, const InMemoryTask& task)
    : link_(link), x_(x), task_(task) {
  for (State* s : {&at_, &next_}) {
    s->margin.resize(x.rows());
    s->loss.resize(x.rows());
    s->slope.resize(x.rows());
    s->curvature.resize(x.rows());
  }
  bent_.resize(x.rows());
  diagonal_.resize(x.features());
  pulls.resize(x.features());
}

bool InMemory::solve(std::vector<double>& b, double& b0) {
  near_ = solved_ = false;
  worst_ = 0, length_ = 1;
  active_.clear();
  work_left_ = asked_at_ = task_.work;
  b_ = b, b0_ = b0;
  for (std::size_t j = 0; j < b_.size(); ++j) b_[j] = inside(j, b_[j]);
  for (std::size_t i = 0; i < x_.rows(); ++i)
    at_.margin[i] = (task_.offsets == nullptr ? 0 : task_.offsets[i]) + b0_;
  for (std::size_t j = 0; j < b_.size(); ++j)
    if (b_[j] != 0) x_.each(j, [&](std::size_t i, double v) { at_.margin[i] += b_[j] * v; });
  evaluate(at_);
  bool converged = false;
  double before = HUGE_VAL, tightened = 1;  // part of the violation that a model may leave
  for (steps = 0;; ++steps) {
    pull();
    objective = at_.total + penalty(b_, b0_);
    const double bound = lower_bound();
    gap = bound > objective ? 0 : objective - bound;
    if (!std::isfinite(gap)) gap = HUGE_VAL;  // nothing is known
    converged = gap < HUGE_VAL && gap <= task_.tolerance * objective;
    near_ = gap < kNear * objective || (length_ == 1 && before - objective < kSmallFall * objective);
    if (converged || steps == task_.steps || !(work_left_ > 0)) break;
    before = objective;
    const double violated = worst_;
    const std::size_t were_active = active_.size();
    choose();
    // Among about the same features, a violation that hardly falls after a whole step is that of a model left too early:
    // columns go together, or some are in much larger units. Where steps are cut short, models are wrong anyway.
    if (length_ < 1)
      tightened = std::min<double>(tightened * 10, 1);
    else if (worst_ > violated / 2 &&
             static_cast<double>(active_.size()) <= kGrowth * static_cast<double>(were_active))
      tightened = std::max<double>(tightened / 10, kTightest);
    if (worst_ <= kExact * task_.tolerance * task_.gamma) break;  // there is no room for others
    const double far = gap / objective, part = far > 0.1 ? 0.3 : far > 1e-3 ? 0.1 : 0.01;
    model(std::max<double>(worst_ * std::min<double>(part, tightened),
                           kEnough * task_.tolerance * task_.gamma));
    if (!step()) break;
  }
  b = b_, b0 = b0_;
  return converged;
}

void InMemory::evaluate(State& s) const noexcept {
  s.total = 0;
  for (std::size_t i = 0; i < x_.rows(); ++i) {
    const double y = task_.signs[i], w = weight(i);
    const Term term = link_.at(s.margin[i], y);
    s.loss[i] = w * term.loss;
    s.total += s.loss[i];
    s.slope[i] = w * term.slope;
    s.curvature[i] = w * (near_ ? std::max<double>(term.curvature, kLeastCurvature)
                                : model_curvature(y * s.margin[i], term));
  }
}

double InMemory::penalty(const std::vector<double>& b, double b0) const noexcept {
  double sum = 0;
  for (const double w : b) sum += std::fabs(w);
  return task_.gamma * sum + (task_.intercept ? task_.gamma0 * std::fabs(b0) : 0);
}

void InMemory::pull() noexcept {
  for (std::size_t j = 0; j < pulls.size(); ++j) pulls[j] = -x_.dot(j, at_.slope.data());
  pull0_ = 0;
  for (const double slope : at_.slope) pull0_ -= slope;
}

// The dual objective at the slopes of the losses, shrunk until they are feasible: as `sketch_certificate.certify` has it.
double InMemory::lower_bound() const noexcept {
  double dual = 0, dual_of_positive = 0, positive = 0, negative = 0;
  for (std::size_t i = 0; i < x_.rows(); ++i) {
    const double margin = at_.margin[i] - (task_.offsets == nullptr ? 0 : task_.offsets[i]);
    const double part = at_.loss[i] - margin * at_.slope[i];
    dual += part;
    (task_.signs[i] > 0 ? positive : negative) += std::fabs(at_.slope[i]);
    if (task_.signs[i] > 0) dual_of_positive += part;
  }
  double change = 0;  // of a feature's pull, at the most, by shrinking one class
  if (free_intercept() && positive + negative > 0) {
    const double ratio = std::min<double>(positive, negative) / std::max<double>(positive, negative);
    dual -= (1 - ratio) * (positive > negative ? dual_of_positive : dual - dual_of_positive);
    change = std::fabs(pull0_) * x_.largest();
  }
  double hardest = 0, endless = 0;
  for (std::size_t j = 0; j < pulls.size(); ++j) {
    hardest = std::max<double>(hardest, std::fabs(pulls[j]));
    if (pulls[j] > 0 ? high(j) == HUGE_VAL : low(j) == -HUGE_VAL)
      endless = std::max<double>(endless, std::fabs(pulls[j]));
  }
  if (task_.intercept && task_.gamma0 > 0) {
    const double pull = std::fabs(pull0_) * (task_.gamma / task_.gamma0);  // its part of what it may be
    hardest = std::max<double>(hardest, pull);
    endless = std::max<double>(endless, pull);
  }
  const auto shrunk = [&](double pull) {
    return pull + change > task_.gamma ? task_.gamma / (pull + change) : 1;
  };
  if (task_.bounds.low == nullptr) return shrunk(hardest) * dual;
  double best = -HUGE_VAL;
  for (const double scale : {shrunk(hardest), shrunk(endless)}) {
    double bound = scale * dual;
    for (std::size_t j = 0; j < pulls.size(); ++j) bound += least_of_feature(pulls[j], scale, change, j);
    best = std::max<double>(best, bound);
  }
  return best;
}

// The least of gamma |u| - scale pull u for u inside the bounds, where the pull may be larger by `change`.
double InMemory::least_of_feature(double pull, double scale, double change, std::size_t j) const noexcept {
  const double none = inside(j, 0);
  double least = HUGE_VAL;
  for (const double u : {none, low(j) == -HUGE_VAL ? none : low(j), high(j) == HUGE_VAL ? none : high(j)})
    least = std::min<double>(least, (task_.gamma - scale * change) * std::fabs(u) - scale * pull * u);
  return least;
}

// Features that are not zero, and those that pull hardest, as many as there is room for; ascending.
void InMemory::choose() {
  active_.clear();
  std::vector<std::size_t> others;
  for (std::size_t j = 0; j < b_.size(); ++j) {
    if (b_[j] != 0) {
      active_.push_back(j);
    } else if (std::fabs(pulls[j]) >= task_.tau * task_.gamma && (pulls[j] > 0 ? high(j) > 0 : low(j) < 0)) {
      others.push_back(j);
    }
  }
  std::size_t room = std::max(kRoom, kRoomFactor * active_.size());
  if (task_.capacity > 0) room = task_.capacity;
  room = room > active_.size() ? room - active_.size() : 0;
  const auto harder = [&](std::size_t a, std::size_t c) {
    const double x = std::fabs(pulls[a]), y = std::fabs(pulls[c]);
    return x != y ? x > y : a < c;
  };
  if (others.size() > room) {
    std::nth_element(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(room), others.end(),
                     harder);
    others.resize(room);
  }
  active_.insert(active_.end(), others.begin(), others.end());
  std::sort(active_.begin(), active_.end());
  worst_ = 0;
  for (const std::size_t j : active_) worst_ = std::max<double>(worst_, violation(j, pulls[j]));
  if (task_.intercept)
    worst_ = std::max<double>(worst_,
                              free_intercept() ? std::fabs(pull0_) : violation_at(pull0_, b0_, task_.gamma0));
}

// As far towards the minimum of the model as the objective falls. False: it does not, or by nothing that can be told.
bool InMemory::step() {
  const double before = at_.total + penalty(old_, old0_);
  double promised = penalty(b_, b0_) - penalty(old_, old0_) - pull0_ * (b0_ - old0_);
  for (const std::size_t j : active_) promised -= pulls[j] * (b_[j] - old_[j]);
  double t = 1;
  const std::vector<double> to = b_;
  const double to0 = b0_;
  for (int halvings = 0; halvings <= kMostHalvings; ++halvings, t /= 2) {
    if (t < 1)
      for (const std::size_t j : active_) b_[j] = old_[j] + t * (to[j] - old_[j]);
    b0_ = t < 1 ? old0_ + t * (to0 - old0_) : to0;
    for (std::size_t i = 0; i < x_.rows(); ++i)
      next_.margin[i] = at_.margin[i] + (bent_[i] != 0 ? t * (bent_[i] / at_.curvature[i]) : 0);
    evaluate(next_);
    const double after = next_.total + penalty(b_, b0_);
    if (after <= before + kDecrease * t * promised + kRounding * before) {
      std::swap(at_, next_);
      length_ = t;
      return true;
    }
  }
  b_ = old_, b0_ = old0_;
  return false;
}

}  // namespace riata
