#include "riata/portfolio/joint.hpp"

namespace riata {

namespace {

template <class Numbers>
void make_room(Numbers& of, std::size_t more) {
  if (of.size() + more > of.capacity()) of.reserve(std::max(2 * of.capacity(), of.size() + more));
}

}  // namespace

int Joint::add(std::int64_t key, double unit) {
  const int place = features();
  const auto more = static_cast<std::size_t>(place) * kJointLanes;
  for (Beliefs& of : each_) {  // what may fail first: then nothing has changed
    make_room(of.factors, more);
    make_room(of.means, kJointLanes);
    make_room(of.variances, kJointLanes);
  }
  make_room(keys_, 1);
  make_room(units_, 1);
  places_.emplace(key, place);
  for (Beliefs& of : each_) {
    of.factors.resize(of.factors.size() + more, 0.0);
    of.means.resize(of.means.size() + kJointLanes, 0.0);
    for (int k = 0; k < kJointLanes; ++k) of.variances.push_back(prior(key, k, unit));
  }
  keys_.push_back(key);
  units_.push_back(unit);
  places_.emplace(key, place);
  return place;
}

void Joint::change_unit(JointExample& e, int place, double unit) noexcept {
  double& old = units_[static_cast<std::size_t>(place)];
  const double one = 1, moved = unit - old;
  for (std::size_t o = 0; o < outputs_; ++o) {
    const JointBeliefs b = beliefs(o);
    const JointValues alone{&place, &one, 1, e.turned.data(), e.gains.data()};
    double spreads[kJointLanes], noise[kJointLanes], pulls[kJointLanes];
    kernels_->gather(b, alone, spreads);
    for (int k = 0; k < kJointLanes; ++k) {
      noise[k] = priors_[k] / moved;
      pulls[k] = -b.means[place * kJointLanes + k] / (noise[k] + spreads[k]);
    }
    kernels_->step(b, alone, noise, pulls);
  }
  old = unit;
}

// By places; a feature that stands twice in a row has the sum.
void Joint::arrange(JointExample& e) const {
  const auto by_place = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(e.found.begin(), e.found.end(), by_place))
    std::stable_sort(e.found.begin(), e.found.end(), by_place);
  e.places.clear();
  e.x.clear();
  for (const auto& [place, x] : e.found) {
    if (!e.places.empty() && e.places.back() == place) {
      e.x.back() += x;
    } else {
      e.places.push_back(place);
      e.x.push_back(x);
    }
  }
  const auto wanted = static_cast<std::size_t>(features()) * kJointLanes;
  e.turned.resize(std::max(e.turned.size(), outputs_ * wanted));
  e.gains.resize(std::max(e.gains.size(), wanted));
}

JointState Joint::state() const {
  JointState out;
  out.keys = keys_;
  out.units = units_;
  for (const Beliefs& of : each_) {
    out.means.insert(out.means.end(), of.means.begin(), of.means.end());
    out.variances.insert(out.variances.end(), of.variances.begin(), of.variances.end());
    out.factors.insert(out.factors.end(), of.factors.begin(), of.factors.end());
  }
  std::copy_n(seen_, 2, out.seen);
  return out;
}

bool Joint::set(const JointState& state) {
  const std::size_t n = state.keys.size(), wide = n * kJointLanes, triangle = n * (n - 1) / 2 * kJointLanes;
  const bool has_intercept = places_.contains(kJointIntercept);
  if (!open_ || n > kJointMost || n < places_.size() || state.units.size() != n ||
      state.means.size() != outputs_ * wide || state.variances.size() != outputs_ * wide ||
      state.factors.size() != (n == 0 ? 0 : outputs_ * triangle))
    return false;
  const auto positive = [](double x) { return x >= 0 && std::isfinite(x); };
  if (!std::all_of(state.units.begin(), state.units.end(), [&](double x) { return x > 0 && positive(x); }) ||
      !std::all_of(state.variances.begin(), state.variances.end(), positive))
    return false;
  std::unordered_map<std::int64_t, int> places;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_intercept = state.keys[i] == kJointIntercept;
    if (state.keys[i] < (is_intercept ? kJointIntercept : 0) || (is_intercept && !has_intercept))
      return false;
    if (!places.emplace(state.keys[i], static_cast<int>(i)).second) return false;
  }
  if (has_intercept != places.contains(kJointIntercept)) return false;
  keys_ = state.keys;
  units_ = state.units;
  places_ = std::move(places);
  for (std::size_t o = 0; o < outputs_; ++o) {
    const auto part = [o](const std::vector<double>& from, std::size_t size) {
      const auto first = from.begin() + static_cast<std::ptrdiff_t>(o * size);
      return Doubles(first, first + static_cast<std::ptrdiff_t>(size));
    };
    each_[o].means = part(state.means, wide);
    each_[o].variances = part(state.variances, wide);
    each_[o].factors = part(state.factors, n == 0 ? 0 : triangle);
  }
  std::copy_n(state.seen, 2, seen_);
  return true;
}

}  // namespace riata
