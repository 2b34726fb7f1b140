// The state of the interior-point delta rule: slots come, are saved and restored.
#include <algorithm>
#include <cmath>

#include "riata/interior/interior.hpp"

namespace riata {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The part of the bounds that one half of a weight has: [0, high] and [0, -low] where they contain zero.
Interval half_of(const Interval& bounds, int half) noexcept {
  const double low = half == 0 ? bounds.low : -bounds.high;
  const double high = half == 0 ? bounds.high : -bounds.low;
  if (high <= 0) return {0, 0};
  return {std::fmax(0, low), high};
}

}  // namespace

Interior::Interior(const InteriorSpec& spec) : spec_(spec) {
  const auto m = static_cast<std::size_t>(spec.columns);
  columns.resize(m);
  intercept.assign(m, 0.0);
  steps.assign(m, 0.0);
  slopes_.assign(m, 0.0);
  plans_.resize(m);
  sums_.resize(m);
  names.offsets.push_back(0);
  for (std::int64_t g = 0; g < groups(); ++g) append(-1 - g, {}, nullptr, bounds_of(g));
  for (const auto& [key, own] : spec.own_bounds) {
    append(key, {}, nullptr, own);
    features = std::max(features, key + 1);
  }
}

double Interior::constraints_of(std::int64_t slot) const noexcept {
  if (!spec_.bounded) return 2;
  double count = 0;
  for (const Limits& limits : limits_) {
    if (limits.lo[slot] < limits.hi[slot]) count += limits.hi[slot] < kInfinity ? 2 : 1;
  }
  return count;
}

double Interior::slot_product(const InteriorColumn& column, std::int64_t slot) const noexcept {
  double product = 0;
  for (int h = 0; h < 2; ++h) {
    const Half& half = column.half[h];
    if (!spec_.bounded) {
      product += half.x[slot] * half.z[slot];
    } else if (const double lo = limits_[h].lo[slot], hi = limits_[h].hi[slot]; lo < hi) {
      if (hi < kInfinity) product += half.y[slot] * (hi - half.x[slot]);
      product += half.z[slot] * (half.x[slot] - lo);
    }
  }
  return product;
}

// The most particular of the bounds that speak of this name: of itself, its namespace or its column.
std::int64_t Interior::group_of(std::string_view name) const noexcept {
  std::int64_t found = 0;
  std::size_t longest = 0;
  for (std::size_t g = 0; g < spec_.group_bounds.size(); ++g) {
    const std::string& prefix = spec_.group_bounds[g].first;
    if (prefix.size() < longest || !name.starts_with(prefix)) continue;
    if (name.size() > prefix.size() && name[prefix.size()] != '^' && name[prefix.size()] != '=') continue;
    found = static_cast<std::int64_t>(g) + 1;
    longest = prefix.size();
  }
  return found;
}

// A new slot: in the given state, x, z (and y) of both halves, or where every feature starts.
void Interior::append(std::int64_t key, std::string_view name, const double* state, const Interval& own) {
  const auto slot = static_cast<std::int64_t>(keys.size());
  keys.push_back(key);
  names.bytes.insert(names.bytes.end(), name.begin(), name.end());
  names.offsets.push_back(static_cast<std::int64_t>(names.bytes.size()));
  gradient_.push_back(0);
  if (spec_.bounded) {
    for (int h = 0; h < 2; ++h) {
      const Interval part = half_of(own, h);
      limits_[h].lo.push_back(part.low);
      limits_[h].hi.push_back(part.high);
    }
  }
  for (InteriorColumn& column : columns) {
    if (spec_.averaged) {
      for (int h = 0; h < 2; ++h) {
        Half& half = column.half[h];
        half.x.push_back(state != nullptr ? *state++ : 0);
        half.z.push_back(state != nullptr ? *state++ : 0);
        if (has_y(h)) half.y.push_back(state != nullptr ? *state++ : 0);
      }
      continue;
    }
    for (int h = 0; h < 2; ++h) {
      Half& half = column.half[h];
      const Interval part = spec_.bounded ? half_of(own, h) : Interval{0, kInfinity};
      const bool present = part.low < part.high, above = part.high < kInfinity;
      // Without it nothing holds the balance: begin nearer to the bound.
      const Interval other = half_of(own, 1 - h);
      const double start = other.low < other.high ? spec_.start : spec_.start / 10;
      const double x = present ? std::fmin(part.low + start, (part.low + part.high) / 2) : 0;
      half.x.push_back(state != nullptr ? *state++ : x);
      half.z.push_back(state != nullptr ? *state++ : (present ? spec_.dual : 0));
      if (spec_.bounded) half.y.push_back(state != nullptr ? *state++ : (present && above ? spec_.dual : 0));
    }
    if (key >= 0) column.product += slot_product(column, slot);
    const double sum = std::fmin(column.half[0].x[slot] + column.half[0].z[slot],
                                 column.half[1].x[slot] + column.half[1].z[slot]);
    column.least = slot == 0 ? sum : std::fmin(column.least, sum);
  }
  if (key >= 0) {
    constraints_ += constraints_of(slot);
    slot_of_.add(keys);
  }
}

// Forget the slots from n on.
void Interior::truncate(std::int64_t n) noexcept {
  const auto kept = static_cast<std::size_t>(n);
  keys.resize(kept);
  slot_of_.rebuild(keys);
  names.offsets.resize(kept + 1);
  names.bytes.resize(static_cast<std::size_t>(names.offsets.back()));
  gradient_.resize(kept);
  if (spec_.bounded) {
    for (Limits& limits : limits_) {
      limits.lo.resize(kept);
      limits.hi.resize(kept);
    }
  }
  for (InteriorColumn& column : columns) {
    for (Half& half : column.half) {
      half.x.resize(kept);
      half.z.resize(kept);
      if (!half.y.empty()) half.y.resize(kept);
    }
  }
}

void Interior::save(double* rows) const noexcept {
  for (std::int64_t slot = 0; slot < slots(); ++slot) {
    for (const InteriorColumn& column : columns) {
      for (const Half& half : column.half) {
        *rows++ = half.x[slot];
        *rows++ = half.z[slot];
        if (!half.y.empty()) *rows++ = half.y[slot];
      }
    }
  }
}

bool Interior::restore(const std::int64_t* slot_keys, const double* rows, std::int64_t n, const char* text,
                       const std::int64_t* offsets) {
  if (n < groups()) return false;
  truncate(0);
  polished.clear(), polished_intercept.clear();
  constraints_ = 0;
  for (InteriorColumn& column : columns) column.product = 0;
  for (std::int64_t slot = 0; slot < n; ++slot) {
    const std::int64_t key = slot_keys[slot];
    if (slot < groups() ? key != -1 - slot : key < 0 || slot_of(static_cast<std::uint64_t>(key)) != 0)
      return false;
    std::string_view name;
    if (text != nullptr)
      name = {text + offsets[slot], static_cast<std::size_t>(offsets[slot + 1] - offsets[slot])};
    const auto own = spec_.own_bounds.find(key);
    const std::int64_t group = slot < groups() ? slot : group_of(name);
    append(key, name, rows + slot * width(), own == spec_.own_bounds.end() ? bounds_of(group) : own->second);
  }
  return true;
}

}  // namespace riata
