// Many settings of one rule, learned side by side, as bindings see them. learn.hpp has the loop.
//
// Settings differ by the numbers of their rule and schedule alone. A group is all settings that learn the same examples: one
// that learns every example, and with folds one for each fold, which predicts the fold's examples and learns the
// others. A unit is a setting in a group.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "riata/base/model_lock.hpp"
#include "riata/linear/linear.hpp"

namespace riata {

// What a model of one setting keeps: as linear models have it.
struct UnitState {
  Rows rows;
  int row_width = 0;
  bool scaled = false;
  Rows scale_sums;  // of scaled values, as Linear::scale_sums has them
  std::vector<double> rule_state, intercept;
  std::uint64_t t = 0;
  std::int64_t features = 0;
  bool named = false;
  Names names;
  double rate_factor = 1;
};

struct BankOutcome {
  enum class Kind { ok, refused, diverged, uneven };
  Kind kind = Kind::ok;
  Outcome outcome;   // of refused: why. Always: how many examples were finished
  int setting = -1;  // of diverged, or of uneven: it has nothing to learn from an example that others learn
};

class Bank {
 public:
  virtual ~Bank() = default;
  // `folds`: of each example to be learned the group that does not learn it, or null. `scores` of each example just
  // before it was learned: n rows of all units' outputs, group by group.
  virtual BankOutcome learn(const BlockView<std::int32_t>&, const std::int64_t* order, std::int64_t n,
                            const std::int64_t* folds, double* scores) noexcept = 0;
  virtual BankOutcome learn(const BlockView<std::int64_t>&, const std::int64_t* order, std::int64_t n,
                            const std::int64_t* folds, double* scores) noexcept = 0;
  virtual UnitState unit(int setting, int group) const = 0;
  virtual std::vector<std::int64_t> live_weights() const = 0;  // of each unit, group by group
  virtual bool keep(const std::vector<int>& settings) = 0;     // of the settings; false: memory is exhausted
  virtual void set_rate_factors(const std::vector<double>&) noexcept = 0;  // of every setting
  virtual std::uint64_t bytes() const noexcept = 0;
  virtual int settings() const noexcept = 0;
  virtual int groups() const noexcept = 0;
  virtual int outputs() const noexcept = 0;

  mutable ModelLock guard;
};

// Settings differ in `schedule` and `numbers` alone, and with AdaGrad not in its period nor in whether steps are explicit.
// Null: no such update.
std::unique_ptr<Bank> make_bank(const std::string& family, const std::string& update,
                                const std::vector<LinearSpec>& settings, int groups);

}  // namespace riata
