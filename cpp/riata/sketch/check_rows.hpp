// What can be said of the rows of a block before any of them is added: whether they are good, how wide they
// are, and their fingerprint.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "riata/block/block.hpp"
#include "riata/sketch/active_features.hpp"
#include "riata/sketch/gradient_array.hpp"

namespace riata {

// A number of the examples of a pass that does not depend on their order: another number, other examples.
struct UnorderedFingerprint {
  std::int64_t rows = 0, nnz = 0;
  std::uint64_t sum = 0;
  bool operator==(const UnorderedFingerprint&) const = default;
  void add(const UnorderedFingerprint& other) noexcept {
    rows += other.rows;
    nnz += other.nnz;
    sum += other.sum;
  }
};

struct Inspected {
  Accumulated outcome = Accumulated::ok;
  std::int64_t high = -1;  // the largest index
  float widest = 0;        // the largest |value|
  std::uint64_t sum = 0;   // of the fingerprint

  void add(const Inspected& other) noexcept {
    if (outcome == Accumulated::ok) outcome = other.outcome;
    high = std::max(high, other.high);
    widest = std::max(widest, other.widest);
    sum += other.sum;
  }
};

namespace inspection {

// 32 bits of an index, mixed so that indices whose sums are equal do not have equal sums here. Shifts and
// sums of 32 bits, because every processor does them on several entries at once.
template <class Index>
std::uint32_t mixed(Index index) noexcept {
  auto h = static_cast<std::uint32_t>(index);
  if constexpr (sizeof(Index) == 8) h ^= static_cast<std::uint32_t>(static_cast<std::uint64_t>(index) >> 32);
  h += 0x9e3779b9u;
  h ^= h << 13;
  h ^= h >> 17;
  h ^= h << 5;
  return h;
}

// The entries [first, last). Loops without a branch, one purpose each entry: vector code on any machine.
template <class Index>
void entries(const Index* indices, const float* values, std::int64_t first, std::int64_t last,
             Inspected& out) noexcept {
  constexpr std::int32_t kSize = 0x7fffffff, kInfinite = 0x7f800000;
  Index low = 0, high = -1;
  std::int32_t widest = 0;
  std::uint64_t sum = 0;
  for (std::int64_t k = first; k < last; ++k) {
    const auto bits = std::bit_cast<std::int32_t>(values[k]);
    low = std::min(low, indices[k]);
    high = std::max(high, indices[k]);
    widest = std::max(widest, bits & kSize);  // floats of one sign are in the order of their bits
    sum += static_cast<std::uint64_t>(mixed(indices[k])) * static_cast<std::uint32_t>(bits);
  }
  out.high = static_cast<std::int64_t>(high);
  out.widest = std::bit_cast<float>(widest);
  out.sum += sum;
  if (widest >= kInfinite) out.outcome = Accumulated::not_finite;
  if (low < 0 || (high >= 0 && !GradientArray::possible(static_cast<std::uint64_t>(high))))
    out.outcome = Accumulated::bad_index;
}

}  // namespace inspection

// Of the rows [from, to) of a block that has labels and whose rows lie inside it.
template <class Index>
Inspected inspect(const BlockView<Index>& b, std::int64_t from, std::int64_t to) noexcept {
  Inspected out;
  if (from == to) return out;
  for (std::int64_t i = from; i < to; ++i) {
    // A row's first feature binds its label and weight to it: swapped labels are other examples.
    const auto head = b.indptr[i] < b.indptr[i + 1] ? static_cast<std::uint64_t>(b.indices[b.indptr[i]]) : 0;
    out.sum += (std::bit_cast<std::uint64_t>(b.labels[i]) >> 40) * (2 * head + 3);
    if (b.offsets != nullptr) out.sum += (std::bit_cast<std::uint64_t>(b.offsets[i]) >> 20) * (2 * head + 7);
    if (b.weights == nullptr) continue;
    if (!(b.weights[i] >= 0 && std::isfinite(b.weights[i]))) out.outcome = Accumulated::bad_weight;
    out.sum += (std::bit_cast<std::uint64_t>(b.weights[i]) >> 20) * (2 * head + 5);
  }
  inspection::entries(b.indices, b.values, b.indptr[from], b.indptr[to], out);
  return out;
}

}  // namespace riata
