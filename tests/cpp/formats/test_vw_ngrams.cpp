// N-grams of the namespaces of Vowpal Wabbit text, and namespaces that are left out.
#include <string>

#include "check.hpp"
#include "formats/row_text.hpp"
#include "padded.hpp"
#include "riata/formats/vw/ngrams.hpp"
#include "riata/formats/vw/reader.hpp"

namespace {

using namespace riata;
using vw::NgramOptions;

std::string expanded(std::string_view text, const NgramOptions& options) {
  return vw::NgramText(options).expand(text);
}

std::string row_of(std::string_view line, const NgramOptions& options) {
  const std::string text = expanded(line, options);
  const Padded padded(text);
  NamedRows rows;
  const ParseError error = VwReader{{true, true, true}, {}}.read(padded.begin(), padded.end(), rows);
  CHECK(error.kind == nullptr);
  return row_text(rows, 0);
}

void neighbours_are_features() {
  const NgramOptions two{{}, 2, {}}, three{{}, 3, {}}, one_of_them{{{"b", 2}}, 0, {}};
  CHECK(row_of("1 |a x y z\n", two) == "a^x=1 a^y=1 a^z=1 a^x^y=1 a^y^z=1");
  CHECK(row_of("1 |a x y z\n", three) == "a^x=1 a^y=1 a^z=1 a^x^y=1 a^y^z=1 a^x^y^z=1");
  CHECK(row_of("1 |a x y |b u v\n", one_of_them) == "a^x=1 a^y=1 b^u=1 b^v=1 b^u^v=1");
  CHECK(row_of("1 |a x\n", three) == "a^x=1");
  // A namespace that is named again goes on; values are not multiplied, and weights do not count.
  CHECK(row_of("1 |a x |b u |a y\n", two) == "a^x=1 b^u=1 a^y=1 a^x^y=1");
  CHECK(row_of("1 |a:2 x:3 y:0.5\n", two) == "a^x=6 a^y=1 a^x^y=1");
}

void zeros_are_no_neighbours() {
  const NgramOptions two{{}, 2, {}};
  CHECK(row_of("1 |a x y:0 z:0.0e5\n", two) == "a^x=1");
  CHECK(row_of("1 |a x y:0 z\n", two) == "a^x=1 a^z=1 a^x^z=1");
  CHECK(row_of("1 |a:0 x y |b u\n", two) == "b^u=1");
}

void ignored_namespaces_leave_their_bar() {
  const NgramOptions no_b{{}, 0, {"b"}};
  CHECK(row_of("1 |a x |b u v |c w\n", no_b) == "a^x=1 c^w=1");
  CHECK(expanded("1 |b u|a x\n", no_b) == "1 |   |a x\n");
  CHECK(row_of("1 |bb u |b:3 v\n", no_b) == "bb^u=1");
}

void lines_stay_lines() {
  const NgramOptions two{{}, 2, {}};
  CHECK(expanded("", two).empty());
  CHECK(expanded("1 |a x\n\n2 |a y", two) == "1 |a x\n\n2 |a y");
  CHECK(expanded("no bar\n1 |a x y", two) == "no bar\n1 |a x y |a x^y");
}

}  // namespace

int main() {
  neighbours_are_features();
  zeros_are_no_neighbours();
  ignored_namespaces_leave_their_bar();
  lines_stay_lines();
  return check::failures();
}
