// What is done to numbers before they are features, alike for every format.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace riata {

// log(1 + x), and below zero -log(1 - x).
inline float signed_log1p(float x) noexcept {
  const double value = x;
  return static_cast<float>(std::copysign(std::log1p(std::fabs(value)), value));
}

// In parts of the scale from the centre on.
inline float scaled_number(float x, double centre, double scale) noexcept {
  return static_cast<float>((static_cast<double>(x) - centre) / scale);
}

// Which of the buckets between ascending edges x falls into; an edge belongs to the bucket above it.
inline std::size_t bucket_of(float x, const std::vector<double>& edges) noexcept {
  std::size_t bucket = 0;
  while (bucket < edges.size() && static_cast<double>(x) >= edges[bucket]) ++bucket;
  return bucket;
}

}  // namespace riata
