// Any bytes at all go in; what comes out must be rows as a Block promises them, or error at a place in the
// text.
#include <cmath>
#include <cstring>

#include "mutate.hpp"
#include "padded.hpp"
#include "riata/formats/svmlight/reader.hpp"

namespace {

void check_rows(const riata::NumberedRows& rows, bool labelled) {
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

template <class T>
bool same(const riata::Array<T>& a, const riata::Array<T>& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Bit for bit, whatever instructions they were read with.
void check_same(const riata::NumberedRows& a, const riata::NumberedRows& b) {
  must(same(a.labels, b.labels) && same(a.indptr, b.indptr) && same(a.lines, b.lines), "the same rows");
  must(a.is_wide == b.is_wide && same(a.narrow, b.narrow) && same(a.wide, b.wide), "the same indices");
  must(same(a.values, b.values), "the same values");
  must(a.n_lines == b.n_lines, "the same lines");
}

void check_same(const riata::ParseError& a, const riata::ParseError& b) {
  must((a.kind == nullptr) == (b.kind == nullptr), "the same outcome");
  if (a.kind == nullptr) return;
  must(std::strcmp(a.kind, b.kind) == 0, "the same error");
  must(a.line_start == b.line_start && a.where == b.where && a.where_end == b.where_end, "in the same place");
  must(a.previous == b.previous, "behind the same index");
}

}  // namespace

std::vector<std::string_view> seeds() {
  return {
      "\x02"
      "1 1:2 3:0.5\n-1 2:1e-3 7:12345.678 # comment\n",
      "\x02"
      "1 qid:3 1:0.1234 12:0.5 260941:0.03\r\n\n# nothing\n0 5:1\n",
      "\x03"
      "0 0:1 2147483647:2 2147483648:3 9223372036854775806:4\n",
      "\x01"
      "3:4 5:6\n1 3:4\n",
      "\x02"
      "+1.5e300\t7:-0.000000000000000000001 8:.5 9:5. 10:3.4028235e38\n",
      "\x02"
      "nan 1:inf\n",
      "\x02"
      "1,2 3:4\n",
      "\x02"
      "1 1:\n",
      "\x02"
      "1 1:0.5 2:0.25 3:-0.125 4:7 5:1e2 6:0.00000000001 7:0 8:12345678.12345678 9:0.123456789012345678\n"
      "-1 1:0.000301502 2:0.00189463 33:16777217.0 444:1 5555:-2.5 66666:3 777777:.5 8888888:5. \r\n",
  };
}

std::vector<std::string_view> pieces() {
  return {":",        " ",    "\n",   "#",    "-",  ".",   "e",    "0",          "9",
          "99999999", "1:1 ", "qid:", "\r\n", "\t", "nan", "\xff", "2147483648", "9223372036854775808"};
}

void try_input(std::uint8_t flags, std::string_view bytes) {
  riata::SvmlightReader reader{(flags & 1) != 0, (flags & 2) != 0, riata::Instructions::plain};
  const Padded text(whole_lines(bytes));
  riata::NumberedRows rows;
  const riata::ParseError error = reader.read(text.begin(), text.end(), rows);
  check_rows(rows, reader.labelled);
  if (error.kind != nullptr) {
    must(text.begin() <= error.line_start && error.line_start <= error.where && error.where < text.end(),
         "error is inside");
  }
  for (int i = 1; i <= static_cast<int>(riata::available_instructions()); ++i) {
    riata::NumberedRows wide;
    reader.instructions = static_cast<riata::Instructions>(i);
    check_same(error, reader.read(text.begin(), text.end(), wide));
    check_same(rows, wide);
  }
}
