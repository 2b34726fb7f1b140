// The L1-regularised delta rule: Carbonetto, Schmidt & de Freitas 2008, Fig. 1 with eq. 13.
//
// A weight is the difference of two halves, each inside its bounds, each bound with its multiplier. One
// barrier mu and one step size a couple all features, so a step sweeps over every feature seen: O(features
// seen), not O(non-zeros). Features never seen have had the same gradient, none, so they share one state:
// slot 0.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "riata/base/model_lock.hpp"
#include "riata/block/block.hpp"
#include "riata/interior/sweep.hpp"
#include "riata/linear/linear.hpp"
#include "riata/losses/loss.hpp"
#include "riata/stores/slot_map.hpp"

namespace riata {

struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

enum class RowScale { none, l1, l2, sqrt_nnz };

struct InteriorSpec {
  const Loss* loss = nullptr;
  double loss_parameter = 0;
  bool averaged = false;  // the update of averaged.cpp, not the paper's
  double eta0 = 1;        // its rate
  double l1 = 0, sigma = 0.5, k0 = 1;
  double start = 1, dual = 0.1;  // where slacks and multipliers begin
  RowScale scale = RowScale::none;
  int columns = 1;
  bool fit_intercept = true;
  std::int64_t dimension = 0;  // features there are, seen or not; 0: those seen, and one for all the others
  bool bounded = false;        // whether any bounds were given: without, a faster sweep serves
  Interval bounds;             // of every feature without its own
  std::map<std::int64_t, Interval> own_bounds;
  std::vector<std::pair<std::string, Interval>> group_bounds;  // of a name, a namespace^ or a column=
};

// One half of every weight, by slot. `y` is empty where nothing is bounded, unless the averaged update needs it.
struct Half {
  std::vector<double> x;  // the half itself
  std::vector<double> z;  // multipliers of x >= lo
  std::vector<double> y;  // multipliers of x <= hi
};

struct Limits {  // of one half, by slot; lo == hi == 0: the half is absent
  std::vector<double> lo, hi;
};

struct InteriorColumn {
  Half half[2];        // weight = half[0].x - half[1].x
  double product = 0;  // sum of slack * multiplier over the features seen: the numerator of mu
  double least = 0;    // no x + z is smaller: for the quick test of the step size
};

class Interior {
 public:
  explicit Interior(const InteriorSpec& spec);

  template <class Index>
  Outcome learn(const BlockView<Index>& block, const std::int64_t* order, std::int64_t n,
                double* scores) noexcept;

  // `keep`: one number a column; weights smaller than it count as zero.
  template <class Index>
  Outcome score(const BlockView<Index>& block, const double* keep, double* scores) const noexcept;

  // At the weights that are read: adds the loss, its slope in the score and the example's weight to `sums`, three
  // numbers a column, the gradient to `gradient`, slot by slot, and features never seen to `unknown`.
  template <class Index>
  Outcome judge(const BlockView<Index>& block, double* sums, double* gradient,
                std::int64_t* unknown) const noexcept;
  // Where the weight of a slot may be.
  Interval interval(std::int64_t slot) const noexcept;

  std::int64_t slots() const noexcept { return static_cast<std::int64_t>(keys.size()); }
  std::int64_t groups() const noexcept { return static_cast<std::int64_t>(spec_.group_bounds.size()) + 1; }
  double weight(int column, std::int64_t slot) const noexcept {
    if (is_polished())
      return polished[static_cast<std::size_t>(slot) * columns.size() + static_cast<std::size_t>(column)];
    if (spec_.averaged) return average(column, slot);
    const Half* half = columns[column].half;
    return half[0].x[slot] - half[1].x[slot];
  }
  double read_intercept(int column) const noexcept {
    return is_polished() ? polished_intercept[static_cast<std::size_t>(column)]
                         : intercept[static_cast<std::size_t>(column)];
  }
  bool is_polished() const noexcept { return !polished_intercept.empty(); }
  // State, slot by slot and column by column: x, z (and y) of one half, then of the other.
  int width() const noexcept {
    return (4 + (has_y(0) ? 1 : 0) + (has_y(1) ? 1 : 0)) * static_cast<int>(columns.size());
  }
  void save(double* rows) const noexcept;
  // Names may be null. False: not such a state.
  bool restore(const std::int64_t* slot_keys, const double* rows, std::int64_t n, const char* text,
               const std::int64_t* offsets);

  bool named() const noexcept { return !names.bytes.empty(); }

  std::vector<std::int64_t> keys;  // the feature of each slot; -1, -2, ... for the groups of those never seen
  Names names;                     // of each slot, empty where features are numbers
  std::vector<InteriorColumn> columns;
  std::vector<double> intercept;
  // Weights that are read instead, slot by slot and column by column, until another example is learned.
  std::vector<double> polished, polished_intercept;
  std::vector<double> steps;  // the last step size of each column
  std::uint64_t t = 0;
  std::int64_t features = 0;
  double rate_factor = 1;
  mutable ModelLock guard;  // for threads that share the model

 private:
  struct Plan {
    double mu, step;
  };

  void append(std::int64_t key, std::string_view name, const double* state, const Interval& own);
  std::int64_t group_of(std::string_view name) const noexcept;
  const Interval& bounds_of(std::int64_t group) const noexcept {
    return group == 0 ? spec_.bounds : spec_.group_bounds[static_cast<std::size_t>(group - 1)].second;
  }
  void truncate(std::int64_t n) noexcept;
  bool has_y(int half) const noexcept { return spec_.bounded || (spec_.averaged && half == 0); }
  std::int64_t slot_of(std::uint64_t key) const noexcept {
    return slot_of_.find(key, keys);
  }  // 0: never seen
  template <class Index>
  double row_factor(const BlockView<Index>& block, std::int64_t begin, std::int64_t end) const noexcept;
  template <class Index>
  Outcome::Status gather(const BlockView<Index>& block, std::int64_t begin, std::int64_t end) noexcept;
  template <class Index>
  Outcome::Status learn_row(const BlockView<Index>& block, std::int64_t row, double* scores) noexcept;
  double scale(int column, std::int64_t slot, double value) const noexcept;
  double present(int column, std::int64_t slot, double value) const noexcept;
  double average(int column, std::int64_t slot) const noexcept;
  double present_intercept(int column) const noexcept;
  Outcome::Status plan_averaged(double label, double weight, double offset, double* scores) noexcept;
  void move_averaged() noexcept;
  double target(double label, int column) const noexcept;
  void scatter(double slope) noexcept;
  Plan plan(InteriorColumn& column) noexcept;
  void advance_all(InteriorColumn& column, const Plan& plan) noexcept;
  double shared(std::int64_t group) const noexcept;  // how many features a group stands for
  double slot_product(const InteriorColumn& column, std::int64_t slot) const noexcept;
  BoundedView bounded(InteriorColumn& column, int half, std::int64_t from) noexcept;
  double constraints_of(std::int64_t slot) const noexcept;

  InteriorSpec spec_;
  SlotMap slot_of_;
  Limits limits_[2];              // by slot; empty where nothing is bounded
  double constraints_ = 0;        // of the features seen
  std::vector<double> gradient_;  // by slot: that of the example at hand, zero elsewhere
  std::vector<std::int64_t> row_slots_;
  std::vector<double> row_values_;   // of the example at hand, divided as `scale` says
  std::vector<double> start_state_;  // that in which new features begin
  std::vector<double> slopes_;
  std::vector<Plan> plans_;
  std::vector<Swept> sums_;
};

}  // namespace riata
