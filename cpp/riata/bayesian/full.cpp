// The joint update with a full covariance (appendix D.1): for data of few features, each example costs their
// square.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "riata/base/hash.hpp"
#include "riata/bayesian/mixture.hpp"
#include "riata/bayesian/row_layout.hpp"
#include "riata/bayesian/steps.hpp"

namespace riata {

namespace {

constexpr std::uint64_t kInterceptKey = kKeyMask;
constexpr std::size_t kMostFeatures = 4096;  // a covariance of 128 MiB a column

// Mean and covariance of the features seen so far, in the order in which they came. It grows by independent
// features.
class Joint {
 public:
  std::size_t size() const noexcept { return mean_.size(); }
  void join(double mean, double variance) {
    const std::size_t n = size(), wider = n + 1 > stride_ ? std::max<std::size_t>(8, 2 * stride_) : stride_;
    if (wider != stride_) {
      std::vector<double> grown(wider * wider, 0.0);
      for (std::size_t i = 0; i < n; ++i) std::copy(row(i), row(i) + n, grown.data() + i * wider);
      covariance_ = std::move(grown);
      stride_ = wider;
    }
    mean_.push_back(mean);
    row(n)[n] = variance;
  }
  double* row(std::size_t i) noexcept { return covariance_.data() + i * stride_; }
  const double* row(std::size_t i) const noexcept { return covariance_.data() + i * stride_; }
  double& mean(std::size_t i) noexcept { return mean_[i]; }
  double mean(std::size_t i) const noexcept { return mean_[i]; }

  // mean += pull * v; covariance -= shrink * v v', eqs. 45 and 46 by Sherman and Morrison.
  void update(const std::vector<double>& v, double pull, double shrink) noexcept {
    const std::size_t n = size();
    for (std::size_t i = 0; i < n; ++i) {
      mean_[i] = clamped(mean_[i] + pull * v[i], kLargestMean);
      double* to = row(i);
      for (std::size_t j = 0; j < n; ++j) to[j] -= shrink * (v[i] * v[j]);
      to[i] = std::max(to[i], 1 / kLargestPrecision);  // rounding could take a variance to zero
    }
  }

 private:
  std::vector<double> mean_, covariance_;
  std::size_t stride_ = 0;
};

class FullBayesian final : public BothMoments<FullBayesian, Bayesian> {
 public:
  FullBayesian(const BayesianSpec& spec, int columns, Step step)
      : spec_(spec),
        mixture_(spec.outputs, static_cast<int>(spec.views.size()),
                 static_cast<int>(spec.prior_variances.size()), spec.link, spec.share, 0),
        step_(step),
        joint_(static_cast<std::size_t>(columns)),
        v_(static_cast<std::size_t>(columns)) {
    columns_ = columns;
    const auto n = static_cast<std::size_t>(columns);
    means_.resize(n);
    spreads_.resize(n);
    y_.resize(n);
    log_evidence.assign(static_cast<std::size_t>(spec.outputs * mixture_.components()), 0.0);
    if (spec.fit_intercept) place_of(kInterceptKey);
    width_ = row_size(keys_.size());
  }

  Posterior posterior() const override {
    std::vector<std::pair<std::uint64_t, std::size_t>> found;
    for (std::size_t i = 0; i < keys_.size(); ++i)
      if (keys_[i] != kInterceptKey) found.emplace_back(keys_[i], i);
    std::sort(found.begin(), found.end());
    Posterior out;
    for (const auto& [key, place] : found) {
      out.keys.push_back(static_cast<std::int64_t>(key));
      add(out, place);
    }
    return out;
  }
  Posterior intercept_posterior() const override {
    Posterior out;
    const auto found = places_.find(kInterceptKey);
    if (found != places_.end()) add(out, found->second);
    return out;
  }
  // A row: for every column the mean and the covariances with all features, in the order of the rows.
  Rows rows() const override {
    Rows out;
    const std::size_t n = keys_.size();
    for (std::size_t i = 0; i < n; ++i) {
      out.keys.push_back(static_cast<std::int64_t>(keys_[i]));
      for (const Joint& joint : joint_) {
        out.values.push_back(joint.mean(i));
        out.values.insert(out.values.end(), joint.row(i), joint.row(i) + n);
      }
    }
    return out;
  }
  bool fits(std::int64_t rows, int width) const noexcept override {
    return width == row_size(static_cast<std::size_t>(rows));
  }
  bool set_rows(const std::int64_t* keys, const double* values, std::int64_t count, const char*,
                const std::int64_t*) noexcept override {
    const auto n = static_cast<std::size_t>(count);
    if (n > kMostFeatures) return false;
    try {
      keys_.clear();
      places_.clear();
      for (Joint& joint : joint_) joint = Joint();
      for (std::size_t i = 0; i < n; ++i) {
        if (static_cast<std::uint64_t>(keys[i]) > kInterceptKey) return false;
        place_of(static_cast<std::uint64_t>(keys[i]));
      }
      if (keys_.size() != n || places_.contains(kInterceptKey) != spec_.fit_intercept) return false;
    } catch (const std::bad_alloc&) {
      return false;
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (Joint& joint : joint_) {
        joint.mean(i) = *values++;
        std::copy(values, values + n, joint.row(i));
        values += n;
      }
    }
    width_ = row_size(n);
    return true;
  }
  bool named() const noexcept override { return false; }
  Names names(const std::int64_t*, std::int64_t n) const override {
    Names out;
    out.offsets.assign(static_cast<std::size_t>(n) + 1, 0);
    return out;
  }
  std::int64_t live_weights() const noexcept override {
    return static_cast<std::int64_t>(keys_.size() - places_.count(kInterceptKey)) * spec_.outputs;
  }
  std::uint64_t bytes() const noexcept override {
    return joint_.size() * keys_.size() * (keys_.size() + 1) * sizeof(double);
  }

 private:
  using Status = Outcome::Status;
  friend BothIndices<FullBayesian, Bayesian>;
  friend BothMoments<FullBayesian, Bayesian>;

  int row_size(std::size_t n) const noexcept { return columns_ * static_cast<int>(n + 1); }
  double prior_variance(std::uint64_t key, std::size_t c) const noexcept {
    return key == kInterceptKey ? spec_.intercept_variance
                                : spec_.prior_variances[c % spec_.prior_variances.size()];
  }
  double value_in(std::size_t c, double x) const noexcept {
    return seen_as(spec_.views[c / (joint_.size() / spec_.views.size())], x);
  }

  std::size_t place_of(std::uint64_t key) {
    const auto [found, is_new] = places_.try_emplace(key, keys_.size());
    if (is_new) {
      keys_.push_back(key);
      for (std::size_t c = 0; c < joint_.size(); ++c)
        joint_[c].join(spec_.prior_mean, prior_variance(key, c));
    }
    return found->second;
  }

  void add(Posterior& out, std::size_t i) const {
    for (std::size_t c = 0; c < joint_.size(); ++c) {
      out.means.push_back(joint_[c].mean(i));
      out.precisions.push_back(1 / joint_[c].row(i)[i]);
      out.prior_means.push_back(spec_.prior_mean);
      out.prior_precisions.push_back(1 / prior_variance(keys_[i], c));
    }
  }

  // Places and values of an example; the intercept first.
  template <class Index>
  Status locate(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) {
    at_.clear();
    if (spec_.fit_intercept) at_.emplace_back(place_of(kInterceptKey), 1.0);
    for (std::int64_t k = begin; k < end; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      if (key >= kInterceptKey) return Status::bad_index;
      const std::size_t place = place_of(key);
      if (keys_.size() > kMostFeatures) return Status::diverged;
      at_.emplace_back(place, static_cast<double>(b.values[k]));
      if (b.names == nullptr) features = std::max(features, static_cast<std::int64_t>(key) + 1);
    }
    return Status::ok;
  }

  double seen(std::size_t c, std::size_t place, double x) const noexcept {
    return keys_[place] == kInterceptKey ? x : value_in(c, x);
  }

  // v = covariance x (eq. 43), x'v, and x'mean + offset.
  void gather_column(std::size_t c, double offset) {
    std::vector<double>& v = v_[c];
    v.assign(keys_.size(), 0.0);
    means_[c] = offset;
    spreads_[c] = 0;
    for (const auto& [place, value] : at_) {
      const double x = seen(c, place, value);
      const double* row = joint_[c].row(place);
      for (std::size_t j = 0; j < v.size(); ++j) v[j] += x * row[j];
      means_[c] += x * joint_[c].mean(place);
    }
    for (const auto& [place, value] : at_) spreads_[c] += seen(c, place, value) * v[place];
    spreads_[c] = std::max(spreads_[c], 0.0);
  }

  // The joint step along x alone: as if x'w were one weight with variance x'v.
  void step_column(std::size_t c, double weight) noexcept {
    if (spreads_[c] <= 0) return;
    const double one = 1;
    double move = 0, gain = 0;
    UpdateInput along;
    along.rows = 1;
    along.x = &one;
    along.variances = along.spreads = &spreads_[c];
    along.means = &means_[c];
    along.y = &y_[c];
    along.weight = weight;
    along.moves = &move;
    along.gains = &gain;
    step_(along);
    joint_[c].update(v_[c], move / spreads_[c], gain / (1 + gain * spreads_[c]));
  }

  template <class Index>
  Outcome learn_rows(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n,
                     double* scores) noexcept {
    std::int64_t i = 0;
    try {
      for (; i < n; ++i) {
        const std::int64_t r = order == nullptr ? i : order[i];
        if (!b.holds(r)) return {Status::bad_block, i};
        const Status status = locate(b, b.indptr[r], b.indptr[r + 1]);
        width_ = row_size(keys_.size());
        if (status != Status::ok) return {status, i};
        for (std::size_t c = 0; c < joint_.size(); ++c) gather_column(c, b.offset(r));
        double* score = scores + i * spec_.outputs;
        const double weight = b.weights == nullptr ? 1 : std::min(b.weights[r], kLargestWeight);
        if (weight > 0) {
          mixture_.ask(b.labels[r], y_.data());
          mixture_.learn(means_.data(), spreads_.data(), y_.data(), weight, log_evidence, score);
          for (std::size_t c = 0; c < joint_.size(); ++c) step_column(c, weight);
        } else {
          mixture_.predict(means_.data(), spreads_.data(), log_evidence, score);
        }
        ++t;
      }
    } catch (const std::bad_alloc&) {
      return {Status::out_of_memory, i};
    }
    return {Status::ok, n};
  }

  // Eq. 6 with covariances; features never seen are independent of all others.
  template <class Index>
  void look(const BlockView<Index>& b, std::int64_t r, double* means, double* spreads) const {
    std::vector<std::pair<std::size_t, double>> known;
    const auto n = joint_.size();
    std::fill(means, means + n, b.offset(r));
    std::fill(spreads, spreads + n, 0.0);
    if (const auto found = places_.find(kInterceptKey); found != places_.end())
      known.emplace_back(found->second, 1.0);
    for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      const auto found = key < kInterceptKey ? places_.find(key) : places_.end();
      const auto value = static_cast<double>(b.values[k]);
      if (found != places_.end()) {
        known.emplace_back(found->second, value);
      } else if (!spec_.ignore_unseen) {
        for (std::size_t c = 0; c < n; ++c) {
          const double x = value_in(c, value);
          means[c] += x * spec_.prior_mean;
          spreads[c] += x * x * prior_variance(key, c);
        }
      }
    }
    for (std::size_t c = 0; c < n; ++c) {
      double known_spread = 0;
      for (const auto& [i, xi] : known) {
        const double* row = joint_[c].row(i);
        double sum = 0;
        for (const auto& [j, xj] : known) sum += seen(c, j, xj) * row[j];
        known_spread += seen(c, i, xi) * sum;
        means[c] += seen(c, i, xi) * joint_[c].mean(i);
      }
      spreads[c] += std::max(known_spread, 0.0);
    }
  }

  template <class Index>
  Outcome moments_of(const BlockView<Index>& b, double* means, double* variances) const noexcept {
    try {
      for (std::int64_t r = 0; r < b.rows; ++r) {
        if (!b.holds(r)) return {Status::bad_block, r};
        look(b, r, means + r * columns_, variances + r * columns_);
      }
    } catch (const std::bad_alloc&) {
      return {Status::out_of_memory, 0};
    }
    return {Status::ok, b.rows};
  }

  template <class Index>
  Outcome score_rows(const BlockView<Index>& b, double* scores) const noexcept {
    try {
      std::vector<double> means(joint_.size()), spreads(joint_.size());
      for (std::int64_t r = 0; r < b.rows; ++r) {
        if (!b.holds(r)) return {Status::bad_block, r};
        look(b, r, means.data(), spreads.data());
        mixture_.predict(means.data(), spreads.data(), log_evidence, scores + r * spec_.outputs);
      }
    } catch (const std::bad_alloc&) {
      return {Status::out_of_memory, 0};
    }
    return {Status::ok, b.rows};
  }

  BayesianSpec spec_;
  Mixture mixture_;
  Step step_;
  std::vector<std::uint64_t> keys_;
  std::unordered_map<std::uint64_t, std::size_t> places_;
  std::vector<Joint> joint_;            // one a column
  std::vector<std::vector<double>> v_;  // scratch, one a column
  std::vector<double> means_, spreads_, y_;
  std::vector<std::pair<std::size_t, double>> at_;
};

}  // namespace

std::unique_ptr<Bayesian> make_full_bayesian(const BayesianSpec& spec, int columns, Step step) {
  return std::make_unique<FullBayesian>(spec, columns, step);
}

}  // namespace riata
