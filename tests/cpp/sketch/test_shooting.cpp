// Shooting and the sketches, without Python.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "check.hpp"
#include "riata/block/feature_index.hpp"
#include "riata/sketch/curvature.hpp"
#include "riata/sketch/online.hpp"
#include "riata/sketch/pass.hpp"
#include "riata/sketch/shooting.hpp"
#include "sketch/rows.hpp"

using namespace riata;

namespace {

std::mt19937_64 rng(20081);

double normal() { return std::normal_distribution<double>()(rng); }

// A hash table that turns into an array against a map.
void test_rows() {
  for (const std::size_t n : {4u, 40u, 4000u}) {
    AdaptiveRow row;
    std::map<std::uint32_t, double> expected;
    for (int i = 0; i < 3000; ++i) {
      const auto key = static_cast<std::uint32_t>(rng() % n);
      const double value = normal();
      row.add(key, value, n);
      expected[key] += value;
    }
    std::map<std::uint32_t, double> found;
    row.each([&](std::size_t key, double value) {
      if (value != 0) found[static_cast<std::uint32_t>(key)] = value;
    });
    CHECK(found == expected);
    for (const auto& [key, value] : expected) CHECK(row.at(key) == value);
    CHECK(row.bytes() <= std::max<std::size_t>(n, 4) * 2 * sizeof(double) + 64);
  }
}

// The minimum satisfies the conditions of optimality, for both matrices, from any start.
template <class Matrix>
void test_optimality(std::size_t n, std::size_t rows, double gamma) {
  Matrix h;
  h.reset(n);
  std::vector<double> c(n, 0.0);
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<Entry> x;
    for (std::size_t j = 0; j < n; ++j)
      if (rng() % 3 == 0) x.push_back({static_cast<std::int32_t>(j), static_cast<float>(normal())});
    const double w = std::fabs(normal()), y = normal();
    for (std::size_t k = 0; k < x.size(); ++k) {
      h.add(x.data(), static_cast<std::int32_t>(k), static_cast<std::int32_t>(x.size()), w);
      c[static_cast<std::size_t>(x[k].slot)] += w * y * static_cast<double>(x[k].value);
    }
  }
  h.complete();
  std::vector<double> penalty(n, gamma), b(n), r = c;
  for (std::size_t j = 0; j < n; ++j) {
    b[j] = normal();
    h.subtract_column(j, b[j], r.data());
  }
  const ShootingReport report = Shooting(h, penalty.data(), b.data(), r.data()).run({0, 1e-9, 100000});
  CHECK(report.converged);
  std::vector<double> fresh = c;
  for (std::size_t j = 0; j < n; ++j) h.subtract_column(j, b[j], fresh.data());
  for (std::size_t j = 0; j < n; ++j) CHECK(violation_at(fresh[j], b[j], gamma) < 1e-7);
}

// A coordinate that is always at its optimum leaves the problem of the others: the same minimum as with it.
void test_centred() {
  constexpr std::size_t n = 12;
  SquareMatrix h;
  h.reset(n);
  std::vector<double> c(n, 0.0);
  for (int i = 0; i < 200; ++i) {
    std::vector<Entry> x{{0, 1.0f}};
    for (std::int32_t j = 1; j < static_cast<std::int32_t>(n); ++j)
      x.push_back({j, static_cast<float>(normal() + 3)});
    const double y = normal() + 1;
    for (std::int32_t k = 0; k < static_cast<std::int32_t>(n); ++k) {
      h.add(x.data(), k, static_cast<std::int32_t>(n), 1.0);
      c[static_cast<std::size_t>(k)] += y * static_cast<double>(x[static_cast<std::size_t>(k)].value);
    }
  }
  h.complete();
  std::vector<double> penalty(n, 2.0), b(n, 0.0), r = c;
  penalty[0] = 0;
  CHECK(Shooting(h, penalty.data(), b.data(), r.data()).run({0, 1e-9, 1000000}).converged);
  const Centred<SquareMatrix> centred(h);
  std::vector<double> d(n, 0.0), s = c;
  centred.step(c[0], s.data());
  const ShootingReport report = Shooting(centred, penalty.data(), d.data(), s.data()).run({0, 1e-9, 1000000});
  CHECK(report.converged);
  for (std::size_t j = 1; j < n; ++j) CHECK(std::fabs(b[j] - d[j]) < 1e-7);
}

void test_refusals() {
  Rows rows = make_rows(10, 20, rng);
  SketchOf<SquareMatrix> sketch(kLinks[1], true);
  sketch.begin({}, {}, 0.0, true);
  std::vector<double> scores(10), losses(10);
  const auto run = [&](const Rows& r) {
    return sketch.accumulate(r.view(0, 10), 1.0, 2, scores.data(), losses.data());
  };
  Rows bad = rows;
  bad.values[0] = std::nanf("");
  CHECK(run(bad) == Accumulated::not_finite);
  bad = rows;
  bad.indices[0] = -1;
  CHECK(run(bad) == Accumulated::bad_index);
  bad = rows;
  bad.indptr[5] = 1 << 20;
  CHECK(run(bad) == Accumulated::bad_block);
  CHECK(sketch.total().weight == 0);
  CHECK(run(rows) == Accumulated::ok);
  CHECK(sketch.total().weight == 10);
}

void test_online() {
  const Rows rows = make_rows(600, 40, rng);
  for (const std::int64_t block : {1, 50}) {
    OnlineSpec spec;
    spec.link = &kLinks[0];
    spec.gamma = 3;
    spec.block_size = block;
    OnlineSketch sketch(spec);
    std::vector<double> scores(600);
    CHECK(sketch.learn(rows.view(0, 600), 1.0, scores.data(), 1) == Accumulated::ok);
    int right = 0;
    for (std::size_t i = 300; i < 600; ++i) right += (scores[i] > 0) == (rows.labels[i] > 0);
    CHECK(right > 180);
    std::vector<double> kept = sketch.r;
    sketch.refresh();
    for (std::size_t j = 0; j < kept.size(); ++j) CHECK(std::fabs(kept[j] - sketch.r[j]) < 1e-8);
  }
}

void test_feature_index() {
  FeatureIndex feature_index;
  CHECK(feature_index.find(5) == -1);
  for (int i = 0; i < 1000; ++i) CHECK(feature_index.add(i * 7919LL, "w" + std::to_string(i)) == i);
  for (int i = 0; i < 1000; ++i) CHECK(feature_index.add(i * 7919LL, "other") == i);
  CHECK(feature_index.find(999 * 7919LL) == 999);
  CHECK(feature_index.find(3) == -1);
  CHECK(feature_index.name(417) == "w417");
  CHECK(feature_index.size() == 1000);
}

}  // namespace

int main() {
  test_rows();
  for (const double gamma : {0.01, 1.0, 10.0}) {
    test_optimality<SquareMatrix>(25, 60, gamma);
    test_optimality<SquareMatrix>(25, 10, gamma);  // fewer examples than features
    test_optimality<RowsMatrix>(25, 60, gamma);
    test_optimality<RowsMatrix>(300, 40, gamma);
  }
  test_centred();
  test_refusals();
  test_online();
  test_feature_index();
  return check::failures();
}
