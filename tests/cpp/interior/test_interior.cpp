// The interior-point kernel on gradients that no objective has: slacks and multipliers stay above zero,
// failed examples leave no trace, state survives a round trip.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "riata/interior/interior.hpp"

namespace {

using riata::Interior;
using riata::InteriorSpec;
using riata::Outcome;

struct Row {
  std::vector<std::int64_t> indices;
  std::vector<float> values;
  std::string names;
  std::vector<std::int64_t> offsets = {0};
  std::int64_t indptr[2] = {0, 0};
  double label = 0;

  riata::BlockView<std::int64_t> view(bool named) const {
    riata::BlockView<std::int64_t> out;
    out.rows = 1;
    out.nnz = indptr[1];
    out.indptr = indptr;
    out.indices = indices.data();
    out.values = values.data();
    out.labels = &label;
    if (named) {
      out.names = names.data();
      out.name_offsets = offsets.data();
    }
    return out;
  }
};

Row random_row(std::mt19937_64& random, double scale) {
  std::normal_distribution<double> normal;
  Row row;
  for (std::int64_t feature = 0; feature < 40; ++feature) {
    if (random() % 4 != 0) continue;
    const std::string name = (feature % 3 == 0 ? "price^" : "word=") + std::to_string(feature);
    row.indices.push_back(feature * 1'000'003);
    row.values.push_back(static_cast<float>(scale * normal(random)));
    row.names += name;
    row.offsets.push_back(static_cast<std::int64_t>(row.names.size()));
  }
  row.indptr[1] = static_cast<std::int64_t>(row.indices.size());
  row.label = static_cast<double>(random() % 2);
  return row;
}

std::vector<double> state_of(const Interior& model) {
  std::vector<double> rows(static_cast<std::size_t>(model.slots() * model.width()));
  model.save(rows.data());
  return rows;
}

void inside(const Interior& model, bool bounded) {
  for (std::int64_t slot = 0; slot < model.slots(); ++slot) {
    for (const riata::InteriorColumn& column : model.columns) {
      for (const riata::Half& half : column.half) {
        CHECK(std::isfinite(half.x[slot]) && std::isfinite(half.z[slot]));
        if (!bounded) CHECK(half.x[slot] > 0 && half.z[slot] > 0);
      }
    }
    if (bounded && slot >= model.groups()) CHECK(std::fabs(model.weight(0, slot)) < 0.5);
  }
}

void run(bool bounded, bool named, double scale, double l1, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  InteriorSpec spec;
  spec.loss = riata::find_loss("logistic");
  spec.l1 = l1;
  spec.columns = 2;
  spec.bounded = bounded;
  if (bounded) {
    spec.bounds = {-0.5, 0.5};
    spec.group_bounds = {{"price", {0, 0.25}}};
  }
  Interior model(spec);
  double scores[2];
  for (int i = 0; i < 200; ++i) {
    Row row = random_row(random, scale);
    if (i % 50 == 49 && !row.values.empty()) {
      const std::vector<double> before = state_of(model);
      row.values.back() = std::nanf("");
      row.indices.back() += 7;  // a feature of its own, which must be forgotten
      CHECK(model.learn(row.view(named), nullptr, 1, scores).status == Outcome::Status::diverged);
      CHECK(state_of(model) == before);
      continue;
    }
    CHECK(model.learn(row.view(named), nullptr, 1, scores).status == Outcome::Status::ok);
    inside(model, bounded);
  }
  Interior again(spec);
  const riata::Names& names = model.names;
  const std::vector<double> rows = state_of(model);
  CHECK(again.restore(model.keys.data(), rows.data(), model.slots(),
                      named ? reinterpret_cast<const char*>(names.bytes.data()) : nullptr,
                      named ? names.offsets.data() : nullptr));
  CHECK(state_of(again) == rows);
  CHECK(!again.restore(model.keys.data(), rows.data(), 0, nullptr, nullptr));
}

}  // namespace

int main() {
  std::uint64_t seed = 0;
  for (const bool bounded : {false, true})
    for (const bool named : {false, true})
      for (const double scale : {1e-6, 1.0, 1e6})
        for (const double l1 : {0.0, 1e-3, 1e3}) run(bounded, named, scale, l1, ++seed);
  return check::failures();
}
