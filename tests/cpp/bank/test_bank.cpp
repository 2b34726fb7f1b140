// Settings side by side have the bits that each has alone in a linear model, fold by fold.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "riata/bank/bank.hpp"

using namespace riata;

namespace {

struct Data {
  std::vector<std::int64_t> indptr{0}, order;
  std::vector<std::int32_t> indices;
  std::vector<float> values;
  std::vector<double> labels, weights;

  explicit Data(int rows, int features, bool regression, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform;
    for (int r = 0; r < rows; ++r) {
      for (int j = 0; j < features; ++j) {
        if (uniform(random) > 4.0 / (1 + j)) continue;
        indices.push_back(j);
        values.push_back(static_cast<float>(uniform(random) - 0.5));
      }
      indptr.push_back(static_cast<std::int64_t>(indices.size()));
      const double u = uniform(random);
      labels.push_back(regression ? u : u < 0.4);
      weights.push_back(r % 7 == 3 ? 0.0 : 1.0 + r % 3);
      order.push_back(r);
    }
    std::shuffle(order.begin(), order.end(), random);
  }
  BlockView<std::int32_t> view() const {
    return {static_cast<std::int64_t>(labels.size()),
            static_cast<std::int64_t>(indices.size()),
            indptr.data(),
            indices.data(),
            values.data(),
            labels.data(),
            weights.data()};
  }
};

struct Way {  // how values and rates are taken
  bool adagrad = false, scaled = false, is_explicit = false;
  Normalize normalize = Normalize::none;
};

std::vector<LinearSpec> specs(const char* loss, int outputs, const Way& way) {
  std::vector<LinearSpec> out;
  int n = 0;
  for (const double l1 : {0.0, 1e-3, 0.02, 1e-2, 5e-2})
    for (const double l2 : {0.0, 1e-3, 0.9}) {
      LinearSpec spec;
      spec.loss = find_loss(loss);
      spec.numbers = {{"l1", l1},
                      {"l2", l2},
                      {"eta0", n % 2 == 0 ? 0.5 : 0.1},
                      {"power_t", 0.5},
                      {"schedule", n % 4},
                      {"gravity", l1},
                      {"theta", l2 + 0.1},
                      {"period", way.adagrad ? 3 : 1 + n % 3}};
      spec.numbers["explicit"] = way.is_explicit;
      spec.scaled = way.scaled;
      spec.normalize = way.normalize;
      spec.schedule = schedule_of(spec.numbers);
      spec.columns = outputs;
      ++n;
      out.push_back(spec);
    }
  return out;
}

std::unique_ptr<Linear> alone(const std::string& family, const std::string& update, const LinearSpec& spec) {
  if (family == "elastic-net") return make_elastic_net(update, "dense", spec);
  return make_truncated(update, "dense", spec);
}

void same(const Linear& single, const UnitState& unit) {
  const Rows rows = single.rows();
  CHECK(rows.keys == unit.rows.keys);
  CHECK(rows.values == unit.rows.values);
  CHECK(single.rule_state() == unit.rule_state);
  CHECK(single.intercept == unit.intercept);
  CHECK(single.t == unit.t);
  CHECK(single.features == unit.features);
  CHECK(single.row_width() == unit.row_width);
  const Rows sums = single.scaled() ? single.scale_sums() : Rows{};
  CHECK(single.scaled() == unit.scaled);
  CHECK(sums.keys == unit.scale_sums.keys);
  CHECK(sums.values == unit.scale_sums.values);
}

// Of one pass: the rows that a group learns, in their order.
std::vector<std::int64_t> learned_by(const Data& data, const std::vector<std::int64_t>& folds, int group) {
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < data.order.size(); ++i)
    if (folds[i] != group) rows.push_back(data.order[i]);
  return rows;
}

void against_single(const char* family, const std::string& update, const char* loss, int outputs, int passes,
                    const Way& way = {}) {
  const Data data(1500, 300, outputs == 0, 7);
  const int groups = 4;
  auto settings = specs(loss, outputs == 0 ? 1 : outputs, way);
  auto bank = make_bank(family, update, settings, groups);
  std::vector<std::unique_ptr<Linear>> singles;
  for (int g = 0; g < groups; ++g)
    for (const LinearSpec& spec : settings) singles.push_back(alone(family, update, spec));
  std::vector<std::int64_t> folds;
  for (const std::int64_t row : data.order) folds.push_back(row * 7919 % 3);  // group 3 learns all
  const auto n = static_cast<std::int64_t>(data.order.size());
  const int m = bank->outputs();
  std::vector<int> kept;
  for (int s = 0; s < bank->settings(); ++s) kept.push_back(s);
  for (int pass = 0; pass < passes; ++pass) {
    std::vector<double> scores(static_cast<std::size_t>(n) * kept.size() *
                               static_cast<std::size_t>(groups * m));
    const BankOutcome outcome = bank->learn(data.view(), data.order.data(), n, folds.data(), scores.data());
    CHECK(outcome.kind == BankOutcome::Kind::ok);
    const std::vector<std::int64_t> live = bank->live_weights();
    for (int g = 0; g < groups; ++g) {
      const auto rows = learned_by(data, folds, g);
      for (std::size_t i = 0; i < kept.size(); ++i) {
        Linear& single =
            *singles[static_cast<std::size_t>(g) * settings.size() + static_cast<std::size_t>(kept[i])];
        std::vector<double> own(rows.size() * static_cast<std::size_t>(m));
        const Outcome done =
            single.learn(data.view(), rows.data(), static_cast<std::int64_t>(rows.size()), own.data());
        CHECK(done.status == Outcome::Status::ok);
        same(single, bank->unit(static_cast<int>(i), g));
        CHECK(single.live_weights() == live[static_cast<std::size_t>(g) * kept.size() + i]);
        std::size_t next = 0;
        for (std::size_t k = 0; k < data.order.size(); ++k) {
          if (folds[k] == g) continue;
          const double* of = scores.data() + k * kept.size() * static_cast<std::size_t>(groups * m);
          for (int c = 0; c < m; ++c, ++next)
            CHECK(of[(static_cast<std::size_t>(g) * kept.size() + i) * static_cast<std::size_t>(m) +
                     static_cast<std::size_t>(c)] == own[next]);
        }
      }
    }
    if (pass == 0) {  // what is left out changes nothing for the others
      CHECK(bank->keep({0, 2, 3, 7, 8, 14}));
      kept = {0, 2, 3, 7, 8, 14};
    }
    if (pass == 1) {
      const std::vector<double> factors{0.5, 1, 0.25, 0.5, 0.9, 1};
      bank->set_rate_factors(factors);
      for (std::size_t i = 0; i < kept.size(); ++i)
        for (int g = 0; g < groups; ++g)
          singles[static_cast<std::size_t>(g) * settings.size() + static_cast<std::size_t>(kept[i])]
              ->set_rate_factor(factors[i]);
    }
  }
}

// Every example brings a feature that no other has, and whose weights soon come to zero: their cells are for others.
void features_die(std::int32_t far) {
  Data data(0, 0, false, 1);
  const int rows = 12000;
  for (int r = 0; r < rows; ++r) {
    data.indices.insert(data.indices.end(), {r % 5, far + 5 + r});
    data.values.insert(data.values.end(), {1, 1});
    data.indptr.push_back(2 * (r + 1));
    data.labels.push_back(r % 3 == 0);
    data.weights.push_back(1);
    data.order.push_back(r);
  }
  auto settings = specs("logistic", 1, {});
  for (LinearSpec& spec : settings) {
    spec.numbers["l1"] += 0.01;
    spec.schedule.kind = Schedule::Kind::constant;
  }
  const auto bank = make_bank("elastic-net", "fobos", settings, 1);
  std::vector<double> scores(static_cast<std::size_t>(rows) * settings.size()), own(rows);
  CHECK(bank->learn(data.view(), data.order.data(), rows, nullptr, scores.data()).kind ==
        BankOutcome::Kind::ok);
  for (const std::size_t i : {0, 7, 14}) {
    const auto single = alone("elastic-net", "fobos", settings[i]);
    CHECK(single->learn(data.view(), data.order.data(), rows, own.data()).status == Outcome::Status::ok);
    same(*single, bank->unit(static_cast<int>(i), 0));
  }
}

}  // namespace

int main() {
  for (const std::int32_t far : {0, 1 << 28}) features_die(far);
  for (const char* update : {"fobos", "sgd"})
    for (const int outputs : {1, 2, 3}) against_single("elastic-net", update, "logistic", outputs, 5);
  against_single("elastic-net", "fobos", "squared", 0, 3);
  for (const char* update : {"truncate", "round"})
    for (const int outputs : {1, 3}) against_single("truncated", update, "logistic", outputs, 3);
  for (const std::string update : {"fobos", "sgd", "fobos-adagrad", "sgd-adagrad"}) {
    Way way{.adagrad = update.size() > 6, .scaled = true};
    for (const int outputs : {1, 3}) against_single("elastic-net", update, "logistic", outputs, 3, way);
    way.normalize = Normalize::l2;
    against_single("elastic-net", update, "huber", 0, 3, way);
    way.scaled = false;
    against_single("elastic-net", update, "logistic", 1, 3, way);
  }
  for (const char* update : {"truncate-adagrad", "round-adagrad"}) {
    against_single("truncated", update, "logistic", 1, 3, {.adagrad = true, .scaled = true});
    against_single("truncated", update, "squared", 0, 3, {.adagrad = true, .is_explicit = true});
  }
  CHECK(make_bank("truncated", "truncate-adagrad", specs("logistic", 1, {}), 1) ==
        nullptr);  // periods differ
  return check::failures();
}
