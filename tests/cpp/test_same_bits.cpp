// Same stream, same bits, on every processor, compiler and C library: every family learns from fixed rows, and a
// checksum of what it has learned must be the one written here.
//
//   test_same_bits            compares
//   test_same_bits --print    prints the table, for a change that is meant to change bits
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "block/view.hpp"
#include "check.hpp"
#include "golden_bits.hpp"
#include "riata/bayesian/bayesian.hpp"
#include "riata/interior/interior.hpp"
#include "riata/linear/linear.hpp"
#include "riata/sketch/curvature.hpp"
#include "riata/sketch/pass.hpp"

namespace {

// Integers from a generator that the standard fixes, and sums of small fractions: the same rows anywhere.
struct Stream {
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> indices;
  std::vector<float> values;
  std::vector<double> labels;

  Stream(int rows, int features, bool classes) {
    std::mt19937_64 random(20261116);
    for (int i = 0; i < rows; ++i) {
      double score = 0;
      for (std::int32_t feature = 0; feature < features; ++feature) {
        if (random() % static_cast<unsigned>(features) >= 20) continue;  // about 20 a row, none twice
        const auto value = static_cast<float>(static_cast<int>(random() % 33) - 16) / 8;
        indices.push_back(feature);
        values.push_back(value);
        score += static_cast<double>(value) * (feature % 5 - 2) / 4;
      }
      indptr.push_back(static_cast<std::int64_t>(indices.size()));
      score += (static_cast<double>(random() % 17) - 8) / 8;
      labels.push_back(classes ? (score > 0 ? 1.0 : 0.0) : score);
    }
  }
  riata::BlockView<std::int32_t> view() const { return block_view(*this); }
};

class Sum {  // FNV-1a over the bits of doubles; a zero has no sign
 public:
  void add(const std::vector<double>& numbers) {
    for (const double number : numbers) {
      const auto bits = std::bit_cast<std::uint64_t>(number + 0.0);
      for (int byte = 0; byte < 8; ++byte) value_ = (value_ ^ (bits >> 8 * byte & 0xFF)) * 0x100000001B3u;
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325u;
};

using Results = std::map<std::string, std::uint64_t>;
using Make = std::unique_ptr<riata::Linear> (*)(const std::string&, const std::string&,
                                                const riata::LinearSpec&);

void learn_linear(Results& results, const std::string& family, Make make, const std::string& update,
                  bool scaled) {
  for (const char* loss : {"logistic", "hinge", "modified_huber", "squared", "huber"})
    for (const char* store : {"dense", "table", "hashed"}) {
      riata::LinearSpec spec;
      spec.loss = riata::find_loss(loss);
      spec.loss_parameter = 0.5;
      spec.schedule.eta0 = 0.05;
      spec.bits = scaled ? 8 : 12;  // 8: many features share a row
      spec.scaled = scaled;
      spec.numbers = {{"l1", 0.01},   {"l2", 0.001},    {"gravity", 0.01}, {"period", 3},
                      {"theta", 1e9}, {"alpha", 1},     {"beta", 1},       {"schedule", 1},
                      {"eta0", 0.05}, {"power_t", 0.5}, {"epsilon", 1e-6}};
      const auto model = make(update, store, spec);
      CHECK(model != nullptr);
      if (model == nullptr) return;
      const Stream stream(600, 300, spec.loss->classification);
      const auto view = stream.view();
      std::vector<double> scores(stream.labels.size());
      CHECK(model->learn(view, nullptr, view.rows, scores.data()).status == riata::Outcome::Status::ok);
      Sum sum;
      sum.add(model->coefficients().values);
      sum.add(model->intercept);
      sum.add(scores);
      results[family + " " + update + " " + loss + " " + store + (scaled ? " scaled" : "")] = sum.value();
    }
}

void learn_bayesian(Results& results, const std::string& update, const std::string& link, int priors) {
  const Stream stream(300, 200, true);
  const auto view = stream.view();
  riata::BayesianSpec spec;
  spec.update = update;
  spec.link = link;
  spec.prior_variances.assign(static_cast<std::size_t>(priors), 1.0);
  for (int k = 0; k < priors; ++k) spec.prior_variances[static_cast<std::size_t>(k)] = 1.0 / (1 << k);
  const auto model = riata::make_bayesian("table", spec);
  CHECK(model != nullptr);
  if (model == nullptr) return;
  std::vector<double> scores(stream.labels.size());
  CHECK(model->learn(view, nullptr, view.rows, scores.data()).status == riata::Outcome::Status::ok);
  Sum sum;
  sum.add(model->rows().values);
  sum.add(model->intercept);
  sum.add(model->log_evidence);
  sum.add(scores);
  results["bayesian " + update + " " + link + " " + std::to_string(priors)] = sum.value();
}

void learn_interior(Results& results) {
  for (const char* loss : {"logistic", "squared"}) {
    riata::InteriorSpec spec;
    spec.loss = riata::find_loss(loss);
    spec.l1 = 0.1;
    riata::Interior model(spec);
    const Stream stream(200, 60, spec.loss->classification);
    const auto view = stream.view();
    std::vector<double> scores(stream.labels.size());
    CHECK(model.learn(view, nullptr, view.rows, scores.data()).status == riata::Outcome::Status::ok);
    std::vector<double> state(static_cast<std::size_t>(model.slots() * model.width()));
    model.save(state.data());
    Sum sum;
    sum.add(state);
    sum.add(model.intercept);
    results[std::string("interior ") + loss] = sum.value();
  }
}

void learn_sketch(Results& results, const riata::Link& link) {
  const Stream stream(4000, 60, true);
  riata::SketchOf<riata::SquareMatrix> sketch(link, true);
  sketch.begin({1, 4, 9}, {0.5, 0, -0.25}, 0.1, true);
  std::vector<double> scores(stream.labels.size()), losses(stream.labels.size()), solved;
  CHECK(sketch.accumulate(stream.view(), 1.0, 2, scores.data(), losses.data()) == riata::Accumulated::ok);
  sketch.solve(5.0, 0.0, {0, 1e-9, 10000}, solved, {});
  Sum sum;
  sum.add(losses);
  sum.add(solved);
  for (std::int64_t j = 0; j < 60; ++j) sum.add({sketch.gradient(j)});
  results["sketch " + std::string(link.name)] = sum.value();
}

}  // namespace

int main(int argc, char** argv) {
  Results results;
  for (const char* update : {"fobos", "sgd", "fobos-adagrad", "sgd-adagrad"})
    for (const bool scaled : {false, true})
      learn_linear(results, "elastic-net", riata::make_elastic_net, update, scaled);
  for (const char* update : {"truncate", "round", "subgradient", "truncate-adagrad"})
    learn_linear(results, "truncated", riata::make_truncated, update, false);
  for (const bool scaled : {false, true}) learn_linear(results, "ftrl", riata::make_ftrl, "ftrl", scaled);
  for (const char* update : {"marginal", "joint", "adf"})
    for (const char* link : {"logit", "probit"})
      for (const int priors : {1, 5}) learn_bayesian(results, update, link, priors);
  learn_interior(results);
  for (const riata::Link& link : riata::kLinks) learn_sketch(results, link);
  if (argc > 1 && std::strcmp(argv[1], "--print") == 0) {
    for (const auto& [name, sum] : results)
      std::printf("    {\"%s\", 0x%016llXu},\n", name.c_str(), static_cast<unsigned long long>(sum));
    return check::failures();
  }
  CHECK(results.size() == std::size(kGolden));
  for (const auto& [name, sum] : kGolden) {
    if (results[name] != sum) std::fprintf(stderr, "other bits: %s\n", name);
    CHECK(results[name] == sum);
  }
  return check::failures();
}
