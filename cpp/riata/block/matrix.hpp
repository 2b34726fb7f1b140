// What a source has to know about a matrix in memory before its rows may flow: one pass, no copies.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "riata/base/array.hpp"
#include "riata/base/parallel_for.hpp"

namespace riata {

enum class MatrixError : std::uint8_t { none, pointers, index_range, not_finite };

struct Inspection {
  MatrixError error = MatrixError::none;
  std::int64_t row = 0;       // of the error
  std::int64_t position = 0;  // of the error, in indices and values
  bool canonical = true;      // ascending, no duplicates, no zeros
};

// Whether a row is as it should be: ascending from 0 to below n_columns, no value zero, infinite or NaN.
// No branch and nothing that the compiler cannot do four at a time.
template <class Index>
bool is_canonical(const Index* indices, const float* values, std::int64_t n,
                  std::int64_t n_columns) noexcept {
  if (n == 0) return true;
  Index falling = 0;
  for (std::int64_t i = 1; i < n; ++i) falling |= indices[i] <= indices[i - 1];
  std::int32_t odd = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto magnitude = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffff);
    odd |= (magnitude == 0) | (magnitude > 0x7f7fffff);
  }
  return falling == 0 && odd == 0 && indices[0] >= 0 && static_cast<std::int64_t>(indices[n - 1]) < n_columns;
}

// Looks at every entry of some rows of a compressed sparse row matrix. Stops at the first error.
template <class Index>
Inspection inspect_some(const std::int64_t* indptr, std::int64_t from, std::int64_t to, const Index* indices,
                        const float* values, std::int64_t nnz, std::int64_t n_columns) noexcept {
  Inspection found;
  for (std::int64_t row = from; row < to; ++row) {
    const std::int64_t first = indptr[row], last = indptr[row + 1];
    if (first > last || last > nnz) return {MatrixError::pointers, row, first, false};
    if (is_canonical(indices + first, values + first, last - first, n_columns)) [[likely]]
      continue;
    found.canonical = false;
    for (std::int64_t i = first; i < last; ++i) {
      const auto index = static_cast<std::int64_t>(indices[i]);
      if (index < 0 || index >= n_columns) return {MatrixError::index_range, row, i, false};
      if (!std::isfinite(values[i])) return {MatrixError::not_finite, row, i, false};
    }
  }
  return found;
}

// Looks at every entry of a compressed sparse row matrix: the first error.
template <class Index>
Inspection inspect_rows(const std::int64_t* indptr, std::int64_t n_rows, const Index* indices,
                        const float* values, std::int64_t nnz, std::int64_t n_columns) {
  if (indptr[0] != 0 || indptr[n_rows] > nnz) return {MatrixError::pointers, 0, 0, false};
  Inspection halves[2];
  parallel_for(n_rows, nnz > (1 << 21) ? 2 : n_rows + 1, [&](std::int64_t from, std::int64_t to) {
    halves[from > 0] = inspect_some(indptr, from, to, indices, values, nnz, n_columns);
  });
  if (halves[0].error != MatrixError::none) return halves[0];
  halves[1].canonical = halves[0].canonical && halves[1].canonical;
  return halves[1];
}

// The position of the first entry that is not a finite float, or n.
template <class Float>
std::int64_t first_not_finite(const Float* values, std::int64_t n) noexcept {
  constexpr std::int64_t piece = 1024;
  for (std::int64_t start = 0; start < n; start += piece) {
    const std::int64_t stop = std::min(n, start + piece);
    bool finite = true;
    for (std::int64_t i = start; i < stop; ++i) finite &= std::isfinite(static_cast<float>(values[i]));
    for (std::int64_t i = start; !finite && i < stop; ++i) {
      if (!std::isfinite(static_cast<float>(values[i]))) return i;
    }
  }
  return n;
}

struct DenseRows {
  Array<std::int64_t> indptr;
  Array<std::int32_t> indices;
  Array<float> values;
};

// The entries of a dense matrix that are not zero, as rows. False if there is no memory.
template <class Float>
bool compress_rows(const Float* dense, std::int64_t n_rows, std::int32_t n_columns,
                   DenseRows& rows) noexcept {
  const auto entries = static_cast<std::size_t>(n_rows) * static_cast<std::size_t>(n_columns);
  // One more than needed: the last entry is always written, and counts only if it is not zero.
  if (!rows.indptr.reserve(static_cast<std::size_t>(n_rows) + 1) || !rows.indices.reserve(entries + 1) ||
      !rows.values.reserve(entries + 1)) {
    return false;
  }
  std::int32_t* const indices = rows.indices.data();
  float* const values = rows.values.data();
  std::size_t size = 0;
  rows.indptr.push_back(0);
  for (std::int64_t row = 0; row < n_rows; ++row, dense += n_columns) {
    for (std::int32_t column = 0; column < n_columns; ++column) {
      const auto value = static_cast<float>(dense[column]);
      indices[size] = column;
      values[size] = value;
      size += value != 0;
    }
    rows.indptr.push_back(static_cast<std::int64_t>(size));
  }
  rows.indices.set_size(size);
  rows.values.set_size(size);
  return true;
}

}  // namespace riata
