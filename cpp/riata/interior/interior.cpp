// Learning and scoring: what the state of interior_state.cpp is for.
#include "riata/interior/interior.hpp"

#include <algorithm>
#include <cmath>
#include <new>

namespace riata {

namespace {

constexpr double kLargest = 1e60;  // beyond it, weights or gradients have diverged

}  // namespace

double Interior::shared(std::int64_t group) const noexcept {
  if (spec_.dimension == 0 || group > 0) return 1;
  return std::fmax(0, static_cast<double>(spec_.dimension - (slots() - groups())));
}

// Classification labels are class codes: column c asks "is it class c?", a single column "is it class 1?".
double Interior::target(double label, int column) const noexcept {
  if (!spec_.loss->classification) return label;
  return label == (columns.size() == 1 ? 1 : column) ? 1 : -1;
}

template <class Index>
double Interior::row_factor(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) const noexcept {
  if (spec_.scale == RowScale::none || begin == end) return 1;
  if (spec_.scale == RowScale::sqrt_nnz) return 1 / std::sqrt(static_cast<double>(end - begin));
  double sum = 0;
  for (std::int64_t k = begin; k < end; ++k) {
    const double value = b.values[k];
    sum += spec_.scale == RowScale::l1 ? std::fabs(value) : value * value;
  }
  return spec_.scale == RowScale::l1 ? 1 / sum : 1 / std::sqrt(sum);
}

// Slots and values of a row; features that it is the first to show begin in the state of all never seen.
template <class Index>
Outcome::Status Interior::gather(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
  using Status = Outcome::Status;
  for (std::int64_t k = begin; k < end; ++k) {
    const auto key = static_cast<std::uint64_t>(b.indices[k]);
    if (!SlotMap::possible(key)) return Status::bad_index;
    if (b.names == nullptr && spec_.dimension > 0 && key >= static_cast<std::uint64_t>(spec_.dimension))
      return Status::bad_index;
  }
  if (begin < end && slots() > groups() && (b.names != nullptr) != named()) return Status::mixed_names;
  const double factor = row_factor(b, begin, end);
  try {
    row_slots_.clear();
    row_values_.clear();
    for (std::int64_t k = begin; k < end; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      if (slot_of(key) == 0) {
        const std::string_view name = b.name(k);
        const std::int64_t group = group_of(name);
        start_state_.clear();
        for (const InteriorColumn& column : columns) {
          for (const Half& half : column.half) {
            start_state_.push_back(half.x[group]);
            start_state_.push_back(half.z[group]);
            if (!half.y.empty()) start_state_.push_back(half.y[group]);
          }
        }
        append(static_cast<std::int64_t>(key), name, start_state_.data(), bounds_of(group));
      }
      row_slots_.push_back(slot_of(key));
      row_values_.push_back(factor * static_cast<double>(b.values[k]));
    }
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory;
  }
  return Status::ok;
}

void Interior::scatter(double slope) noexcept {
  for (std::size_t k = 0; k < row_slots_.size(); ++k) gradient_[row_slots_[k]] = slope * row_values_[k];
}

BoundedView Interior::bounded(InteriorColumn& column, int half, std::int64_t from) noexcept {
  Half& part = column.half[half];
  return {part.x.data() + from, part.z.data() + from, part.y.data() + from, limits_[half].lo.data() + from,
          limits_[half].hi.data() + from};
}

// mu = -sigma z'c / m and the longest step that keeps every slack and multiplier above zero (Fig. 1).
Interior::Plan Interior::plan(InteriorColumn& column) noexcept {
  double product = column.product, count = constraints_;
  for (std::int64_t g = 0; g < groups(); ++g) {
    product += shared(g) * slot_product(column, g);
    count += shared(g) * constraints_of(g);
  }
  const double mu = spec_.sigma * product / count;
  const double longest = rate_factor / (spec_.k0 + static_cast<double>(t) + 1);
  const std::int64_t first = shared(0) > 0 ? 0 : 1, n = slots() - first;
  double fastest = 0;
  if (spec_.bounded) {
    for (int h = 0; h < 2; ++h) {
      const double fall = fastest_fall_bounded(bounded(column, h, first), gradient_.data() + first,
                                               h == 0 ? 1 : -1, n, spec_.l1, mu);
      fastest = max(fall, fastest);
    }
  } else {
    Half& pos = column.half[0];
    Half& neg = column.half[1];
    // Without a gradient, -dz / z = 1 - (l1 + mu / z) / (x + z) < 1 and -dx / x < l1 / (x + z): a short step
    // cannot reach a bound there, and only the example's own features need to be asked.
    if (longest <= kFraction && longest * spec_.l1 <= kFraction * column.least) {
      for (const std::int64_t slot : row_slots_) {
        const HalfView p{&pos.x[slot], &pos.z[slot]}, q{&neg.x[slot], &neg.z[slot]};
        fastest = max(fastest_fall(p, q, &gradient_[slot], 1, spec_.l1, mu), fastest);
      }
    } else {
      const HalfView p{pos.x.data() + first, pos.z.data() + first},
          q{neg.x.data() + first, neg.z.data() + first};
      fastest = fastest_fall(p, q, gradient_.data() + first, n, spec_.l1, mu);
    }
  }
  return {mu, fastest > 0 ? min(longest, kFraction / fastest) : longest};
}

void Interior::advance_all(InteriorColumn& column, const Plan& plan) noexcept {
  const double *g = gradient_.data(), l1 = spec_.l1;
  const std::int64_t never_seen = groups(), seen = slots() - never_seen;
  if (spec_.bounded) {
    column.product = 0;
    for (int h = 0; h < 2; ++h) {
      const double sign = h == 0 ? 1 : -1;
      sweep_bounded(bounded(column, h, 0), g, sign, never_seen, l1, plan.mu, plan.step);
      column.product +=
          sweep_bounded(bounded(column, h, never_seen), g + never_seen, sign, seen, l1, plan.mu, plan.step);
    }
    return;
  }
  Half& pos = column.half[0];
  Half& neg = column.half[1];
  const Swept never = best_sweep_kernels().sweep({pos.x.data(), pos.z.data()}, {neg.x.data(), neg.z.data()},
                                                 g, 1, l1, plan.mu, plan.step);
  const Swept all =
      best_sweep_kernels().sweep({pos.x.data() + 1, pos.z.data() + 1}, {neg.x.data() + 1, neg.z.data() + 1},
                                 g + 1, seen, l1, plan.mu, plan.step);
  column.product = all.product;
  column.least = min(never.least, all.least);
}

template <class Index>
Outcome::Status Interior::learn_row(const BlockView<Index>& b, std::int64_t row, double* scores) noexcept {
  using Status = Outcome::Status;
  if (const Status status = gather(b, b.indptr[row], b.indptr[row + 1]); status != Status::ok) return status;
  const int m = static_cast<int>(columns.size());
  const double weight = b.weights == nullptr ? 1 : b.weights[row];
  if (spec_.averaged) {
    const Status status = plan_averaged(b.labels[row], weight, b.offset(row), scores);
    if (status == Status::ok) move_averaged();
    return status;
  }
  for (int c = 0; c < m; ++c) {
    double p = 0;
    for (std::size_t k = 0; k < row_slots_.size(); ++k) p += this->weight(c, row_slots_[k]) * row_values_[k];
    p += intercept[c] + b.offset(row);
    const double slope = weight * spec_.loss->slope(p, target(b.labels[row], c), spec_.loss_parameter);
    if (!(std::fabs(p) <= kLargest && std::fabs(slope) <= kLargest)) return Status::diverged;
    for (std::size_t k = 0; k < row_slots_.size(); ++k) {
      const Half* half = columns[c].half;
      const double largest = std::fmax(half[0].x[row_slots_[k]], half[1].x[row_slots_[k]]);
      if (!(std::fabs(slope * row_values_[k]) <= kLargest && largest <= kLargest)) return Status::diverged;
    }
    scores[c] = p;
    slopes_[c] = slope;
    scatter(slope);
    plans_[c] = plan(columns[c]);
    scatter(0);
    if (!(plans_[c].step > 0 && plans_[c].mu <= kLargest)) return Status::diverged;
  }
  for (int c = 0; c < m; ++c) {  // nothing can fail any more
    scatter(slopes_[c]);
    advance_all(columns[c], plans_[c]);
    scatter(0);
    if (spec_.fit_intercept) intercept[c] -= plans_[c].step * slopes_[c];
    steps[c] = plans_[c].step;
  }
  return Status::ok;
}

template <class Index>
Outcome Interior::learn(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n,
                        double* scores) noexcept {
  using Status = Outcome::Status;
  if (n > 0) polished.clear(), polished_intercept.clear();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t r = order == nullptr ? i : order[i];
    if (!b.holds(r)) return {Status::bad_block, i};
    const std::int64_t known = slots();
    const double constraints = constraints_;
    for (std::size_t c = 0; c < columns.size(); ++c) sums_[c] = {columns[c].product, columns[c].least};
    const Status status = learn_row(b, r, scores + i * static_cast<std::int64_t>(columns.size()));
    if (status != Status::ok) {  // as if the example had never been: features that it brought are forgotten
      truncate(known);
      constraints_ = constraints;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        columns[c].product = sums_[c].product;
        columns[c].least = sums_[c].least;
      }
      return {status, i};
    }
    for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k) {  // named features are in no order
      const auto key = static_cast<std::int64_t>(b.indices[k]);
      features = std::max(features, key + (key < std::numeric_limits<std::int64_t>::max() ? 1 : 0));
    }
    ++t;
  }
  return {Status::ok, n};
}

template <class Index>
Outcome Interior::score(const BlockView<Index>& b, const double* keep, double* scores) const noexcept {
  const int m = static_cast<int>(columns.size());
  for (std::int64_t r = 0; r < b.rows; ++r) {
    if (!b.holds(r)) return {Outcome::Status::bad_block, r};
    const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
    const double factor = row_factor(b, begin, end);
    double* out = scores + r * m;
    std::fill(out, out + m, 0.0);
    for (std::int64_t k = begin; k < end; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      if (!SlotMap::possible(key)) return {Outcome::Status::bad_index, r};
      const std::int64_t slot = slot_of(key);
      if (slot == 0) continue;
      for (int c = 0; c < m; ++c) {
        const double w = weight(c, slot);
        if (std::fabs(w) >= keep[c]) out[c] += w * (factor * static_cast<double>(b.values[k]));
      }
    }
    for (int c = 0; c < m; ++c) out[c] += read_intercept(c) + b.offset(r);
  }
  return {Outcome::Status::ok, b.rows};
}

template double Interior::row_factor(const BlockView<std::int32_t>&, std::int64_t,
                                     std::int64_t) const noexcept;
template double Interior::row_factor(const BlockView<std::int64_t>&, std::int64_t,
                                     std::int64_t) const noexcept;
template Outcome Interior::learn(const BlockView<std::int32_t>&, const std::int64_t*, std::int64_t,
                                 double*) noexcept;
template Outcome Interior::learn(const BlockView<std::int64_t>&, const std::int64_t*, std::int64_t,
                                 double*) noexcept;
template Outcome Interior::score(const BlockView<std::int32_t>&, const double*, double*) const noexcept;
template Outcome Interior::score(const BlockView<std::int64_t>&, const double*, double*) const noexcept;

}  // namespace riata
