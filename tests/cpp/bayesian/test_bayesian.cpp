// Bayesian models on values no sensible stream has: every number of the state stays finite, whatever the
// update, the store and the number of columns; and registers of every width give the same bits.
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "block/view.hpp"
#include "check.hpp"
#include "riata/bayesian/bayesian.hpp"
#include "riata/bayesian/taylor.hpp"
#include "riata/simd/instructions.hpp"

namespace {

using riata::Bayesian;
using riata::BayesianSpec;

using Rows = WeightedRows;

// Rows of very different lengths, with values of all sizes that a float has, and now and then an index twice.
Rows extreme(std::mt19937_64& random, int rows, int classes) {
  const float sizes[] = {1e-45f, 1e-30f, 1e-10f, 0.1f, 1.0f, 7.5f, 1e6f, 1e20f, 3.4e38f};
  const double weights[] = {1, 1, 1, 0, 1e-300, 0.5, 3, 1e10, 1e300};
  Rows out;
  for (int r = 0; r < rows; ++r) {
    const std::uint64_t length = random() % 8 == 0 ? random() % 300 : random() % 60;
    const bool calm = random() % 2 == 0;
    for (std::uint64_t k = 0; k < length; ++k) {
      const std::int64_t feature = static_cast<std::int64_t>(random() % 400);
      const float size = calm ? sizes[3 + random() % 3] : sizes[random() % 9];
      out.add_entry(feature, random() % 2 == 0 ? size : -size,
                    (feature % 2 == 0 ? "even=" : "odd=") + std::to_string(feature));
    }
    const auto label = static_cast<double>(random() % static_cast<std::uint64_t>(classes));
    out.end_row(label, calm ? 1 : weights[random() % 9]);
  }
  return out;
}

void run(const std::string& store, const BayesianSpec& spec, bool named, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto model = riata::make_bayesian(store, spec);
  CHECK(model != nullptr);
  for (int block = 0; block < 3; ++block) {
    const Rows rows = extreme(random, spec.update == "vb" ? 4 : 25, spec.outputs == 1 ? 2 : spec.outputs);
    learn_and_score(*model, rows.view(named), spec.outputs);
    all_finite(model->rows().values);
    all_finite(model->intercept);
    all_finite(model->log_evidence);
    const auto posterior = model->posterior();
    all_finite(posterior.means);
    for (const double precision : posterior.precisions) CHECK(precision > 0 && std::isfinite(precision));
  }
  // A state that was saved goes on as if nothing had happened.
  const auto again = riata::make_bayesian(store, spec);
  const auto rows = model->rows();
  const auto names = model->names(rows.keys.data(), static_cast<std::int64_t>(rows.keys.size()));
  CHECK(again->set_rows(rows.keys.data(), rows.values.data(), static_cast<std::int64_t>(rows.keys.size()),
                        named ? reinterpret_cast<const char*>(names.bytes.data()) : nullptr,
                        named ? names.offsets.data() : nullptr));
  CHECK(again->rows().values == rows.values);
}

std::vector<BayesianSpec> specs() {
  std::vector<BayesianSpec> out;
  for (const char* update : {"marginal", "joint", "adf", "vb"})
    for (const char* link : {"logit", "probit"})
      for (const char* mean : {"taylor", "newton"})
        for (const char* variance : {"curvature", "height"}) {
          BayesianSpec spec;
          spec.update = update;
          spec.link = link;
          spec.mean = mean;
          spec.variance = variance;
          spec.bits = 6;
          spec.samples = spec.update == "vb" ? 3 : 0;
          out.push_back(spec);
        }
  return out;
}

void updates() {
  std::uint64_t seed = 0;
  for (const char* store : {"dense", "table", "hashed"})
    for (BayesianSpec spec : specs()) {
      const bool named = std::string(store) != "dense";
      run(store, spec, named, ++seed);
      spec.prior_variances = {1e-20, 1e-3, 1, 1e20};
      spec.half_life = 5;
      spec.share = 0.1;
      run(store, spec, named, ++seed);
    }
}

void columns() {
  std::uint64_t seed = 1000;
  for (const int priors : {1, 3, 8, 11})
    for (const int outputs : {1, 3})
      for (const bool own : {false, true}) {
        BayesianSpec spec;
        spec.bits = 5;
        spec.outputs = outputs;
        spec.prior_variances.clear();
        for (int g = 0; g < priors; ++g) spec.prior_variances.push_back(1e-3 * std::pow(4.0, g));
        run("dense", spec, false, ++seed);
        run("hashed", spec, true, ++seed);
        spec.views = {riata::View::raw, riata::View::binary, riata::View::log1p};
        if (own) {
          spec.own_priors = true;
          spec.named_variances = {{"even", 0.25}, {"odd=7", 9.0}};
        }
        run("table", spec, true, ++seed);
      }
}

// One example's numbers, laid out for every width.
void widths(int rows, int k, int views, double weight, double scale, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto n = static_cast<std::size_t>(rows), columns = static_cast<std::size_t>(k);
  std::vector<double> start((n + 1) * 2 * columns), x((n + 4) * static_cast<std::size_t>(views) + 32);
  for (double& value : x) value = scale * normal(random);
  for (std::size_t i = n; i < n + 8 && k == 1; ++i) x[i] = 0;
  for (std::size_t i = 0; i < n * 2 * columns; ++i)
    start[i] = i / columns % 2 == 0 ? normal(random) : std::exp(3 * normal(random));
  const std::vector<double> precisions(columns, 0.25), intercept(columns, 1 / 6.283), y(columns, -1.0);
  std::vector<std::vector<double>> results;
  for (const auto wide :
       {riata::Instructions::plain, riata::Instructions::avx2, riata::Instructions::avx512}) {
    const riata::TaylorKernels* code = riata::find_taylor_kernels(wide);
    if (code == nullptr) continue;
    std::vector<double> state = start, variances((n + 4) * columns + 32, 1.0), means(columns),
                        spreads(columns);
    std::vector<double*> at;
    for (std::size_t i = 0; i < n + 8; ++i) at.push_back(state.data() + (i < n ? i : n) * 2 * columns);
    riata::Taylor m;
    m.rows = rows;
    m.columns = k;
    m.views = views;
    m.state = at.data();
    m.intercept_first = rows % 2 == 0;
    m.x = x.data();
    m.precisions = precisions.data();
    m.intercept_precisions = intercept.data();
    m.variances = variances.data();
    m.means = means.data();
    m.spreads = spreads.data();
    m.y = y.data();
    m.weight = weight;
    m.next = at.data();
    m.next_rows = rows / 2 + seed % 9;  // fewer or more than there are now
    if (m.next_rows > rows) m.next_rows = rows;
    code->gather(m);
    code->step(m);
    std::vector<double> log_weights(columns, -0.5), sums = {0, 0}, same = {0, 0};
    code->average(k, means.data(), spreads.data(), log_weights.data(), sums.data());
    code->credit(k, means.data(), spreads.data(), -1, weight, 0.9, log_weights.data(), same.data());
    CHECK(sums == same);
    for (const auto* part : {&means, &spreads, &log_weights, &sums})
      state.insert(state.end(), part->begin(), part->end());
    results.push_back(std::move(state));
  }
  for (const auto& result : results) {
    CHECK(std::memcmp(result.data(), results[0].data(), result.size() * sizeof(double)) == 0);
    all_finite(result);
  }
}

// Where rows are and what the values are, for every width.
void places(int n) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::vector<std::int32_t> indices;
  std::vector<float> values;
  for (int k = 0; k < n; ++k) {
    indices.push_back(static_cast<std::int32_t>(random() >> 33));
    values.push_back(static_cast<float>(k) - 3.5f);
  }
  for (const auto wide :
       {riata::Instructions::plain, riata::Instructions::avx2, riata::Instructions::avx512}) {
    const riata::TaylorKernels* code = riata::find_taylor_kernels(wide);
    if (code == nullptr) continue;
    std::vector<const double*> rows(indices.size());
    std::vector<double> x(indices.size());
    const std::uint32_t any = code->places(n, indices.data(), 1 << 20, 136, rows.data());
    const std::uint32_t largest = code->lay_out(n, indices.data(), values.data(), x.data());
    std::uint32_t expected = 0, most = 0;
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const auto index = static_cast<std::uint32_t>(indices[k]);
      expected |= index;
      most = std::max(most, index);
      CHECK(reinterpret_cast<std::uintptr_t>(rows[k]) == (1 << 20) + 136 * std::uintptr_t{index});
      CHECK(x[k] == static_cast<double>(values[k]));
    }
    CHECK(any == expected);
    CHECK(largest == most);
  }
}

}  // namespace

int main() {
  updates();
  for (const int n : {0, 1, 7, 8, 9, 16, 31, 100}) places(n);
  columns();
  std::uint64_t seed = 0;
  for (const int rows : {1, 2, 7, 8, 9, 31, 32, 33, 129, 500})
    for (const int k : {1, 2, 8, 9, 24})
      for (const double weight : {1.0, 0.3, 5.0})
        for (const double scale : {1e-20, 0.1, 1.0, 30.0, 1e30}) widths(rows, k, 1, weight, scale, ++seed);
  for (const int rows : {5, 40, 300}) widths(rows, 24, 3, 1, 1, ++seed);
  return check::failures();
}
