// Rows of a model file, with any keys, numbers and names, into a model of every family and store: it takes them or
// refuses, and what it took it gives back, scores and learns on.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>

#include "mutate.hpp"
#include "riata/bayesian/bayesian.hpp"
#include "riata/linear/linear.hpp"
#include "riata/portfolio/portfolio.hpp"
#include "riata/portfolio/regression.hpp"

using namespace riata;

namespace {

std::unique_ptr<Model> make(unsigned which, unsigned store_number) {
  const char* const store = store_number == 0 ? "dense" : store_number == 1 ? "table" : "hashed";
  LinearSpec linear;
  linear.loss = find_loss("logistic");
  linear.bits = 8;
  linear.columns = 1 + static_cast<int>(which / 8 % 2);
  linear.scaled = which / 16 % 2 == 1;
  const std::string rates = which / 32 % 2 == 1 ? "-adagrad" : "";
  linear.numbers = {{"l1", 0.01},   {"l2", 0.001},    {"gravity", 0.01}, {"period", 3},
                    {"theta", 1e9}, {"alpha", 1},     {"beta", 1},       {"schedule", 1},
                    {"eta0", 0.05}, {"power_t", 0.5}, {"epsilon", 1e-6}};
  BayesianSpec bayesian;
  bayesian.update = "marginal";
  bayesian.link = "logit";
  bayesian.prior_variances = {1, 0.1};
  bayesian.bits = 8;
  PortfolioSpec portfolio;
  portfolio.members = {{Rule::bayesian, Values::raw, 1}, {Rule::adagrad, Values::unit_rms, 0.1}};
  portfolio.joint = {0.01, 0.1, 1, 10};
  portfolio.members.push_back({Rule::joint, Values::raw, 0.1});
  portfolio.bits = 8;
  RegressionSpec regression;
  regression.members = {{false, 0.1, 0}, {true, 1, 4}};
  regression.joint = portfolio.joint;
  regression.bits = 8;
  switch (which % 8) {
    case 0:
      return make_elastic_net("fobos" + rates, store, linear);
    case 1:
      return make_elastic_net("sgd" + rates, store, linear);
    case 2:
      return make_truncated("truncate" + rates, store, linear);
    case 3:
      return make_truncated("round" + rates, store, linear);
    case 4:
      return make_ftrl("ftrl", store, linear);
    case 5:
      return make_bayesian(store, bayesian);
    case 6:
      return make_portfolio(store, portfolio);
    default:
      return make_regression(store, regression);
  }
}

// Bytes of the input, in the order in which they are asked for; zeros after the last.
struct Bytes {
  const std::uint8_t* at;
  std::size_t left;

  template <class T>
  T next() {
    T value{};
    const std::size_t size = std::min(left, sizeof(T));
    if (size > 0) std::memcpy(&value, at, size);
    at += size;
    left -= size;
    return value;
  }
};

}  // namespace

std::vector<std::string_view> seeds() {
  using namespace std::literals;
  return {"\x00\x00\x02\x00\x01\x00\x00\x00\x00\x00\x00\x3f\x80"sv,
          "\x15\x05\x05\x07\x03\xff\x01\x02\x03\x04\x05\x06\x07\x08\x3f\xf0\x00"sv,
          "\x2e\x0a\x08\x01\x00\x00\x02\x00\x03\xf0\x3f\xf0\xbf\x01"sv};
}

std::vector<std::string_view> pieces() {
  using namespace std::literals;
  return cut(
      "\xff\xff\xff\xff\xff\xff\xff\xff~\xff\xff\xff\xff\xff\xff\xff\x7f~\x00\x00\x00\x00\x00\x00\xf0\x3f~"
      "\x00\x00\x00\x00\x00\x00\xf0\x7f"sv);
}

void try_input(std::uint8_t which, std::string_view input) {
  Bytes bytes{reinterpret_cast<const std::uint8_t*>(input.data()), input.size()};
  const auto how = bytes.next<std::uint8_t>();
  const unsigned store = how % 3;
  const bool named = store == 1 && (how & 4) != 0, far = (how & 8) != 0;
  const std::int64_t n = bytes.next<std::uint8_t>() % 24;
  const auto model = make(which, store), other = make(which, store);
  must(model != nullptr, "every family has every store");
  const auto width = static_cast<std::size_t>(model->row_width());
  std::vector<std::int64_t> keys, offsets{0};
  std::vector<double> values;
  std::string names;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto key = far && store != 0 ? bytes.next<std::int64_t>() : bytes.next<std::int16_t>();
    keys.push_back(key);
    names.append(static_cast<std::size_t>(key & 7), 'n');
    offsets.push_back(static_cast<std::int64_t>(names.size()));
    for (std::size_t j = 0; j < width; ++j) values.push_back(bytes.next<std::int8_t>() / 4.0);
  }
  if (!model->set_rows(keys.data(), values.data(), n, named ? names.data() : nullptr,
                       named ? offsets.data() : nullptr))
    return;
  const Rows rows = model->rows();
  must(rows.values.size() == rows.keys.size() * width, "rows have their width");
  must(std::is_sorted(rows.keys.begin(), rows.keys.end()), "keys ascend");
  const Names kept = model->names(rows.keys.data(), static_cast<std::int64_t>(rows.keys.size()));
  must(other->set_rows(rows.keys.data(), rows.values.data(), static_cast<std::int64_t>(rows.keys.size()),
                       model->named() ? reinterpret_cast<const char*>(kept.bytes.data()) : nullptr,
                       model->named() ? kept.offsets.data() : nullptr),
       "what was given can be taken");
  const Rows again = other->rows();
  must(again.keys == rows.keys && again.values == rows.values, "and is the same");
  model->live_weights();
  // An example of some of the features, and of one that nobody has seen.
  std::vector<std::int64_t> indices;
  for (const std::int64_t key : rows.keys)
    if (key >= 0 && indices.size() < 8) indices.push_back(key);
  indices.push_back(indices.empty() ? 5 : (indices.back() / 2) + 1);
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  const std::vector<std::int64_t> indptr{0, static_cast<std::int64_t>(indices.size())};
  const std::vector<float> ones(indices.size(), 1);
  const double label = 1;
  BlockView<std::int64_t> block;
  block.rows = 1;
  block.nnz = indptr[1];
  block.indptr = indptr.data();
  block.indices = indices.data();
  block.values = ones.data();
  block.labels = &label;
  std::string text(indices.size(), 'n');
  std::vector<std::int64_t> ends(indices.size() + 1);
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = static_cast<std::int64_t>(i);
  if (named) {
    block.names = text.data();
    block.name_offsets = ends.data();
  }
  double scores[4] = {};
  model->score(block, scores);
  model->learn(block, nullptr, 1, scores);
  model->rows();
}
