#include "riata/portfolio/regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "riata/portfolio/kernels.hpp"
#include "riata/portfolio/regression_kernels.hpp"
#include "riata/portfolio/rows.hpp"
#include "riata/stores/make.hpp"
#include "riata/stores/packed_hashed.hpp"

namespace riata {

namespace {

constexpr int kHead = 2;
constexpr double kLargestWeight = 1e10, kLargestLabel = 1e100, kFar = 5;
// From this example on joint settings end where they have less than this part of the average.
constexpr std::uint64_t kJudged = 4096;
constexpr double kJointClaim = 0.01;
// The deviation of Student's t is at least a tenth of the average's: labels that repeat exactly would make it vanish, and
// then all others were outliers.
constexpr double kSmallestShare = 0.01;

// One example: its rows, its values, and what every member makes of them.
struct RegressionExample {
  std::vector<double*> rows, raw_state, rms_state;
  std::vector<double> raw, rms, unit, unit_rms;
  std::vector<double> means, spreads, residuals, noise, lost;
  JointExample joint;

  void shape(std::size_t members) {
    for (auto* each : {&means, &spreads, &residuals, &noise, &lost}) each->assign(members, 0.0);
  }
  // Room for so many rows. False: memory is exhausted.
  bool make(std::int64_t count) noexcept {
    if (static_cast<std::size_t>(count) <= rows.size()) return true;
    const auto n = 2 * static_cast<std::size_t>(count);
    try {
      for (auto* each : {&raw_state, &rms_state}) each->resize(n);
      for (auto* each : {&raw, &rms, &unit, &unit_rms}) each->assign(n + 8, 0.0);
      rows.resize(n);
    } catch (const std::bad_alloc&) {
      rows.clear();
      return false;
    }
    return true;
  }
};

template <AnyStore Store>
class RegressionModel final : public BothIndices<RegressionModel<Store>, OverStore<Regression, Store>> {
  using Both = BothIndices<RegressionModel<Store>, OverStore<Regression, Store>>;
  friend Both;
  using Status = Outcome::Status;
  using Regression::features, Regression::intercept, Regression::joint, Regression::losses;
  using Regression::seen, Regression::squares;
  using Regression::t, Regression::weights, Regression::width_;
  using OverStore<Regression, Store>::store_;

 public:
  explicit RegressionModel(const RegressionSpec& spec)
      : Both(kHead + 2 * static_cast<int>(spec.members.size()), spec.bits),
        spec_(spec),
        k_(static_cast<int>(spec.members.size())),
        all_(k_ + static_cast<int>(spec.joint.size())) {
    width_ = kHead + 2 * k_;
    intercept.assign(static_cast<std::size_t>(width_), 0.0);
    blank_.assign(static_cast<std::size_t>(width_), 0.0);
    for (auto* each : {&losses, &squares}) each->assign(static_cast<std::size_t>(all_), 0.0);
    weights.assign(static_cast<std::size_t>(all_), 1.0 / all_);
    if (!spec.joint.empty()) joint = Joint(1, spec.joint, spec.intercept_variance, spec.fit_intercept);
    for (const RegressionMember& m : spec.members) {
      raw_ += m.scaled ? 0 : 1;
      precisions_.push_back(1 / m.prior_variance);
    }
    example_.shape(static_cast<std::size_t>(all_));
  }

  Outcome moments(const BlockView<std::int32_t>& b, double* out) const noexcept override {
    return predict_rows(b, out, 2);
  }
  Outcome moments(const BlockView<std::int64_t>& b, double* out) const noexcept override {
    return predict_rows(b, out, 2);
  }
  Rows rows() const override {
    return this->collect(
        width_, [](const double* row) { return row[0] > 0; },
        [&](const double* row, double* out) { std::copy(row, row + width_, out); });
  }
  std::int64_t live_weights() const noexcept override {
    std::int64_t live = 0;
    store_.for_each([&](std::uint64_t, const double* row) { live += row[kHead] != 0; });
    return live;
  }
  std::uint64_t bytes() const noexcept override { return store_.bytes() + joint.bytes(); }

 private:
  double freedom_of(int c) const noexcept { return c < k_ ? spec_.members[c].freedom : 0; }

  // The noise's variance as a member knows it; 0 while it knows nothing.
  double noise_of(int c) const noexcept {
    if (t < 2 || !(seen[0] > 0)) return 0;
    const double least = freedom_of(c) > 0 ? kSmallestShare * typical_square() : 0;
    return std::max({squares[c], least, 1e-12 * seen[1] / seen[0]});
  }

  // The mean squared residual of the average; 0 while nothing is known.
  double typical_square() const noexcept {
    if (t < 2 || !(seen[0] > 0)) return 0;
    return std::max(seen[2], 1e-12 * seen[1]) / seen[0];
  }

  // What a squared residual is measured by, in a row of which so much is not known: the variance of the noise, or more
  // where a few residuals are most of it (a third of the mean fourth power over the mean square: for Gaussian noise the
  // same).
  double yardstick(double unsure) const noexcept {
    const double least = 1e-12 * seen[1] / seen[0];
    const double tails = seen[3] > 0 ? seen[4] / (3 * seen[3]) : 0;
    return std::max({seen[3], tails, least}) * unsure;
  }

  GaussianColumns part(RegressionExample& e, bool scaled, std::int64_t rows) const noexcept {
    const int first = scaled ? raw_ : 0;
    GaussianColumns out;
    out.rows = rows;
    out.columns = scaled ? k_ - raw_ : raw_;
    out.distance = k_;
    out.state = scaled ? e.rms_state.data() : e.raw_state.data();
    out.x = scaled ? e.rms.data() : e.raw.data();
    out.intercept_first = spec_.fit_intercept;
    out.precisions = precisions_.data() + first;
    out.intercept_precision = 1 / spec_.intercept_variance;
    out.means = e.means.data() + first;
    out.spreads = e.spreads.data() + first;
    out.residuals = e.residuals.data() + first;
    out.noise = e.noise.data() + first;
    return out;
  }

  // The rows are in `e`: lay out their values, and score all members.
  template <class Index>
  void gather(RegressionExample& e, const BlockView<Index>& b, std::int64_t r, bool learn) const noexcept {
    Views v = lay_out_values(e, b, r, spec_.fit_intercept, learn);
    const std::int64_t rows = v.rows;
    views_.views(v);
    for (std::int64_t i = 0; i < rows; ++i) {
      e.raw_state[i] = e.rows[i] + kHead;
      e.rms_state[i] = e.rows[i] + kHead + raw_;
    }
    for (const bool scaled : {false, true}) kernels_.gather(part(e, scaled, rows));
    for (int c = 0; c < k_; ++c) e.means[c] += b.offset(r);
  }

  // The same of the joint settings, whose example is laid out.
  void gather_joint(RegressionExample& e, double offset, bool spread) const noexcept {
    if (!joint.open()) return;
    joint.score(e.joint, 0);
    if (spread) joint.spread(e.joint, 0);
    for (int k = 0; k < kJointLanes; ++k) {
      e.means[k_ + k] = e.joint.scores[k] + offset;
      e.spreads[k_ + k] = spread ? e.joint.spreads[k] : 0;
    }
  }

  // How many members there are now: joint settings that have ended count no longer.
  int members() const noexcept { return joint.open() ? all_ : k_; }

  double average(const RegressionExample& e) const noexcept {
    double mean = 0;
    for (int c = 0; c < members(); ++c) mean += weights[c] * e.means[c];
    return mean;
  }

  template <class Index>
  Outcome learn_rows(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n,
                     double* scores) noexcept {
    if (!this->same_kind(b)) return {Status::mixed_names, 0};
    return each_example(b, order, n, [&](std::int64_t i, std::int64_t r) -> Outcome {
      if (const Status status = locate(b, r); status != Status::ok) return {status, i};
      prefetch_next(store_, width_, b, order, i, n);
      const double weight = b.weights == nullptr ? 1 : std::min(b.weights[r], kLargestWeight);
      gather(example_, b, r, weight > 0);
      if (!take_joint(b, r, weight > 0)) return {Status::out_of_memory, i};
      scores[i] = average(example_);
      if (weight > 0) {
        const double y = std::clamp(b.labels[r], -kLargestLabel, kLargestLabel);
        learn_label(y, weight, b.indptr[r + 1] - b.indptr[r] + (spec_.fit_intercept ? 1 : 0));
      }
      ++t;
      if (joint.open() && !joint_is_worth_it()) end_joint();
      return {};
    });
  }

  // What the joint settings make of an example. False: memory is exhausted.
  template <class Index>
  bool take_joint(const BlockView<Index>& b, std::int64_t r, bool learn) noexcept {
    if (!joint.open()) return true;
    try {
      const std::size_t first = spec_.fit_intercept ? 1 : 0;
      if (learn)
        joint.take(example_.joint, b, r,
                   [&](std::int64_t k) { return example_.rows[first + static_cast<std::size_t>(k)]; });
      else
        joint.look(example_.joint, b, r);
    } catch (const std::bad_alloc&) {
      return false;
    }
    gather_joint(example_, b.offset(r), true);
    return true;
  }

  bool joint_is_worth_it() noexcept {
    if (!joint.worth_it(t)) return false;
    if (t < kJudged || (t & (t - 1)) != 0) return true;
    double claim = 0;
    for (int c = k_; c < all_; ++c) claim += weights[c];
    return claim >= kJointClaim;
  }
  void end_joint() noexcept {
    joint.close();
    double left = 0;
    for (int c = 0; c < k_; ++c) left += weights[c];
    for (int c = 0; c < all_; ++c) weights[c] = c < k_ ? weights[c] / left : 0;
  }

  // The rows of an example, those that are missing put there.
  template <class Index>
  Status locate(const BlockView<Index>& b, std::int64_t r) noexcept {
    const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
    if (!example_.make(end - begin + 1)) return Status::out_of_memory;
    double** rows = example_.rows.data();
    if (spec_.fit_intercept) *rows++ = intercept.data();
    return find_rows(store_, width_, b, begin, end, rows, features);
  }

  void learn_label(double y, double weight, std::int64_t rows) noexcept {
    RegressionExample& e = example_;
    const bool known = t >= 2 && seen[0] > 0;
    const double recent = 2 * weight / (seen[0] + 2 * weight);
    for (int c = 0; c < members(); ++c) {
      const double r = residual(y, e.means[c]), s2 = noise_of(c), freedom = freedom_of(c);
      double share = 1;  // of the example that is believed
      if (freedom > 0 && s2 > 0) share = (freedom + 1) / (freedom + r * r / (s2 * (1 + e.spreads[c])));
      e.residuals[c] = r;
      e.noise[c] = 1 / (weight * share);
      squares[c] += recent * (share * (r * r / (1 + e.spreads[c])) - squares[c]);
      losses[c] += weight * r * r / 2;
    }
    const double unsure = uncertainty(e);
    note(y, residual(y, average(e)), unsure, weight, recent);
    for (const bool scaled : {false, true}) kernels_.step(part(e, scaled, rows));
    if (joint.open()) {
      double pulls[kJointLanes];
      for (int k = 0; k < kJointLanes; ++k)
        pulls[k] = e.residuals[k_ + k] / (e.noise[k_ + k] + e.spreads[k_ + k]);
      joint.step(e.joint, 0, e.noise.data() + k_, pulls);
      joint.follow_units(e.joint);
    }
    if (known) reweigh(yardstick(unsure), weight);
  }
  static double residual(double y, double mean) noexcept {
    return std::clamp(y - mean, -kLargestLabel, kLargestLabel);
  }

  // The sums of what the average has left.
  void note(double y, double r, double unsure, double weight, double recent) noexcept {
    const double square = r * r / unsure;
    seen[0] += weight;
    seen[1] += weight * y * y;
    seen[2] += weight * r * r;
    seen[3] += recent * (square - seen[3]);
    seen[4] += recent * (std::min(square * square, kLargestLabel * kLargestLabel) - seen[4]);
  }

  // By Bayes' rule, as if labels had Gaussian noise of this variance (this example's residual is part of it, so that one
  // outlier cannot decide), no residual counting for more than kFar deviations; then a share of 1 / (t + 1) is spread
  // evenly, so that who becomes the best later is found.
  void reweigh(double variance, double weight) noexcept {
    RegressionExample& e = example_;
    const double limit = kFar * std::sqrt(variance);
    double best = std::numeric_limits<double>::infinity(), total = 0;
    for (int c = 0; c < members(); ++c) {
      const double near = std::min(std::fabs(e.residuals[c]), limit);
      e.lost[c] = near * near / (2 * variance);
      best = std::min(best, e.lost[c]);
    }
    if (!std::isfinite(best)) return;
    for (int c = 0; c < members(); ++c) {
      weights[c] *= std::exp(weight * (best - e.lost[c]));
      total += weights[c];
    }
    const double share = 1 / (static_cast<double>(t) + 1), even = share / members();
    for (int c = 0; c < members(); ++c) weights[c] = (1 - share) * weights[c] / total + even;
  }

  template <class Index>
  Outcome score_rows(const BlockView<Index>& b, double* scores) const noexcept {
    return predict_rows(b, scores, 1);
  }

  template <class Index>
  Outcome predict_rows(const BlockView<Index>& b, double* out, int columns) const noexcept {
    return look_at_each<RegressionExample>(
        static_cast<std::size_t>(all_), b, [&](RegressionExample& e, std::int64_t r) {
          if (!e.make(b.indptr[r + 1] - b.indptr[r] + 1)) return false;
          look_at_rows(store_, spec_.fit_intercept ? intercept.data() : nullptr, blank_.data(), b, r,
                       e.rows.data());
          gather(e, b, r, false);
          if (joint.open()) joint.look(e.joint, b, r);
          gather_joint(e, b.offset(r), columns == 2);
          out[r * columns] = average(e);
          if (columns == 2) out[r * columns + 1] = seen[3] * uncertainty(e);
          return true;
        });
  }

  // Of the label, in units of the noise's variance: of the noise, and of what is not known of the weights.
  double uncertainty(const RegressionExample& e) const noexcept {
    double sum = 0;
    for (int c = 0; c < members(); ++c) sum += weights[c] * (1 + e.spreads[c]);
    return sum;
  }

  RegressionSpec spec_;
  int k_, all_;  // members with a state in rows, and all
  int raw_ = 0;  // members that see values as they are
  std::vector<double> precisions_, blank_;
  RegressionExample example_;
  const PortfolioKernels& views_ = best_portfolio_kernels();
  const RegressionKernels& kernels_ = best_regression_kernels();
};

}  // namespace

std::unique_ptr<Regression> make_regression(const std::string& store, const RegressionSpec& spec) {
  return make_over<Regression, PackedHashedStore>(
      store, [&]<AnyStore Store>() { return std::make_unique<RegressionModel<Store>>(spec); });
}

}  // namespace riata
