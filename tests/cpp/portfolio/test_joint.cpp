// Joint beliefs: as a covariance matrix says, with the same bits on every instruction set, and no variance is lost to
// rounding where columns are copies of each other.
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"
#include "riata/portfolio/joint.hpp"

namespace {

using riata::Instructions;
using riata::kJointLanes;
using Numbers = std::vector<double>;

constexpr double kPriors[kJointLanes] = {0.01, 1, 64, 4096};

// What one instruction set makes of a stream; all numbers of its state.
struct Beliefs {
  int features;
  Numbers factors, variances, means, turned, gains;

  explicit Beliefs(int n)
      : features(n),
        factors(static_cast<std::size_t>(n * (n - 1) / 2 * kJointLanes)),
        variances(static_cast<std::size_t>(n * kJointLanes)),
        means(variances.size()),
        turned(variances.size()),
        gains(variances.size()) {
    for (std::size_t i = 0; i < variances.size(); ++i) variances[i] = kPriors[i % kJointLanes];
  }
  void learn(const riata::JointKernels& kernels, const std::vector<int>& places, const Numbers& x, double y,
             double noise) {
    const riata::JointBeliefs b{features, factors.data(), variances.data(), means.data()};
    const riata::JointValues e{places.data(), x.data(), static_cast<int>(places.size()), turned.data(),
                               gains.data()};
    double scores[kJointLanes], spreads[kJointLanes], noises[kJointLanes], pulls[kJointLanes];
    kernels.scores(b, e, scores);
    kernels.gather(b, e, spreads);
    for (int k = 0; k < kJointLanes; ++k) {
      noises[k] = noise;
      pulls[k] = (y - scores[k]) / (noise + spreads[k]);
    }
    kernels.step(b, e, noises, pulls);
  }
  // The covariance U D U' of a lane.
  Numbers covariance(int lane) const {
    const auto n = static_cast<std::size_t>(features);
    const auto u = [&](std::size_t i, std::size_t j) {
      if (i == j) return 1.0;
      return i > j ? 0.0 : factors[(j * (j - 1) / 2 + i) * kJointLanes + static_cast<std::size_t>(lane)];
    };
    Numbers out(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < n; ++k)
          out[i * n + j] += u(i, k) * variances[k * kJointLanes + static_cast<std::size_t>(lane)] * u(j, k);
    return out;
  }
};

// The same as matrices, for one prior.
struct Matrix {
  std::size_t n;
  Numbers covariance, mean;

  Matrix(std::size_t features, double prior) : n(features), covariance(n * n), mean(n) {
    for (std::size_t i = 0; i < n; ++i) covariance[i * n + i] = prior;
  }
  void learn(const Numbers& x, double y, double noise) {
    Numbers along(n);
    double score = 0, spread = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) along[i] += covariance[i * n + j] * x[j];
      score += x[i] * mean[i];
    }
    for (std::size_t i = 0; i < n; ++i) spread += x[i] * along[i];
    for (std::size_t i = 0; i < n; ++i) {
      mean[i] += along[i] * (y - score) / (noise + spread);
      for (std::size_t j = 0; j < n; ++j) covariance[i * n + j] -= along[i] * along[j] / (noise + spread);
    }
  }
};

bool near(double a, double b, double size) { return std::fabs(a - b) <= 1e-9 * (std::fabs(b) + size); }

void as_matrices_say(int features, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto n = static_cast<std::size_t>(features);
  std::vector<Beliefs> sets;
  std::vector<const riata::JointKernels*> kernels;
  for (const Instructions set : {Instructions::plain, Instructions::avx2, Instructions::avx512})
    if (const auto* found = riata::find_joint_kernels(set)) {
      kernels.push_back(found);
      sets.emplace_back(features);
    }
  std::vector<Matrix> expected;
  for (const double prior : kPriors) expected.emplace_back(n, prior);
  for (int t = 0; t < 60; ++t) {
    Numbers row(n), x;
    std::vector<int> places;
    for (std::size_t i = 0; i < n; ++i) {
      if (random() % 3 == 0 && t % 2 == 0) continue;
      row[i] = normal(random);
      places.push_back(static_cast<int>(i));
      x.push_back(row[i]);
    }
    const double y = normal(random), noise = t % 7 == 0 ? 0.3 : 1;
    for (std::size_t s = 0; s < sets.size(); ++s) sets[s].learn(*kernels[s], places, x, y, noise);
    for (Matrix& each : expected) each.learn(row, y, noise);
  }
  for (const Beliefs& each : sets)
    for (const auto part : {&Beliefs::factors, &Beliefs::variances, &Beliefs::means})
      CHECK((each.*part).empty() || std::memcmp((each.*part).data(), (sets[0].*part).data(),
                                                (each.*part).size() * sizeof(double)) == 0);
  for (int lane = 0; lane < kJointLanes; ++lane) {
    const Matrix& of = expected[static_cast<std::size_t>(lane)];
    const Numbers covariance = sets[0].covariance(lane);
    for (std::size_t i = 0; i < n; ++i) {
      CHECK(near(sets[0].means[i * kJointLanes + static_cast<std::size_t>(lane)], of.mean[i], 1));
      for (std::size_t j = 0; j < n; ++j)
        CHECK(near(covariance[i * n + j], of.covariance[i * n + j], kPriors[lane]));
    }
  }
}

// Two equal columns and a constant, a hundred thousand times: what they say together is known ever better.
void no_variance_is_lost() {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  Beliefs beliefs(3);
  for (int t = 0; t < 100000; ++t) {
    const double x = normal(random);
    beliefs.learn(riata::best_joint_kernels(), {0, 1, 2}, {x, x, 1e6}, 3 * x + 5e6, 1e-6);
  }
  for (int lane = 0; lane < kJointLanes; ++lane) {
    const double* mean = beliefs.means.data() + lane;
    CHECK(std::fabs(mean[0] + mean[kJointLanes] - 3) < 1e-6);
    CHECK(std::fabs(mean[2 * kJointLanes] - 5) < 1e-6);
    for (int i = 0; i < 3; ++i)
      CHECK(beliefs.variances[static_cast<std::size_t>(i * kJointLanes + lane)] > 0);
  }
}

}  // namespace

int main() {
  for (const int features : {1, 2, 3, 4, 5, 17})
    for (std::uint64_t seed = 0; seed < 5; ++seed) as_matrices_say(features, seed);
  no_variance_is_lost();
  return check::failures();
}
