#include "riata/linear/scale_kernels.hpp"

#include "riata/simd/rows.hpp"

namespace riata::RIATA_TARGET {
namespace {

constexpr double kLargestFloat = 0x1.fffffep127;

template <class T>
RIATA_INLINE T root_of(const T& count, const T& sum) noexcept {
  return select(sum > 0, square_root(sum / count), all<T>(1));
}

template <class T>
RIATA_INLINE void learn_some(double* const* rows, int at, const float* x, float* out) noexcept {
  const auto sums = [&](int i) { return rows[i] + at; };
  T value, count, sum;
  load(value, x);
  load_rows(sums, count, sum);
  const auto finite = abs(value) <= kLargestFloat;  // if not, the learner refuses the row
  count = count + select(finite & (value != 0), all<T>(1), all<T>(0));
  sum = sum + select(finite, value * value, all<T>(0));
  store_rows(sums, count, sum);
  store(out, value / root_of(count, sum));
}

template <class T>
RIATA_INLINE void apply_some(const double* const* rows, int at, const float* x, float* out) noexcept {
  T value, count, sum;
  load(value, x);
  load_rows([&](int i) { return rows[i] + at; }, count, sum);
  const T sign = select(value > 0, all<T>(1), select(value < 0, all<T>(-1), all<T>(0)));
  store(out, select(sum > 0, value / root_of(count, sum), sign));
}

void learn(double* const* rows, int at, const float* x, std::int64_t n, float* out) noexcept {
  std::int64_t k = 0;
  for (; k + kSize<Eight> <= n; k += kSize<Eight>) learn_some<Eight>(rows + k, at, x + k, out + k);
  for (; k < n; ++k) learn_some<double>(rows + k, at, x + k, out + k);
}

void learn_shared(double* const* rows, int at, const float* x, std::int64_t n, float* out) noexcept {
  std::int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    double *const a = rows[k], *const b = rows[k + 1], *const c = rows[k + 2], *const d = rows[k + 3];
    if ((a != b) & (a != c) & (a != d) & (b != c) & (b != d) & (c != d)) [[likely]]
      learn_some<Four>(rows + k, at, x + k, out + k);
    else
      for (int i = 0; i < 4; ++i) learn_some<double>(rows + k + i, at, x + k + i, out + k + i);
  }
  for (; k < n; ++k) learn_some<double>(rows + k, at, x + k, out + k);
}

void apply(const double* const* rows, int at, const float* x, std::int64_t n, float* out) noexcept {
  std::int64_t k = 0;
  for (; k + kSize<Eight> <= n; k += kSize<Eight>) apply_some<Eight>(rows + k, at, x + k, out + k);
  for (; k < n; ++k) apply_some<double>(rows + k, at, x + k, out + k);
}

}  // namespace

constinit const ScaleKernels scale_kernels{learn, learn_shared, apply};

}  // namespace riata::RIATA_TARGET
