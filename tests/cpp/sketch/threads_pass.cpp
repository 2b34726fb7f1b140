// A pass of the sketch by two threads: the sums, the gradient and the curvature of one thread, in any blocks.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "riata/sketch/curvature.hpp"
#include "riata/sketch/pass.hpp"
#include "sketch/rows.hpp"

using namespace riata;

namespace {

std::mt19937_64 rng(20082);

template <class Matrix>
void run_pass(SketchOf<Matrix>& sketch, const Rows& rows, int threads, const std::vector<std::size_t>& cuts) {
  std::vector<std::int64_t> keys{1, 4, 9, 30, 31};
  sketch.begin(keys, {0.5, 0, -0.25, 0, 1}, 0.1, true);
  std::vector<double> scores(rows.labels.size()), losses(rows.labels.size());
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k)
    CHECK(sketch.accumulate(rows.view(cuts[k], cuts[k + 1]), 1.0, threads, scores.data(), losses.data()) ==
          Accumulated::ok);
}

template <class Matrix>
void any_number_of_threads_gives_the_same_bits() {
  const Rows rows = make_rows(9000, 60, rng);
  const std::size_t n = rows.labels.size();
  SketchOf<Matrix> one(kLinks[0], true), two(kLinks[0], true), many(kLinks[0], true);
  run_pass(one, rows, 1, {0, n});
  run_pass(two, rows, 2, {0, n});
  run_pass(many, rows, 2, {0, 1, 5000, 5001, n});
  for (SketchOf<Matrix>* other : {&two, &many}) {
    CHECK(one.total().loss == other->total().loss);
    CHECK(one.total().slope == other->total().slope);
    for (std::int64_t j = 0; j < 60; ++j) CHECK(one.gradient(j) == other->gradient(j));
    CHECK(one.curvature() == other->curvature());
    CHECK(one.seen == other->seen);
  }
  SketchOf<Matrix> left(kLinks[0], true), right(kLinks[0], true);
  run_pass(left, rows, 1, {0, n / 2});
  run_pass(right, rows, 1, {n / 2, n});
  left.merge(right);
  CHECK(std::fabs(left.total().loss / one.total().loss - 1) < 1e-13);
  CHECK(left.seen == one.seen);
  std::vector<double> b, d;
  one.solve(5.0, 0.0, {0, 1e-9, 10000}, b, {});
  left.solve(5.0, 0.0, {0, 1e-9, 10000}, d, {});
  CHECK(b.size() == d.size());
  for (std::size_t j = 0; j < std::min(b.size(), d.size()); ++j) CHECK(std::fabs(b[j] - d[j]) < 1e-10);
}

}  // namespace

int main() {
  any_number_of_threads_gives_the_same_bits<SquareMatrix>();
  any_number_of_threads_gives_the_same_bits<RowsMatrix>();
  return check::failures();
}
