// Any bytes at all go in; what comes out must be rows as a Block promises them, or trouble at a place in the
// text.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "padded.hpp"
#include "riata/svmlight.hpp"

namespace {

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

void check_rows(const riata::SvmlightRows& rows, bool labelled) {
  const std::size_t nnz = rows.is_wide ? rows.wide.size() : rows.narrow.size();
  must(rows.indptr.size() == rows.labels.size() + 1, "one pointer more than rows");
  must(rows.lines.size() == rows.labels.size(), "a line for each row");
  must(rows.values.size() == nnz && static_cast<std::size_t>(rows.indptr.back()) == nnz,
       "as many values as indices");
  for (std::size_t row = 0; row < rows.labels.size(); ++row) {
    must(!labelled || std::isfinite(rows.labels[row]), "labels are finite");
    std::int64_t previous = -1;
    for (auto i = static_cast<std::size_t>(rows.indptr[row]);
         i < static_cast<std::size_t>(rows.indptr[row + 1]); ++i) {
      const std::int64_t index = rows.is_wide ? rows.wide[i] : rows.narrow[i];
      must(index > previous, "indices ascend");
      must(std::isfinite(rows.values[i]) && rows.values[i] != 0, "values are finite and not zero");
      previous = index;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const riata::SvmlightOptions options{(data[0] & 1) != 0, (data[0] & 2) != 0};
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t last = bytes.rfind('\n');
  if (last == std::string_view::npos) return 0;
  const Padded text(bytes.substr(0, last + 1));
  riata::SvmlightRows rows;
  riata::read_svmlight(text.begin(), text.end(), options, rows);
  check_rows(rows, options.labelled);
  if (rows.trouble != riata::Trouble::none) {
    must(text.begin() <= rows.line_start && rows.line_start <= rows.where && rows.where < text.end(),
         "trouble is inside");
  }
  return 0;
}
