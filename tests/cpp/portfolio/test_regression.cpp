// Regressions on values no sensible stream has: every number stays finite, whatever the store; and stores agree.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "block/view.hpp"
#include "check.hpp"
#include "riata/portfolio/regression.hpp"

namespace {

WeightedRows some(std::mt19937_64& random, int rows, bool extreme, std::uint64_t features) {
  const float sizes[] = {1e-45f, 1e-30f, 0, 0.1f, 1.0f, 7.5f, 1e6f, 1e20f, 3.4e38f};
  const double weights[] = {1, 1, 1, 0, 1e-300, 0.5, 3, 1e10, 1e300};
  const double labels[] = {0, 1, -1, 1e-300, 1e9, -1e150, 1e308, 3, 4};
  WeightedRows out;
  for (int r = 0; r < rows; ++r) {
    for (std::uint64_t k = random() % 12; k > 0; --k) {
      const auto feature = static_cast<std::int64_t>(random() % features);
      const float size = extreme ? sizes[random() % 9] : static_cast<float>(1 + random() % 5);
      out.add_entry(feature, random() % 2 == 0 ? -size : size, "f" + std::to_string(feature));
    }
    out.end_row(extreme ? labels[random() % 9] : static_cast<double>(random() % 100),
                extreme ? weights[random() % 9] : 1);
  }
  return out;
}

std::vector<double> run(const std::string& store, std::uint64_t seed, bool extreme, bool named) {
  std::mt19937_64 random(seed);
  riata::RegressionSpec spec;
  for (const bool scaled : {false, true})
    for (std::uint64_t k = 1 + random() % 11; k > 0; --k)
      spec.members.push_back(
          {scaled, std::exp2(static_cast<double>(random() % 16) - 8), k % 2 == 0 ? 4.0 : 0.0});
  spec.fit_intercept = random() % 4 != 0;
  spec.bits = 20;
  if (random() % 2 == 0) spec.joint = {0.01, 1, 64, 4096};
  const std::uint64_t features = random() % 2 == 0 ? 20 : 300;  // of few, some are learned together
  const auto model = riata::make_regression(store, spec);
  std::vector<double> all;
  for (int block = 0; block < 4; ++block) {
    const WeightedRows rows = some(random, 60, extreme, features);
    const auto view = rows.view(named);
    std::vector<double> scores(rows.labels.size()), moments(2 * rows.labels.size());
    CHECK(model->learn(view, nullptr, view.rows, scores.data()).status == riata::Outcome::Status::ok);
    all_finite(scores);
    all.insert(all.end(), scores.begin(), scores.end());
    CHECK(model->moments(view, moments.data()).status == riata::Outcome::Status::ok);
    all_finite(moments);
  }
  all_finite(model->rows().values);
  all_finite(model->intercept);
  all_finite(model->weights);
  all_finite(model->squares);
  const riata::JointState together = model->joint.state();
  for (const auto* part : {&together.means, &together.variances, &together.factors}) all_finite(*part);
  for (const double variance : together.variances) CHECK(variance >= 0);
  return all;
}

}  // namespace

int main() {
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (const bool extreme : {false, true}) {
      const auto dense = run("dense", seed, extreme, false);
      CHECK(dense == run("table", seed, extreme, false));
      CHECK(dense == run("table", seed, extreme, true));
      run("hashed", seed, extreme, false);
    }
  return check::failures();
}
