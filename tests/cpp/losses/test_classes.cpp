#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "riata/losses/classes.hpp"

namespace {

// By definition, in more digits: s_k - ln(sum of exp(s_j), j != k).
long double expected(const std::vector<double>& scores, std::size_t k) {
  long double largest = -HUGE_VALL, sum = 0;
  for (std::size_t j = 0; j < scores.size(); ++j)
    if (j != k) largest = std::max(largest, static_cast<long double>(scores[j]));
  for (std::size_t j = 0; j < scores.size(); ++j)
    if (j != k) sum += std::exp(scores[j] - largest);
  return scores[k] - (largest + std::log(sum));
}

void compare(const std::vector<double>& scores) {
  constexpr int kStride = 3;
  const int n = static_cast<int>(scores.size());
  std::vector<double> apart(scores.size() * kStride, -1.0);
  for (std::size_t k = 0; k < scores.size(); ++k) apart[k * kStride] = scores[k];
  riata::against_others(apart.data(), n, kStride);
  std::vector<double> close = scores;
  riata::against_others(close.data(), n);
  for (std::size_t k = 0; k < scores.size(); ++k) {
    CHECK(close[k] == apart[k * kStride]);
    CHECK(apart[k * kStride + 1] == -1.0);
    const long double wanted = expected(scores, k);
    CHECK(std::fabs(close[k] - wanted) <= 1e-14L * (1 + std::fabs(wanted) + std::fabs(scores[k])));
  }
}

}  // namespace

int main() {
  compare({0, 0});
  compare({1, 1, 1});
  compare({700, -700, 3});  // one is nearly certain
  compare({-1e6, 0, 1e6});
  compare({40, 39.5, -40, -39});
  std::mt19937_64 random(1);
  for (int n = 0; n < 2000; ++n) {
    std::vector<double> scores(2 + random() % (n % 10 == 0 ? 200 : 30));
    std::normal_distribution<double> normal(0, std::exp2(static_cast<double>(random() % 10) - 3));
    for (double& s : scores) s = normal(random);
    compare(scores);
  }
  return check::failures();
}
