// A portfolio: many settings of several rules learn side by side, each with the bits it would have alone, and the
// prediction averages them (evidence.hpp).
//
// A row of the store has, for its feature, how often it was not zero and the sum of its squares, then group by group
// the state of all members. A group is the members of one rule that see the same view of the values: column (o, j) of
// output o and member j is at o * members + j, first the means or weights of all columns, then what was gained in
// precision or the sums of squared gradients. Zeros are a feature never seen.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "riata/base/model_lock.hpp"
#include "riata/block/block.hpp"
#include "riata/linear/linear.hpp"  // Outcome, Rows, Names
#include "riata/portfolio/evidence.hpp"
#include "riata/portfolio/single.hpp"

namespace riata {

enum class Rule { bayesian, adagrad };
enum class Values { raw, rms, unit, unit_rms };

struct Member {
  Rule rule = Rule::bayesian;
  Values values = Values::raw;
  double parameter = 1;  // prior variance, or rate
};

struct PortfolioSpec {
  std::vector<Member> members;  // those of one rule and view side by side
  double intercept_variance = 1;
  bool fit_intercept = true;
  bool drop = true;  // members that cannot catch up
  int outputs = 1;
  int bits = 22;
};

class Portfolio {
 public:
  Portfolio(int outputs, int members) : evidence(outputs, members) {}
  virtual ~Portfolio() = default;
  // scores: n x outputs, the log odds of the average just before each example was learned.
  virtual Outcome learn(const BlockView<std::int32_t>&, const std::int64_t* order, std::int64_t n,
                        double* scores) noexcept = 0;
  virtual Outcome learn(const BlockView<std::int64_t>&, const std::int64_t* order, std::int64_t n,
                        double* scores) noexcept = 0;
  virtual Outcome score(const BlockView<std::int32_t>&, double* scores) const noexcept = 0;
  virtual Outcome score(const BlockView<std::int64_t>&, double* scores) const noexcept = 0;
  // The scores of all members, rows x outputs x members.
  virtual Outcome member_scores(const BlockView<std::int32_t>&, double* scores) const noexcept = 0;
  virtual Outcome member_scores(const BlockView<std::int64_t>&, double* scores) const noexcept = 0;

  virtual Rows rows() const = 0;
  virtual bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n, const char* names,
                        const std::int64_t* name_offsets) noexcept = 0;
  virtual bool named() const noexcept = 0;
  virtual Names names(const std::int64_t* keys, std::int64_t n) const = 0;
  virtual std::int64_t live_weights() const noexcept = 0;
  virtual std::uint64_t bytes() const noexcept = 0;

  // Learning takes it alone, scoring together: two Python threads must not meet in one model.
  mutable ModelLock guard;

  int row_width() const noexcept { return width_; }

  std::vector<double> intercept;  // a row
  std::vector<int> alive;         // of the members that the model was made with
  Evidence evidence;
  std::vector<double> single;        // outputs x Single::kWidth
  double lengths[4] = {0, 0, 0, 0};  // sums of the lengths of rows and of their squares: raw, then rms
  std::uint64_t t = 0;
  std::int64_t features = 0;

 protected:
  int width_ = 2;
};

// Null: no such store.
std::unique_ptr<Portfolio> make_portfolio(const std::string& store, const PortfolioSpec& spec);

}  // namespace riata
