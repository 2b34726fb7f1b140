// A portfolio: many settings of several rules learn side by side, each with the bits it would have alone, and the
// prediction averages them (evidence.hpp).
//
// A row of a model file has, for its feature, how often it was not zero and the sum of its squares, then group by group
// the state of all members. A group is the members of one rule that see the same view of the values: column (o, j) of
// output o and member j is at o * members + j, first the means or weights of all columns, then what was gained in
// precision or the sums of squared gradients. Zeros are a feature never seen. Members that learn all weights together
// (joint.hpp) are the last group, and keep nothing in rows. They end where they cost more than they are worth; one member
// that is none of them always stays.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "riata/linear/model.hpp"
#include "riata/portfolio/evidence.hpp"
#include "riata/portfolio/joint.hpp"
#include "riata/portfolio/single.hpp"

namespace riata {

enum class Rule { bayesian, adagrad, joint };
enum class Values { raw, rms, unit, unit_rms };
inline constexpr int kViews = 4;

struct Member {
  Rule rule = Rule::bayesian;
  Values values = Values::raw;
  double parameter = 1;  // prior variance, or rate
};

struct PortfolioSpec {
  std::vector<Member>
      members;  // those of one rule and view side by side; joint ones last, on values as they are
  std::vector<double> joint;  // four prior variances, those of the joint members among them; or none
  double intercept_variance = 1;
  bool fit_intercept = true;
  bool drop = true;     // members that cannot catch up
  bool correct = true;  // members by how they did so far
  int outputs = 1;
  bool multinomial = false;  // outputs are classes of which one is right: each member's share one probability
  int bits = 22;
  int threads = 1;               // at most; the bits do not depend on it
  bool measure = true;           // now and then, whether one alone is faster
  std::int64_t worth = 1 << 14;  // values of a Block that are worth starting threads
  std::int64_t piece = 1 << 14;  // values that groups of members learn in one go
};

// Scores are n x outputs: the log odds of the average.
class Portfolio : public Model {
 public:
  Portfolio(int outputs, int members) : evidence(outputs, members) {}
  // The scores of all members, rows x outputs x members.
  virtual Outcome member_scores(const BlockView<std::int32_t>&, double* scores) const noexcept = 0;
  virtual Outcome member_scores(const BlockView<std::int64_t>&, double* scores) const noexcept = 0;

  int row_width() const noexcept override { return width_; }  // the intercept is such a row

  std::vector<int> alive;  // of the members that the model was made with
  Joint joint;
  Evidence evidence;
  // (1 + kViews) x outputs x Single::kWidth: of all members, as far as they are linear, and of those of each view
  std::vector<double> single;
  double lengths[4] = {0, 0, 0, 0};  // sums of the lengths of rows and of their squares: raw, then rms

 protected:
  int width_ = 2;
};

// Null: no such store.
std::unique_ptr<Portfolio> make_portfolio(const std::string& store, const PortfolioSpec& spec);

}  // namespace riata
