// Random rows with labels, for the tests of the sketch.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "riata/block/block.hpp"

namespace riata {

struct Rows {
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> indices;
  std::vector<float> values;
  std::vector<double> labels;
  BlockView<std::int32_t> view(std::size_t from, std::size_t to) const {
    BlockView<std::int32_t> b;
    b.rows = static_cast<std::int64_t>(to - from);
    b.nnz = static_cast<std::int64_t>(indices.size());
    b.indptr = indptr.data() + from;
    b.indices = indices.data();
    b.values = values.data();
    b.labels = labels.data() + from;
    return b;
  }
};

inline Rows make_rows(int n, int d, std::mt19937_64& rng) {
  std::normal_distribution<double> normal;
  Rows rows;
  for (int i = 0; i < n; ++i) {
    double score = 0;
    for (std::int32_t j = 0; j < d; ++j)
      if (rng() % 8 == 0) {
        rows.indices.push_back(j);
        rows.values.push_back(static_cast<float>(normal(rng)));
        score += (j % 3 == 0 ? 1 : 0) * static_cast<double>(rows.values.back());
      }
    rows.indptr.push_back(static_cast<std::int64_t>(rows.indices.size()));
    rows.labels.push_back(score + normal(rng) > 0 ? 1.0 : 0.0);
  }
  return rows;
}

}  // namespace riata
