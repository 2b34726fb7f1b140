// Beliefs about all weights together, for data of few features: four settings of the prior, side by side.
//
// One by one, weights of columns that go together take long to find; together they are exact after every example, for the
// square of the number of features. So at most kJointMost features are seen, and only as long as these are two thirds of
// what rows hold: in text that is over after 16 rows. Features come in at their first value while there are few,
// later at their fourth, so that what occurs once, such as a date, takes no place.
//
// The prior variance of a weight is the setting's over its unit: a power of two near the mean square of the feature's
// values so far, so that the features' units do not matter. Where that moves far, the prior moves with it, as if it had
// been so from the start: weight i was said to be 0 with a variance of (prior / old unit), and is now with (prior / new
// unit); the difference is an example of its own.
//
// Where values lie around their mean and far from zero, what a weight adds to every row alike the intercept has to take away:
// about as much as the weight's own deviation times the root mean square. So the intercept's variance has that of some such
// weights on top.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "riata/bayesian/workspace.hpp"
#include "riata/block/block.hpp"
#include "riata/portfolio/joint_kernels.hpp"

namespace riata {

inline constexpr int kJointMost = 128, kJointFew = 64;
inline constexpr double kJointOften = 4;
inline constexpr double kJointShare = 2.0 / 3;
inline constexpr double kJointOffCentre = 8;  // so many weights of features that lie far from zero
inline constexpr std::uint64_t kJointFirstCheck = 16;
inline constexpr std::int64_t kJointIntercept = -1;  // its key

// All that a model file keeps of it. Numbers that are four wide are so for every output.
struct JointState {
  std::vector<std::int64_t> keys;        // features: by their places
  std::vector<double> units;             // features: mean squares, about
  std::vector<double> means, variances;  // outputs x features x 4
  std::vector<double> factors;           // outputs x features (features - 1) / 2 x 4
  double seen[2] = {0, 0};  // since the last check: values that were not zero, and those among the features
};

// One example as these settings see it.
struct JointExample {
  std::vector<std::pair<int, double>> found;
  std::vector<std::pair<int, double>> moved;  // features whose unit is another one after this example
  std::vector<int> places;
  Doubles x, turned, gains;  // turned: outputs x features x 4
  double unknown = 0;        // how many values are of features never seen: each is as uncertain as its prior
  double scores[kJointLanes], spreads[kJointLanes];

  JointValues values(std::size_t output, int features) noexcept {
    return {places.data(), x.data(), static_cast<int>(places.size()),
            turned.data() + output * kJointLanes * static_cast<std::size_t>(features), gains.data()};
  }
};

class Joint {
 public:
  Joint() = default;
  // Four prior variances.
  Joint(int outputs, const std::vector<double>& priors, double intercept_variance, bool fit_intercept)
      : outputs_(static_cast<std::size_t>(outputs)), intercept_variance_(intercept_variance), open_(true) {
    std::copy_n(priors.begin(), kJointLanes, priors_);
    most_ = std::max(8, static_cast<int>(kJointMost / std::sqrt(static_cast<double>(outputs))));
    each_.resize(outputs_);
    if (fit_intercept) add(kJointIntercept, 1);
  }

  bool open() const noexcept { return open_; }
  void close() { *this = Joint(); }
  int features() const noexcept { return static_cast<int>(keys_.size()); }
  std::uint64_t bytes() const noexcept {
    const std::uint64_t n = keys_.size();
    return outputs_ * kJointLanes * sizeof(double) * (n * (n + 1) / 2 + n) + n * 64;
  }

  // The values of row r among the features. To learn, `sums(k)` points to how often the feature of the k-th entry was not
  // zero and to the sum of its squares, this row included: features come in. Throws std::bad_alloc.
  template <class Index, class Sums>
  void take(JointExample& e, const BlockView<Index>& b, std::int64_t r, const Sums& sums) {
    prepare(e);
    const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
    for (std::int64_t k = begin; k < end; ++k) {
      const auto x = static_cast<double>(b.values[k]);
      if (x == 0) continue;
      seen_[0] += 1;
      const auto key = static_cast<std::int64_t>(b.indices[k]);
      const auto known = places_.find(key);
      const double* sum = sums(k - begin);
      if (known == places_.end() && !comes_in(sum[0])) continue;
      const double unit = unit_of(sum[1] / sum[0]);
      const int place = known == places_.end() ? add(key, unit) : known->second;
      seen_[1] += 1;
      if (const double old = units_[static_cast<std::size_t>(place)]; unit > 2 * old || unit < old / 4)
        e.moved.emplace_back(place, unit);
      e.found.emplace_back(place, x);
    }
    arrange(e);
  }
  // To predict.
  template <class Index>
  void look(JointExample& e, const BlockView<Index>& b, std::int64_t r) const {
    prepare(e);
    for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k) {
      const auto x = static_cast<double>(b.values[k]);
      if (x == 0) continue;
      const auto known = places_.find(static_cast<std::int64_t>(b.indices[k]));
      if (known != places_.end())
        e.found.emplace_back(known->second, x);
      else if (comes_in(1))
        e.unknown += x * x / unit_of(x * x);
    }
    arrange(e);
  }

  // x'mean of an output, four numbers.
  void score(JointExample& e, std::size_t output) const noexcept {
    kernels_->scores(beliefs(output), e.values(output, features()), e.scores);
  }
  // The variance of x'w, four numbers; must come before step().
  void spread(JointExample& e, std::size_t output) const noexcept {
    kernels_->gather(beliefs(output), e.values(output, features()), e.spreads);
    for (int k = 0; k < kJointLanes; ++k) e.spreads[k] += e.unknown * priors_[k];
  }
  void step(JointExample& e, std::size_t output, const double* noise, const double* pulls) noexcept {
    kernels_->step(beliefs(output), e.values(output, features()), noise, pulls);
  }
  // When all is learned of an example: units are kept near the values.
  void follow_units(JointExample& e) noexcept {
    for (const auto& [place, unit] : e.moved)  // a feature may stand there twice
      if (unit != units_[static_cast<std::size_t>(place)]) change_unit(e, place, unit);
  }
  // Example t = 1, 2, ... has been learned. False: the features that are seen are too small a part of what rows hold.
  bool worth_it(std::uint64_t t) noexcept {
    if (t < kJointFirstCheck || (t & (t - 1)) != 0) return true;
    const bool enough = seen_[1] >= kJointShare * seen_[0];
    seen_[0] = seen_[1] = 0;
    return enough;
  }

  JointState state() const;
  // False: not the state of such settings.
  bool set(const JointState& state);

 private:
  struct Beliefs {
    Doubles factors, variances, means;
  };

  JointBeliefs beliefs(std::size_t output) const noexcept {
    Beliefs& of = const_cast<Beliefs&>(each_[output]);  // written by step() alone
    return {features(), of.factors.data(), of.variances.data(), of.means.data()};
  }
  // A power of two, at least the square and at most twice that.
  static double unit_of(double square) noexcept {
    int exponent = 0;
    std::frexp(square, &exponent);
    return std::ldexp(1.0, std::clamp(exponent, -1000, 1000));
  }
  bool comes_in(double often) const noexcept {
    return features() < most_ && often >= (features() < kJointFew ? 1 : kJointOften);
  }
  double prior(std::int64_t key, int lane, double unit) const noexcept {
    return key == kJointIntercept ? intercept_variance_ + kJointOffCentre * priors_[lane]
                                  : priors_[lane] / unit;
  }
  int add(std::int64_t key, double unit);
  void change_unit(JointExample& e, int place, double unit) noexcept;

  void prepare(JointExample& e) const {
    e.found.clear();
    e.moved.clear();
    e.unknown = 0;
    if (const auto known = places_.find(kJointIntercept); known != places_.end())
      e.found.emplace_back(known->second, 1.0);
  }
  void arrange(JointExample& e) const;

  std::size_t outputs_ = 0;
  double priors_[kJointLanes] = {}, intercept_variance_ = 1;
  bool open_ = false;
  int most_ = 0;
  std::vector<std::int64_t> keys_;
  std::vector<double> units_;
  std::unordered_map<std::int64_t, int> places_;
  std::vector<Beliefs> each_;
  double seen_[2] = {0, 0};
  const JointKernels* kernels_ = &best_joint_kernels();
};

}  // namespace riata
