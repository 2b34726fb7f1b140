// The loops over the rows of an example, for rules whose rows hold a weight and a mark (decay.hpp) and for FTRL.
#pragma once

#include <cstdint>

#include "riata/linear/decay.hpp"
#include "riata/linear/rules/ftrl_step.hpp"
#include "riata/simd/instructions.hpp"

namespace riata {

// Where the rows of an example with one column lie: anywhere, or in one array of rows of two doubles, by key.
struct RowPointers {
  double* const* rows;
};
template <class Index>
struct ArrayRows {
  const Index* keys;
  double* base;
  std::uint64_t mask;  // gather holds every key inside the array by it, and says what the keys were
};

struct Gathered {
  double sum;
  std::int64_t keys;  // the bitwise or of all keys; 0 for RowPointers
};

template <class Rows>
struct RowKernels {
  // The sum of weights, brought current, times x. `current` receives these weights, unless it is null.
  Gathered (*gather)(const Decay&, const Rows&, const float* x, std::int64_t n, double* current) noexcept;
  // Brings each weight current and moves it by -gradient * x. No two rows may be the same. `current`: what gather
  // wrote, if it still holds, or null.
  void (*push)(const Decay&, const Rows&, const float* x, std::int64_t n, double gradient,
               const double* current) noexcept;
};

struct DecayKernels {
  RowKernels<ArrayRows<std::int32_t>> array32;
  RowKernels<ArrayRows<std::int64_t>> array64;
  RowKernels<RowPointers> pointers;
  // The same as pointers.push where rows may be the same.
  void (*push_shared)(const Decay&, const RowPointers&, const float* x, std::int64_t n,
                      double gradient) noexcept;
  // Rows of m columns. Entry k adds to the sums of column c at sums[k % 4 * m + c].
  void (*gather_columns)(const Decay&, double* const* rows, const float* x, std::int64_t n, int m,
                         double* sums) noexcept;
  void (*push_columns)(const Decay&, double* const* rows, const float* x, std::int64_t n, int m,
                       const double* gradient) noexcept;
  // Of 16 rows, `stride` doubles apart, those whose weight is not zero: a bit each.
  std::uint32_t (*live)(const Decay&, const double* first, std::uint64_t stride) noexcept;

  template <class Index>
  const RowKernels<ArrayRows<Index>>& array() const noexcept {
    if constexpr (sizeof(Index) == 4)
      return array32;
    else
      return array64;
  }
};

struct LinearKernels {
  DecayKernels shrink, truncate, round;
  // FTRL: rows of one column, no two of them the same.
  void (*push_ftrl)(const FtrlSettings&, double* const* rows, const float* x, std::int64_t n,
                    double gradient) noexcept;

  const DecayKernels& of(DecayKind kind) const noexcept {
    if (kind == DecayKind::truncate) return truncate;
    return kind == DecayKind::round ? round : shrink;
  }
};

RIATA_DECLARE_KERNELS(LinearKernels, linear_kernels)

}  // namespace riata
