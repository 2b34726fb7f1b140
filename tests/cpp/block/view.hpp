// Rows that a test has made, as a Block.
#pragma once

#include "riata/block/block.hpp"

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
