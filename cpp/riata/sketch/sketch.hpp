// The sketch of a pass (Balakrishnan & Madigan 2008, Algorithm 3): at a point b that stays fixed, the sums
// over all examples of the loss, of its gradient in every feature, and of its curvature among the active
// features.
//
// Sums have a fixed order, so that any number of threads gives the same bits and rows may come in any blocks:
// the loss and the gradient are kept in kParts parts that take turns, kTurn rows each; an entry of the
// curvature belongs to one thread, which adds to it row after row.
//
// The margin of an example needs the active weights alone, so one pass yields the objective, the gradient and
// the model of the objective around b. Memory: the gradients of the parts, one entry a feature each, and the curvature.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "riata/base/model_lock.hpp"
#include "riata/block/block.hpp"
#include "riata/losses/loss.hpp"
#include "riata/sketch/active_features.hpp"
#include "riata/sketch/check_rows.hpp"
#include "riata/sketch/gradient_array.hpp"
#include "riata/sketch/shooting.hpp"

namespace riata {

class Sketch {
 public:
  static constexpr int kParts = 2;
  static constexpr std::int64_t kTurn = 512;  // rows a part takes before it is the other's turn

  // Where the weights came by a step from others, the pass adds up the loss at parts of that step as well: the
  // margins at both its ends are known, so a search along it costs no pass of its own.
  static constexpr int kLengths = 6;
  static constexpr double kLength[kLengths] = {0.5, 0.25, 0.125, 0.0625, 1.0 / 64, 1.0 / 512};

  struct Sums {  // of one part, besides the gradient
    double loss = 0, slope = 0, weight = 0, positive = 0;
    double absolute_slope = 0;
    double dual = 0;  // over the positive class, of loss - margin * slope: its part of the dual objective
    double along[kLengths] = {};  // of the loss, at shorter steps from the origin of the pass
    void add(const Sums& other) noexcept {
      loss += other.loss;
      slope += other.slope;
      weight += other.weight;
      positive += other.positive;
      absolute_slope += other.absolute_slope;
      dual += other.dual;
      for (int k = 0; k < kLengths; ++k) along[k] += other.along[k];
    }
  };

  virtual ~Sketch() = default;

  // Starts a pass at the weights `b` of the features `keys`, all of them active; ascending, unless all are
  // kept. Without `curved`, a pass adds up what a certificate needs: no curvature, and no next weights.
  virtual void begin(const std::vector<std::int64_t>& keys, const std::vector<double>& b, double intercept,
                     bool curved = true) = 0;
  // The step began at the weights `b` of the features `keys`, all of which are active.
  virtual void came_from(const std::vector<std::int64_t>& keys, const std::vector<double>& b,
                         double intercept) = 0;
  // A score and a loss, without its weight, an example; with threads > 1 large blocks are shared out, the
  // bits are the same.
  virtual Accumulated accumulate(const BlockView<std::int32_t>& block, double positive, int threads,
                                 double* scores, double* losses) = 0;
  virtual Accumulated accumulate(const BlockView<std::int64_t>& block, double positive, int threads,
                                 double* scores, double* losses) = 0;
  // The minimum of the quadratic model with penalties gamma and, on the intercept, gamma0: weights by slot.
  // Bounds, where there are any, are by slot as well.
  virtual ShootingReport solve(double gamma, double gamma0, const ShootingStop& stop, std::vector<double>& b,
                               CoordinateBounds bounds = {}) = 0;
  virtual void merge(const Sketch& other) = 0;
  virtual std::vector<double> curvature() = 0;
  virtual void set_curvature(const std::vector<double>& cells) = 0;
  virtual std::size_t bytes() const noexcept = 0;
  virtual bool ordered() const noexcept = 0;
  bool curved() const noexcept { return curved_; }

  // The active features, by slot; the intercept, where there is one, before them.
  std::vector<std::int64_t> keys;
  std::vector<double> weights;  // by slot + 1: weights[0] is 0, for features that are not active
  std::vector<double> origin;   // likewise, where the step began; empty: nobody asks
  Sums sums[kParts];
  GradientArray gradients[kParts];
  UnorderedFingerprint seen;
  double largest = 0;  // |value| in any example
  std::int64_t features = 0;
  mutable ModelLock guard;  // taken by threads that share it

  Sums total() const noexcept {
    Sums t;
    for (const Sums& s : sums) t.add(s);
    return t;
  }
  // The gradient of the loss in a feature.
  double gradient(std::int64_t index) const noexcept {
    double g = 0;
    for (const GradientArray& part : gradients) g += part.get(static_cast<std::uint64_t>(index));
    return g;
  }
  std::int32_t slot(std::int64_t index) const noexcept { return slots_.find(index); }
  bool has_intercept() const noexcept { return intercept_; }
  std::size_t first() const noexcept { return intercept_ ? 1 : 0; }  // the slot of keys[0]

 protected:
  Sketch(const Link& link, bool fit_intercept) : link_(link), intercept_(fit_intercept) {}

  const Link& link_;
  bool intercept_;
  bool curved_ = true;
  ActiveSlots slots_;
};

// full: the curvature of all features is kept, not of the active ones alone.
std::unique_ptr<Sketch> make_sketch(const Link& link, bool fit_intercept, bool full);

}  // namespace riata
