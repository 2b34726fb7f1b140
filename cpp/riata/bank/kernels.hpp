// The loops over the rows of an example for many settings side by side, with a schedule. adagrad_columns.hpp has those of
// AdaGrad.
#pragma once

#include <cstdint>

#include "riata/linear/decay.hpp"
#include "riata/simd/instructions.hpp"

namespace riata {

inline constexpr double kLargestBankScore = 1e150;  // as for one model

// How a row is laid out, and what weights are brought current by. A row holds `groups` times `width` weights, then for
// each group the place in its history where the running scalars stand that were those of the last touch.
struct BankColumns {
  int groups, width;
  const double* now;             // the running scalar of each column
  const double* theta;           // of truncate and round
  const double* const* history;  // of each group: entries of `width` running scalars
};

// Columns of the log loss, and the example that they have just scored: scale * factor * dot + intercept + offset.
struct LogLossColumns {
  int n;
  const double *scales, *dot, *intercept;
  double factor, offset, low, high;  // scores are cut off at both
  double y, weight;                  // y: -1 or 1
  double *scores, *slopes;           // out; slopes times the weight
};

struct BankKernels {
  // `x` are the values as each group sees them. Entry k adds to the sum of column c at sums[k % 4 * columns + c]; its weight
  // goes to current[k * columns + c].
  void (*gather)(const BankColumns&, double* const* rows, const float* const* x, std::int64_t n, double* sums,
                 double* current) noexcept;
  // Moves the weights of the groups that learn by -gradient * x from `current`, and marks them.
  void (*push)(const BankColumns&, double* const* rows, const float* const* x, std::int64_t n,
               const double* gradient, const double* current, const std::uint8_t* learns,
               const double* marks) noexcept;
  // The same where the running scalars have changed since: brings weights current once more.
  void (*push_anew)(const BankColumns&, double* const* rows, const float* const* x, std::int64_t n,
                    const double* gradient, const std::uint8_t* learns, const double* marks) noexcept;
};

struct AllBankKernels {
  BankKernels shrink, truncate, round;
  // False: a slope is zero, or a score or slope leaves the range that a model may have. All are written even so.
  bool (*log_loss)(const LogLossColumns&) noexcept;

  const BankKernels& of(DecayKind kind) const noexcept {
    if (kind == DecayKind::truncate) return truncate;
    return kind == DecayKind::round ? round : shrink;
  }
};

RIATA_DECLARE_KERNELS(AllBankKernels, bank_kernels)

}  // namespace riata
