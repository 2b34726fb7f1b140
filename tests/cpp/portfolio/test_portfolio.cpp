// Portfolios on values no sensible stream has: every number of the state stays finite, whatever the store and the
// number of classes, also while members are dropped; and registers of every width give the same bits.
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "block/view.hpp"
#include "check.hpp"
#include "riata/portfolio/kernels.hpp"
#include "riata/portfolio/portfolio.hpp"
#include "riata/simd/exp.hpp"

namespace {

using riata::Instructions;
using riata::Member;
using riata::Rule;
using riata::Values;

std::vector<Member> members(std::mt19937_64& random) {
  std::vector<Member> out;
  for (const Rule rule : {Rule::bayesian, Rule::adagrad})
    for (const Values values : {Values::raw, Values::rms, Values::unit, Values::unit_rms})
      for (std::uint64_t k = random() % 4 == 0 ? 9 : random() % 4; k > 0; --k)
        out.push_back({rule, values, std::exp2(static_cast<double>(random() % 16) - 8)});
  if (out.empty()) out.push_back({});
  return out;
}

using Rows = WeightedRows;

Rows some(std::mt19937_64& random, int rows, int classes, bool extreme, std::uint64_t features) {
  const float sizes[] = {1e-45f, 1e-30f, 0, 0.1f, 1.0f, 7.5f, 1e6f, 1e20f, 3.4e38f};
  const double weights[] = {1, 1, 1, 0, 1e-300, 0.5, 3, 1e10, 1e300};
  Rows out;
  for (int r = 0; r < rows; ++r) {
    const auto label = random() % static_cast<std::uint64_t>(classes);
    const std::uint64_t length = random() % 16 == 0 ? random() % 70 : random() % 12;
    for (std::uint64_t k = 0; k < length; ++k) {
      const std::int64_t feature = static_cast<std::int64_t>(
          random() % 3 == 0 ? label : random() % features);  // now and then one twice
      const float size = extreme ? sizes[random() % 9] : 1;
      out.add_entry(feature, extreme && random() % 2 == 0 ? -size : size, "f" + std::to_string(feature));
    }
    out.end_row(static_cast<double>(label), extreme ? weights[random() % 9] : 1);
  }
  return out;
}

void run(const std::string& store, std::uint64_t seed, bool extreme) {
  std::mt19937_64 random(seed);
  riata::PortfolioSpec spec;
  spec.members = members(random);
  if (random() % 2 == 0) {
    spec.joint = {0.01, 1, 64, 4096};
    for (const double prior : spec.joint) spec.members.push_back({Rule::joint, Values::raw, prior});
  }
  spec.outputs = random() % 2 == 0 ? 1 : 3;
  spec.multinomial = spec.outputs > 1 && random() % 2 == 0;
  spec.fit_intercept = random() % 4 != 0;
  spec.bits = 9;
  const bool named = store == "table" && random() % 2 == 0;
  const std::uint64_t features = random() % 2 == 0 ? 20 : 400;  // of few, some members learn all together
  const auto model = riata::make_portfolio(store, spec);
  for (int block = 0; block < (extreme ? 3 : 9); ++block) {
    const Rows rows =
        some(random, extreme ? 40 : 500, spec.outputs == 1 ? 2 : spec.outputs, extreme, features);
    learn_and_score(*model, rows.view(named), spec.outputs);
  }
  const riata::Rows saved = model->rows();
  all_finite(saved.values);
  all_finite(model->intercept);
  all_finite(model->evidence.weights);
  all_finite(model->evidence.losses);
  all_finite(model->evidence.worth);
  all_finite(model->single);
  const riata::JointState together = model->joint.state();
  for (const auto* part : {&together.means, &together.variances, &together.factors}) all_finite(*part);
  CHECK(saved.values.size() == saved.keys.size() * static_cast<std::size_t>(model->row_width()));
  CHECK(model->alive.size() >= 1 && model->alive.size() <= spec.members.size());
}

// A row that no view holds is refused, and what was learned before stays.
void refuses() {
  riata::PortfolioSpec spec;
  spec.members = {{Rule::adagrad, Values::unit, 1}};
  const auto model = riata::make_portfolio("dense", spec);
  Rows rows;
  rows.indices = {-1};
  rows.values = {1};
  rows.labels = {1};
  rows.weights = {1};
  rows.indptr = {0, 1};
  double score = 0;
  CHECK(model->learn(rows.view(false), nullptr, 1, &score).status == riata::Outcome::Status::bad_index);
  CHECK(model->score(rows.view(false), &score).status == riata::Outcome::Status::ok);
  rows.indptr = {0, 2};
  CHECK(model->learn(rows.view(false), nullptr, 1, &score).status == riata::Outcome::Status::bad_block);
  CHECK(model->t == 0);
}

// Every kernel in every instruction set, on the same numbers.
std::vector<double> bits_of(const riata::PortfolioKernels& kernels, int columns, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  constexpr int kRows = 21, kRoom = 64;
  std::vector<double> state(kRoom * 40), out;
  std::vector<double*> rows;
  for (int i = 0; i < kRoom; ++i) rows.push_back(state.data() + i * 40);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < 2 * columns; ++j)
      rows[i][j] = j < columns ? normal(random) : std::fabs(normal(random));
  std::vector<double> x(kRoom), rms(kRoom), unit(kRoom), unit_rms(kRoom), rates, y, scores(columns),
      ratios(8 * kRoom);
  for (int i = 0; i < kRows; ++i) x[i] = random() % 5 == 0 ? 0 : normal(random);
  for (int c = 0; c < columns; ++c) {
    rates.push_back(std::exp2(static_cast<double>(random() % 40) - 20));
    y.push_back(random() % 2 == 0 ? 1 : -1);
  }
  riata::AdaGradRows m;
  m.rows = kRows;
  m.columns = columns;
  m.state = rows.data();
  m.x = x.data();
  m.rates = rates.data();
  m.y = y.data();
  m.scores = scores.data();
  m.weight = 1.5;
  m.ratios = ratios.data();
  kernels.gather(m);
  kernels.step(m);
  riata::Views v;
  v.rows = kRows;
  v.intercept_first = v.learn = true;
  v.state = rows.data();
  v.raw = x.data();
  v.rms = rms.data();
  v.unit = unit.data();
  v.unit_rms = unit_rms.data();
  kernels.views(v);
  std::vector<double> weights(columns, 1.0 / columns), losses(columns), worth(columns);
  double sums[2];
  kernels.average(columns, scores.data(), weights.data(), sums);
  kernels.losses(columns, scores.data(), -1, losses.data());
  kernels.credit(columns, losses.data(), weights.data(), 0.7, 2, worth.data());
  out.push_back(kernels.reweigh(columns, losses.data(), 0, 1.5, weights.data()));
  for (const auto* each : {&state, &rms, &unit, &unit_rms, &scores, &weights, &losses, &worth})
    out.insert(out.end(), each->begin(), each->end());
  out.insert(out.end(), {v.lengths[0], v.lengths[1], sums[0], sums[1]});
  return out;
}

void same_bits() {
  for (const int columns : {1, 2, 5, 8, 11, 16})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto plain = bits_of(*riata::find_portfolio_kernels(Instructions::plain), columns, seed);
      all_finite(plain);
      for (const Instructions set : {Instructions::avx2, Instructions::avx512}) {
        const auto* kernels = riata::find_portfolio_kernels(set);
        if (kernels == nullptr) continue;
        const auto wide = bits_of(*kernels, columns, seed);
        CHECK(std::memcmp(plain.data(), wide.data(), plain.size() * sizeof(double)) == 0);
      }
    }
}

// The logarithm of eight is that of one.
void logs() {
  std::mt19937_64 random(1);
  for (int n = 0; n < 20000; ++n) {
    double x[8], out[8];
    for (double& each : x)
      each = std::exp2(static_cast<double>(random() % 2044) - 1022) *
             (1 + static_cast<double>(random() >> 12) * 0x1p-52);
    x[n % 8] = n % 3 == 0 ? 1 : n % 3 == 1 ? 0.7071067811865476 : 0x1p-1022;
    riata::store(out, riata::log_of_normal(riata::eight(x)));
    for (int j = 0; j < 8; ++j) CHECK(out[j] == riata::log(x[j]));
  }
}

}  // namespace

int main() {
  logs();
  same_bits();
  refuses();
  for (const std::string store : {"dense", "table", "hashed"})
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      run(store, seed, true);
      run(store, 100 + seed, false);
    }
  return check::failures();
}
