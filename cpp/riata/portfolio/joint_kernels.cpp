// The kernels of joint_kernels.hpp.
#include "riata/portfolio/joint_kernels.hpp"

#include "riata/simd/vector.hpp"

namespace riata::RIATA_TARGET {
namespace {

constexpr std::int64_t kLanes = kJointLanes;

RIATA_INLINE Four four(const double* p, std::int64_t at) noexcept { return loaded<Four>(p + kLanes * at); }
RIATA_INLINE void put(double* p, std::int64_t at, const Four& v) noexcept { store(p + kLanes * at, v); }

void scores(const JointBeliefs& b, const JointValues& e, double* scores) noexcept {
  Four sum = all<Four>(0);
  for (int k = 0; k < e.count; ++k) sum = sum + e.x[k] * four(b.means, e.places[k]);
  store(scores, sum);
}

void gather(const JointBeliefs& beliefs, const JointValues& values, double* spreads) noexcept {
  const JointBeliefs b = beliefs;  // copies that nothing stored can change
  const JointValues e = values;
  Four spread = all<Four>(0);
  int before = 0;  // how many of the values stand before column j
  for (std::int64_t j = 0; j < b.features; ++j) {
    const double* column = b.factors + kLanes * (j * (j - 1) / 2);
    Four f = all<Four>(0);
    for (int k = 0; k < before; ++k) f = f + e.x[k] * four(column, e.places[k]);
    if (before < e.count && e.places[before] == j) f = f + e.x[before++];
    put(e.turned, j, f);
    spread = spread + four(b.variances, j) * (f * f);
  }
  store(spreads, spread);
}

// A column of U while it is updated.
struct Column {
  double* factors;
  Four v, by, next;

  RIATA_INLINE Column(const JointBeliefs& b, const JointValues& e, std::int64_t j, const Four& sum) noexcept
      : factors(b.factors + kLanes * (j * (j - 1) / 2)) {
    const Four f = four(e.turned, j), variance = four(b.variances, j);
    v = variance * f;
    next = sum + v * f;
    by = f / sum;
    put(b.variances, j, variance * (sum / next));
  }
  // Row i, whose gain so far is given; returns the gain after this column.
  RIATA_INLINE Four move(std::int64_t i, const Four& gain) const noexcept {
    const Four u = four(factors, i);
    put(factors, i, u - gain * by);
    return gain + u * v;
  }
};

void step(const JointBeliefs& beliefs, const JointValues& values, const double* noise,
          const double* pulls) noexcept {
  const JointBeliefs b = beliefs;
  const JointValues e = values;
  if (e.count == 0) return;
  Four sum = loaded<Four>(noise);
  std::int64_t j = e.places[0];  // columns before it do not change
  for (std::int64_t i = 0; i < j; ++i) put(e.gains, i, all<Four>(0));
  for (; j + 1 < b.features; j += 2) {  // two at a time: gains are read and written half as often
    const Column first(b, e, j, sum), second(b, e, j + 1, first.next);
    for (std::int64_t i = 0; i < j; ++i) put(e.gains, i, second.move(i, first.move(i, four(e.gains, i))));
    put(e.gains, j, second.move(j, first.v));
    put(e.gains, j + 1, second.v);
    sum = second.next;
  }
  if (j < b.features) {
    const Column last(b, e, j, sum);
    for (std::int64_t i = 0; i < j; ++i) put(e.gains, i, last.move(i, four(e.gains, i)));
    put(e.gains, j, last.v);
  }
  const Four pull = loaded<Four>(pulls);
  const Four most = all<Four>(kLargestJointMean);
  for (std::int64_t i = 0; i < b.features; ++i)
    put(b.means, i, max(min(four(b.means, i) + four(e.gains, i) * pull, most), 0 - most));
}

}  // namespace

const JointKernels joint_kernels{scores, gather, step};

}  // namespace riata::RIATA_TARGET
