// Bayesian online classification: independent Gaussian weights, one posterior a column, updated example by
// example ("Low complexity approximate Bayesian logistic regression for sparse online learning", 2021).
//
// Columns are outputs x components. A component is one prior variance under one view of the feature values;
// the prediction averages components by their evidence. Column (v, o, g) stands at
// (v * outputs + o) * priors + g.
//
// A row keeps what was learned beside its prior, so that zeros are a feature never seen: the mean less the
// prior's, and the precision (1 / variance) less the prior's, for every column; then, where there are such, a
// prior of its own (less the common one), and the time of the last touch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "riata/block/block.hpp"
#include "riata/linear/model.hpp"

namespace riata {

enum class View { raw, binary, log1p };

struct BayesianSpec {
  std::string update = "marginal", link = "logit", mean = "taylor", variance = "curvature";
  std::vector<double> prior_variances{1.0};
  std::vector<View> views{View::raw};
  double prior_mean = 0;
  double intercept_variance = 1;
  bool fit_intercept = true;
  double half_life = 0;  // examples; 0: nothing is forgotten
  double share = 0;      // of the evidence that is spread evenly after each example
  int outputs = 1;
  int samples = 0;
  std::uint64_t seed = 0;
  int bits = 22;
  bool own_priors = false;     // rows have room for a prior of their own
  bool ignore_unseen = false;  // score() leaves out features without a row
  // By name or namespace; for features not seen before.
  std::unordered_map<std::string, double> named_variances;
};

struct Posterior {  // rows brought current
  std::vector<std::int64_t> keys;
  std::vector<double> means, precisions;              // keys x columns
  std::vector<double> prior_means, prior_precisions;  // likewise
};

// Scores are n x outputs: the log odds of the predicted probability.
class Bayesian : public Model {
 public:
  // Mean and variance of every row's score in every column, eq. 6: rows x columns each.
  virtual Outcome moments(const BlockView<std::int32_t>&, double* means,
                          double* variances) const noexcept = 0;
  virtual Outcome moments(const BlockView<std::int64_t>&, double* means,
                          double* variances) const noexcept = 0;

  virtual Posterior posterior() const = 0;            // of the features that were learned
  virtual Posterior intercept_posterior() const = 0;  // keys is empty
  int columns() const noexcept { return columns_; }
  int row_width() const noexcept override { return width_; }  // the intercept is such a row

  std::vector<double> log_evidence;  // outputs x components; the best of an output is 0

 protected:
  int columns_ = 1, width_ = 2;
};

// Likewise the moments of blocks with either kind of index: moments_of.
template <class Self, class Base>
class BothMoments : public BothIndices<Self, Base> {
 public:
  using BothIndices<Self, Base>::BothIndices;

  Outcome moments(const BlockView<std::int32_t>& b, double* means,
                  double* variances) const noexcept override {
    return this->self().moments_of(b, means, variances);
  }
  Outcome moments(const BlockView<std::int64_t>& b, double* means,
                  double* variances) const noexcept override {
    return this->self().moments_of(b, means, variances);
  }
};

std::unique_ptr<Bayesian> make_bayesian(const std::string& store,
                                        const BayesianSpec& spec);  // null: no such thing

}  // namespace riata
