// A linear model learned one example at a time, as bindings see it: any rule over any store, m columns wide.
// learn.hpp has the loop.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "riata/base/hash.hpp"
#include "riata/base/parameters.hpp"
#include "riata/linear/feature_scale.hpp"
#include "riata/linear/model.hpp"
#include "riata/linear/schedule.hpp"
#include "riata/losses/loss.hpp"

namespace riata {

enum class Normalize { none, l2, sqrt_nnz };

struct LinearSpec {
  const Loss* loss = nullptr;
  double loss_parameter = 0;
  Schedule schedule;
  Normalize normalize = Normalize::none;
  double clip_low = -HUGE_VAL, clip_high = HUGE_VAL;
  int columns = 1;
  bool fit_intercept = true;
  bool scaled = false;  // values are divided by the running root mean square of their feature
  int bits = 0;         // of the hashed store
  Numbers numbers;      // the rule's own parameters

  double clip(double p) const noexcept {  // NaN passes
    if (p < clip_low) return clip_low;
    return p > clip_high ? clip_high : p;
  }
};

class Linear : public Model, public ScaleSums {
 public:
  virtual Rows coefficients() const = 0;  // live rows, ascending, brought current: width = columns
  virtual std::vector<double> rule_state() const = 0;
  virtual bool set_rule_state(const std::vector<double>&) = 0;
  HashKey hash_key;  // of events' names
  // May be null; of each example that is learned next: it is only to be scored.
  const std::uint8_t* held = nullptr;
  double rate_factor() const noexcept { return rate_factor_; }
  virtual void set_rate_factor(double) noexcept = 0;  // it multiplies every learning rate from now on
  virtual void prune(double threshold) noexcept = 0;  // weights up to this size become zero

 protected:
  double rate_factor_ = 1;
};

// One file a family makes its models, so that they compile side by side. Null: no such update or store.
std::unique_ptr<Linear> make_elastic_net(const std::string& update, const std::string& store,
                                         const LinearSpec& spec);
std::unique_ptr<Linear> make_truncated(const std::string& update, const std::string& store,
                                       const LinearSpec& spec);
std::unique_ptr<Linear> make_ftrl(const std::string& update, const std::string& store,
                                  const LinearSpec& spec);

}  // namespace riata
