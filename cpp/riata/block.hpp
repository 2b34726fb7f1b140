// A view of some rows of a sparse data set, as src/riata/block.py describes them. Owns nothing.
#pragma once

#include <cstdint>

namespace riata {

template <class Index>  // std::int32_t or std::int64_t
struct BlockView {
  std::int64_t rows = 0;
  std::int64_t nnz = 0;  // length of indices and values
  const std::int64_t* indptr = nullptr;
  const Index* indices = nullptr;
  const float* values = nullptr;
  const double* labels = nullptr;   // may be null where only scores are wanted
  const double* weights = nullptr;  // may be null: all 1

  // Row i lies inside the arrays: whoever built the view may not be trusted.
  bool holds(std::int64_t i) const noexcept {
    return i >= 0 && i < rows && indptr[i] >= 0 && indptr[i] <= indptr[i + 1] && indptr[i + 1] <= nnz;
  }
};

}  // namespace riata
