// The minimum, over examples in memory, of
//
//   sum of losses + gamma sum |b_j| + gamma0 |b_0|,      low_j <= b_j <= high_j, b_0 the intercept.
//
// Newton's steps: the losses are replaced by parabolas at the present weights, coordinate descent goes towards the
// minimum of that among the features that are not zero or pull hardest, and the step is halved until the objective has
// fallen. A coordinate costs its column of the examples; where sweeps over those that are not zero have cost as much as
// the square of their curvature would, that is made, and Shooting solves it (shooting.hpp). Where hundreds are not zero, few of
// them in any one example, their curvature is sparse: its factor, of their signs kept, leads to their minimum.
//
// One thread, and an order of its own: the same bits wherever it runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "riata/losses/loss.hpp"
#include "riata/sketch/curvature.hpp"
#include "riata/sketch/example_columns.hpp"
#include "riata/sketch/shooting.hpp"
#include "riata/sketch/sparse_cholesky.hpp"

namespace riata {

struct InMemoryTask {
  const double* signs = nullptr;    // of each example: -1 or +1
  const double* weights = nullptr;  // may be null: all 1
  const double* offsets = nullptr;  // may be null: all 0
  bool intercept = true;
  double gamma = 1, gamma0 = 0;
  CoordinateBounds bounds;   // by feature
  double tolerance = 1e-6;   // of the gap, relative to the objective
  double tau = 0.8;          // features that pull so hard, relative to gamma, may be active
  std::size_t capacity = 0;  // most that are not zero; 0: as many as it takes
  int steps = 200;
  // So many products may be spent. Columns whose units are many powers of ten apart would take minutes otherwise; what has
  // been found by then is what there is, with its gap.
  double work = 4e9;
  bool (*interrupted)() = nullptr;  // asked now and then, may be null: whether to end with what there is
};

class InMemory {
 public:
  InMemory(const Link& link, const ExampleColumns& x, const InMemoryTask& task);

  // Goes on from these weights: by feature, and the intercept. Whether the gap is small enough.
  bool solve(std::vector<double>& b, double& b0);

  double objective = 0, gap = 0;
  int steps = 0;
  std::vector<double> pulls;  // the negative gradient of the losses, by feature, at the solution

 private:
  struct State {  // of the examples, at some weights
    std::vector<double> margin, loss, slope, curvature;
    double total = 0;  // of the losses
  };

  bool free_intercept() const noexcept { return task_.intercept && !(task_.gamma0 > 0); }
  double weight(std::size_t i) const noexcept { return task_.weights == nullptr ? 1 : task_.weights[i]; }
  double low(std::size_t j) const noexcept {
    return task_.bounds.low == nullptr ? -HUGE_VAL : task_.bounds.low[j];
  }
  double high(std::size_t j) const noexcept {
    return task_.bounds.high == nullptr ? HUGE_VAL : task_.bounds.high[j];
  }
  double inside(std::size_t j, double to) const noexcept {  // the bounds
    return std::min<double>(std::max<double>(to, low(j)), high(j));
  }

  void evaluate(State& s) const noexcept;
  double penalty(const std::vector<double>& b, double b0) const noexcept;
  void pull() noexcept;
  double violation(std::size_t j, double pull) const noexcept {
    return violation_at(pull, b_[j], task_.gamma, low(j), high(j));
  }
  double lower_bound() const noexcept;
  double least_of_feature(double pull, double scale, double change, std::size_t j) const noexcept;
  void choose();

  // The quadratic model, of the change of the weights
  void model(double accuracy);
  void enter(std::size_t j) noexcept;
  double move(std::size_t j) noexcept;
  double move_intercept() noexcept;
  void shift(std::size_t j, double to) noexcept;
  double sweep(const std::vector<std::size_t>& features) noexcept;
  double together(double accuracy);
  double curvature_costs();
  SquareMatrix square_of_live();
  void solve_square(double accuracy);

  // The features that are not zero, by a sparse system
  void choose_face();
  bool intercept_joins() const noexcept;
  bool plan_face();
  bool leave_face(const std::vector<char>& stays);
  void solve_face();
  std::vector<double> step_of_face() const;
  void shift_intercept(double to) noexcept;
  void back(const std::vector<double>& from);

  bool step();

  const Link& link_;
  const ExampleColumns& x_;
  InMemoryTask task_;
  std::vector<double> b_, old_;  // the weights, with the change; without it
  double b0_ = 0, old0_ = 0, pull0_ = 0;
  State at_, next_;
  std::vector<double> bent_, other_bent_;  // by example: curvature times the change of its margin; elsewhere
  std::vector<double> diagonal_;           // by feature, for those that are active
  std::vector<std::size_t> active_, live_, face_;
  UpperHalf upper_;  // of the curvature of the face
  SparseCholesky cholesky_;
  std::vector<std::int32_t> in_row_;  // how many live features an example has
  double curvature0_ = 0, spent_ = 0, worst_ = 0, length_ = 1;
  double work_left_ = 0, asked_at_ = 0;  // in products; what was left when `interrupted` was asked
  bool near_ = false;                    // the gap is small: steps need no care
  bool solved_ = false;                  // the last step needed more than sweeps: they alone take long here
  bool at_once_ = false, solved_square_ = false;
};

}  // namespace riata
