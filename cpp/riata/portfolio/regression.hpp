// Bayesian linear regressions side by side: settings of the prior, of what they see of the values, and of the noise,
// each learned alone, and the prediction averages them by their squared residuals so far.
//
// A row of the store has how often its feature was not zero and the sum of its squares, then the means of all columns,
// then what was gained in precision. Weights have variances in units of the noise's, which is learned beside them, so
// the unit of the labels does not matter. Zeros are a feature never seen. Behind the members come those that learn all
// weights together (joint.hpp), which keep nothing in rows. They end where they cost more than they are worth: then their
// weights in the average are zero.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "riata/linear/model.hpp"
#include "riata/portfolio/joint.hpp"

namespace riata {

struct RegressionMember {
  bool scaled = false;        // sees values divided by their running root mean square
  double prior_variance = 1;  // of a weight, in units of the noise's variance
  double freedom = 0;         // of Student's t as the noise; 0: the noise is Gaussian
};

struct RegressionSpec {
  std::vector<RegressionMember> members;  // those that see values as they are first
  std::vector<double> joint;  // prior variances of four more that learn all weights together; or none
  double intercept_variance = 1e10;
  bool fit_intercept = true;
  int bits = 22;
};

class Regression : public Model {
 public:
  // rows x 2: mean and variance of the label.
  virtual Outcome moments(const BlockView<std::int32_t>&, double* out) const noexcept = 0;
  virtual Outcome moments(const BlockView<std::int64_t>&, double* out) const noexcept = 0;
  int row_width() const noexcept override { return width_; }

  Joint joint;                  // the four settings behind the members
  std::vector<double> weights;  // members: in the average
  std::vector<double> losses;   // members: half the squared residuals, added up
  std::vector<double> squares;  // members: recent mean of residuals squared, in units of their uncertainty
  // Sums: weights of examples, labels squared, residuals of the average squared; and the mean of these in units of what was
  // not known of the weights, and of their squares. These mean and that of `squares` are recent ones: the weight of an example grows with its
  // number, so that what was lost at first, before anything was known, is forgotten.
  double seen[5] = {0, 0, 0, 0, 0};

 protected:
  int width_ = 2;
};

// Null: no such store.
std::unique_ptr<Regression> make_regression(const std::string& store, const RegressionSpec& spec);

}  // namespace riata
