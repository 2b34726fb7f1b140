// Rows whose features are numbers, as svmlight text has them.
#pragma once

#include <cstdint>

#include "riata/base/array.hpp"

namespace riata {

struct NumberedRows {
  Array<double> labels;
  Array<std::int64_t> indptr;  // one more than there are rows
  Array<std::int32_t> narrow;  // the indices, from 0, while all fit...
  Array<std::int64_t> wide;    // ...else here
  bool is_wide = false;
  Array<float> values;
  Array<std::int64_t> lines;  // of each row, the first line of the text being 0
  std::int64_t n_lines = 0;   // read without error
};

}  // namespace riata
