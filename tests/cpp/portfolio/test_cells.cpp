// A column learns the same bits whatever the number of columns beside it: kernels take eight columns of a row at a time, up
// to four of two rows, or one of eight rows. Also where a row stands twice in an example, in every instruction set.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"
#include "riata/bayesian/taylor.hpp"
#include "riata/portfolio/kernels.hpp"

namespace {

using riata::Instructions;

constexpr int kMost = 8;

// Numbers of an example and its rows: for eight columns, of which a test takes the first ones.
struct Problem {
  std::size_t rows;
  std::vector<double> means, gains;  // rows x 8
  std::vector<double> x;
  std::vector<std::size_t> places;  // of the rows, in the order of the example
  std::vector<double> parameters, y;

  Problem(std::size_t n, bool twice, double size, std::uint64_t seed) : rows(n) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < n * kMost; ++i) {
      means.push_back(normal(random));
      gains.push_back(random() % 4 == 0 ? 0 : std::fabs(normal(random)));
    }
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(random() % 6 == 0 ? 0 : size * normal(random));
      places.push_back(
          twice && i > 0 && random() % 3 == 0 ? places[i - 1 - random() % std::min<std::size_t>(i, 2)] : i);
    }
    for (int c = 0; c < kMost; ++c) {
      parameters.push_back(std::exp2(static_cast<double>(random() % 8) - 4));
      y.push_back(random() % 2 == 0 ? 1 : -1);
    }
  }

  // The state with so many columns, and room behind it.
  std::vector<double> state(std::size_t columns) const {
    std::vector<double> out((rows + 8) * 2 * columns);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t c = 0; c < columns; ++c) {
        out[2 * columns * i + c] = means[kMost * i + c];
        out[2 * columns * i + columns + c] = gains[kMost * i + c];
      }
    return out;
  }
};

// What is told to a kernel, and everything it may write to.
template <class Task>
struct Given {
  std::vector<double> state, x, scores, spreads, variances, ratios;
  std::vector<double*> rows;
  Task task;

  Given(const Problem& of, std::size_t columns)
      : state(of.state(columns)),
        x(of.rows + 40),
        scores(columns),
        spreads(columns),
        variances((of.rows + 8) * columns + 32, 1.0),
        ratios(8 * (of.rows + 8)) {
    std::copy(of.x.begin(), of.x.end(), x.begin());
    for (std::size_t i = 0; i < of.rows; ++i) rows.push_back(state.data() + 2 * columns * of.places[i]);
    for (std::size_t i = 0; i < 8; ++i) rows.push_back(state.data() + 2 * columns * (of.rows + i));
    task.rows = static_cast<std::int64_t>(of.rows);
    task.columns = static_cast<int>(columns);
    task.state = rows.data();
    task.x = x.data();
    task.y = of.y.data();
    task.weight = 0.75;
  }
  // Of one column: its score, and the state of its rows.
  std::vector<double> column(const Problem& of, std::size_t c) const {
    const auto columns = static_cast<std::size_t>(task.columns);
    std::vector<double> out{scores[c], spreads[c]};
    for (std::size_t i = 0; i < of.rows; ++i)
      for (const std::size_t half : {std::size_t{0}, columns})
        out.push_back(state[2 * columns * i + half + c]);
    return out;
  }
};

Given<riata::AdaGradRows> adagrad(const Problem& of, std::size_t columns, Instructions set) {
  Given<riata::AdaGradRows> out(of, columns);
  out.task.rates = of.parameters.data();
  out.task.scores = out.scores.data();
  out.task.ratios = out.ratios.data();
  const riata::PortfolioKernels& kernels = *riata::find_portfolio_kernels(set);
  kernels.gather(out.task);
  kernels.step(out.task);
  return out;
}

Given<riata::Taylor> bayesian(const Problem& of, std::size_t columns, Instructions set) {
  Given<riata::Taylor> out(of, columns);
  const std::vector<double> intercepts(columns, 0.125);
  out.task.intercept_first = true;
  out.task.precisions = of.parameters.data();
  out.task.intercept_precisions = intercepts.data();
  out.task.variances = out.variances.data();
  out.task.means = out.scores.data();
  out.task.spreads = out.spreads.data();
  const riata::TaylorKernels& kernels = *riata::find_taylor_kernels(set);
  kernels.gather(out.task);
  kernels.step(out.task);
  return out;
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

template <class Learn>
void same_bits_beside_others(Learn learn, const Problem& of, bool twice, Instructions set) {
  const auto all = learn(of, kMost, Instructions::plain);
  // One column takes eight rows at a time: of one that is there twice, what was learned last stays.
  for (std::size_t columns = twice ? 2 : 1; columns <= kMost; ++columns) {
    const auto some = learn(of, columns, set);
    for (std::size_t c = 0; c < columns; ++c) CHECK(same(some.column(of, c), all.column(of, c)));
    for (std::size_t i = 2 * columns * of.rows; i < some.state.size(); ++i) CHECK(some.state[i] == 0);
  }
}

}  // namespace

int main() {
  std::uint64_t seed = 0;
  for (const Instructions set : {Instructions::plain, Instructions::avx2, Instructions::avx512}) {
    if (riata::find_taylor_kernels(set) == nullptr) continue;
    for (const std::size_t rows : {0, 1, 2, 3, 7, 8, 9, 16, 31, 32, 33, 35, 130, 259})
      for (const bool twice : {false, true})
        for (const double size : {0.1, 1.0, 1e3}) {  // near the curves' end, some rows are beyond it
          const Problem problem(rows, twice, size, ++seed);
          same_bits_beside_others(adagrad, problem, twice, set);
          // Of longer examples, rows that are beyond the curves in any column come last: which ones come after their own
          // double depends on all columns.
          if (!twice || rows < 32) same_bits_beside_others(bayesian, problem, twice, set);
        }
  }
  return check::failures();
}
