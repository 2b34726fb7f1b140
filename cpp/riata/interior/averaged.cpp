// The averaged update: dual averaging inside the bounds, a rate a feature, and the average of the weights.
//
// A feature is learned in units of the root mean square of its non-zeros so far, s: values x / s, weights u = s w.
// After k examples its weight is where
//
//   linear u + (1 + sqrt(squares)) / eta0 * u^2 / 2 + k l1 / s |u|
//
// is least inside its bounds: `linear` is the sum of its gradients, each less what keeps the minimum where it was
// while `squares`, the sum of their squares, grew. It is found when the feature occurs, so an example costs its
// non-zeros. What is read is the mean over the feature's examples, later ones counting more; where the weight has
// come to zero by now, zero.
//
// The state lies where that of the paper's update does: half[0] has linear, squares and, as y, the sum of squared
// values; half[1] the average and the number of examples; of the intercept, `product` and `least` are linear and
// squares.
#include <cmath>

#include "riata/interior/interior.hpp"

namespace riata {

namespace {

constexpr double kLargest = 1e60;
constexpr double kRecent = 3;  // the average counts the n-th example of a feature like n^kRecent

double averaging(double n) noexcept { return (kRecent + 1) / (n + kRecent); }

}  // namespace

Interval Interior::interval(std::int64_t slot) const noexcept {
  if (!spec_.bounded) return {};
  const bool above = limits_[0].lo[slot] < limits_[0].hi[slot],
             below = limits_[1].lo[slot] < limits_[1].hi[slot];
  return {below ? -limits_[1].hi[slot] : limits_[0].lo[slot],
          above ? limits_[0].hi[slot] : -limits_[1].lo[slot]};
}

// The root mean square of a feature's values, that of the example at hand included; 1 before there is any.
double Interior::scale(int column, std::int64_t slot, double value) const noexcept {
  const InteriorColumn& own = columns[column];
  const double sum = own.half[0].y[slot] + value * value, n = own.half[1].z[slot] + (value != 0 ? 1 : 0);
  return n > 0 && sum > 0 ? std::sqrt(sum / n) : 1;
}

double Interior::present(int column, std::int64_t slot, double value) const noexcept {
  const Half& half = columns[column].half[0];
  const double s = scale(column, slot, value);
  const double size = std::fabs(half.x[slot]) - spec_.l1 * static_cast<double>(t) / s;
  const double free =
      size > 0 ? -std::copysign(size, half.x[slot]) * spec_.eta0 / (1 + std::sqrt(half.z[slot])) / s : 0;
  const Interval inside = interval(slot);
  return std::fmin(std::fmax(free, inside.low), inside.high);
}

double Interior::average(int column, std::int64_t slot) const noexcept {
  const double now = present(column, slot, 0);
  if (now == 0) return 0;
  const Half& half = columns[column].half[1];
  return half.z[slot] > 0 ? half.x[slot] : now;
}

double Interior::present_intercept(int column) const noexcept {
  const InteriorColumn& own = columns[column];
  return -own.product * spec_.eta0 / (1 + std::sqrt(own.least));
}

Outcome::Status Interior::plan_averaged(double label, double weight, double offset, double* scores) noexcept {
  for (int c = 0; c < static_cast<int>(columns.size()); ++c) {
    double now = offset + present_intercept(c), mean = offset + intercept[c];
    for (std::size_t k = 0; k < row_slots_.size(); ++k) {
      now += present(c, row_slots_[k], row_values_[k]) * row_values_[k];
      mean += average(c, row_slots_[k]) * row_values_[k];
    }
    const double slope = weight * spec_.loss->slope(now, target(label, c), spec_.loss_parameter);
    if (!(std::fabs(now) <= kLargest && std::fabs(mean) <= kLargest && std::fabs(slope) <= kLargest))
      return Outcome::Status::diverged;
    for (const double value : row_values_)
      if (!(std::fabs(slope * value) <= kLargest)) return Outcome::Status::diverged;
    scores[c] = mean;
    slopes_[c] = slope;
  }
  return Outcome::Status::ok;
}

void Interior::move_averaged() noexcept {
  const auto push = [&](double& linear, double& squares, double gradient, double at) {
    const double before = std::sqrt(squares);
    squares += gradient * gradient;
    linear += gradient - (std::sqrt(squares) - before) / spec_.eta0 * at;
  };
  for (int c = 0; c < static_cast<int>(columns.size()); ++c) {
    InteriorColumn& own = columns[c];
    for (std::size_t k = 0; k < row_slots_.size(); ++k) {
      const std::int64_t slot = row_slots_[k];
      const double value = row_values_[k];
      if (value == 0) continue;
      own.half[0].y[slot] += value * value;
      own.half[1].z[slot] += 1;
      const double s = scale(c, slot, 0);
      push(own.half[0].x[slot], own.half[0].z[slot], slopes_[c] * (value / s), s * present(c, slot, 0));
    }
    if (spec_.fit_intercept) push(own.product, own.least, slopes_[c], present_intercept(c));
  }
  ++t;  // the penalty of this example counts from here on
  for (int c = 0; c < static_cast<int>(columns.size()); ++c) {
    Half& mean = columns[c].half[1];
    for (std::size_t k = 0; k < row_slots_.size(); ++k)
      if (const std::int64_t slot = row_slots_[k]; row_values_[k] != 0)
        mean.x[slot] += averaging(mean.z[slot]) * (present(c, slot, 0) - mean.x[slot]);
    if (spec_.fit_intercept)
      intercept[c] += averaging(static_cast<double>(t)) * (present_intercept(c) - intercept[c]);
  }
  --t;
}

template <class Index>
Outcome Interior::judge(const BlockView<Index>& b, double* sums, double* gradient,
                        std::int64_t* unknown) const noexcept {
  const int m = static_cast<int>(columns.size());
  std::vector<double> score(static_cast<std::size_t>(m));
  for (std::int64_t r = 0; r < b.rows; ++r) {
    if (!b.holds(r)) return {Outcome::Status::bad_block, r};
    const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
    const double factor = row_factor(b, begin, end), weight = b.weights == nullptr ? 1 : b.weights[r];
    for (int c = 0; c < m; ++c) score[static_cast<std::size_t>(c)] = read_intercept(c) + b.offset(r);
    for (std::int64_t k = begin; k < end; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      if (!SlotMap::possible(key)) return {Outcome::Status::bad_index, r};
      const std::int64_t slot = slot_of(key);
      *unknown += slot == 0;
      for (int c = 0; c < m && slot != 0; ++c)
        score[static_cast<std::size_t>(c)] +=
            this->weight(c, slot) * (factor * static_cast<double>(b.values[k]));
    }
    for (int c = 0; c < m; ++c) {
      const double p = score[static_cast<std::size_t>(c)], y = target(b.labels[r], c);
      const double slope = weight * spec_.loss->slope(p, y, spec_.loss_parameter);
      sums[3 * c] += weight * spec_.loss->value(p, y, spec_.loss_parameter);
      sums[3 * c + 1] += slope;
      sums[3 * c + 2] += weight;
      for (std::int64_t k = begin; k < end; ++k)
        if (const std::int64_t slot = slot_of(static_cast<std::uint64_t>(b.indices[k])); slot != 0)
          gradient[slot * m + c] += slope * (factor * static_cast<double>(b.values[k]));
    }
  }
  return {Outcome::Status::ok, b.rows};
}

template Outcome Interior::judge(const BlockView<std::int32_t>&, double*, double*,
                                 std::int64_t*) const noexcept;
template Outcome Interior::judge(const BlockView<std::int64_t>&, double*, double*,
                                 std::int64_t*) const noexcept;

}  // namespace riata
