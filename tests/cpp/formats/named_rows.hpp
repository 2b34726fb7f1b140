// What must hold for rows of named features, whatever was read.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>

#include "mutate.hpp"
#include "riata/block/named_row_builder.hpp"

inline void check_named_rows(const riata::NamedRows& rows, bool labelled, bool names) {
  const std::size_t n = rows.labels.size(), nnz = rows.keys.size();
  must(rows.indptr.size() == n + 1 && rows.weights.size() == n && rows.lines.size() == n, "an entry a row");
  must(rows.values.size() == nnz && static_cast<std::size_t>(rows.indptr.back()) == nnz, "a value a feature");
  must(rows.name_offsets.size() == (names ? nnz + 1 : 0), "one offset more than features");
  must(rows.offsets.size() == 0 || rows.offsets.size() == n, "an offset a row, or none");
  for (std::size_t row = 0; row < rows.offsets.size(); ++row)
    must(std::fabs(rows.offsets[row]) <= 3.4028235e38, "offsets are finite");
  for (std::size_t row = 0; row < n; ++row) {
    must(std::isfinite(rows.labels[row]) || (!labelled && std::isnan(rows.labels[row])), "labels are finite");
    must(std::isfinite(rows.weights[row]) && rows.weights[row] >= 0, "weights are finite, not negative");
    must(rows.lines[row] < rows.n_lines && (row == 0 || rows.lines[row] > rows.lines[row - 1]),
         "lines ascend");
    std::set<std::int64_t> seen;
    for (auto i = static_cast<std::size_t>(rows.indptr[row]);
         i < static_cast<std::size_t>(rows.indptr[row + 1]); ++i) {
      must(rows.keys[i] >= 0 && seen.insert(rows.keys[i]).second, "a feature comes once a row");
      must(std::isfinite(rows.values[i]) && rows.values[i] != 0, "values are finite and not zero");
    }
  }
  if (!names) return;
  const char* const bytes = reinterpret_cast<const char*>(rows.names.data());
  must(static_cast<std::size_t>(rows.name_offsets[nnz]) == rows.names.size(), "the offsets cover the names");
  for (std::size_t i = 0; i < nnz; ++i) {
    const auto start = static_cast<std::size_t>(rows.name_offsets[i]);
    const auto size = static_cast<std::size_t>(rows.name_offsets[i + 1]) - start;
    must(riata::key_of_name(bytes + start, size) == static_cast<std::uint64_t>(rows.keys[i]),
         "key of its name");
  }
}

inline void check_same(const riata::Array<double>& a, const riata::Array<double>& b) {
  must(a.size() == b.size(), "as many numbers of rows");
  for (std::size_t i = 0; i < a.size(); ++i)
    must(std::bit_cast<std::uint64_t>(a[i]) == std::bit_cast<std::uint64_t>(b[i]),
         "the same numbers of rows");
}

// The same rows, the names aside.
inline void check_same(const riata::NamedRows& a, const riata::NamedRows& b) {
  must(a.keys.size() == b.keys.size() && a.labels.size() == b.labels.size() && a.n_lines == b.n_lines,
       "as many");
  check_same(a.labels, b.labels);
  check_same(a.weights, b.weights);
  check_same(a.offsets, b.offsets);
  for (std::size_t i = 0; i < a.keys.size(); ++i) {
    must(a.keys[i] == b.keys[i] && a.values[i] == b.values[i], "names or not, the same features");
  }
}
