// Rows that a test has made, as a Block.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "riata/block/block.hpp"
#include "riata/linear/model.hpp"

// `rows` has vectors indptr, indices, values and labels.
template <class Rows>
auto block_view(const Rows& rows) {
  riata::BlockView<typename decltype(rows.indices)::value_type> out;
  out.rows = static_cast<std::int64_t>(rows.labels.size());
  out.nnz = static_cast<std::int64_t>(rows.indices.size());
  out.indptr = rows.indptr.data();
  out.indices = rows.indices.data();
  out.values = rows.values.data();
  out.labels = rows.labels.data();
  return out;
}

// Such rows, with weights, and names if need be.
struct WeightedRows {
  std::vector<std::int64_t> indptr = {0}, indices, offsets = {0};
  std::vector<float> values;
  std::vector<double> labels, weights;
  std::string names;

  void add_entry(std::int64_t feature, float value, const std::string& name) {
    indices.push_back(feature);
    values.push_back(value);
    names += name;
    offsets.push_back(static_cast<std::int64_t>(names.size()));
  }
  void end_row(double label, double weight) {
    indptr.push_back(static_cast<std::int64_t>(indices.size()));
    labels.push_back(label);
    weights.push_back(weight);
  }

  riata::BlockView<std::int64_t> view(bool named) const {
    riata::BlockView<std::int64_t> out = block_view(*this);
    out.weights = weights.data();
    if (named) {
      out.names = names.data();
      out.name_offsets = offsets.data();
    }
    return out;
  }
};

inline void all_finite(const std::vector<double>& numbers) {
  for (const double number : numbers) CHECK(std::isfinite(number));
}

// The model learns the rows and scores them, and nothing goes out of bounds.
template <class Model>
void learn_and_score(Model& model, const riata::BlockView<std::int64_t>& view, int outputs) {
  std::vector<double> scores(static_cast<std::size_t>(view.rows * outputs));
  CHECK(model.learn(view, nullptr, view.rows, scores.data()).status == riata::Outcome::Status::ok);
  all_finite(scores);
  CHECK(model.score(view, scores.data()).status == riata::Outcome::Status::ok);
  all_finite(scores);
}
