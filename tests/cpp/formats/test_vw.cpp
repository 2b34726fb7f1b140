#include <map>
#include <string>
#include <vector>

#include "check.hpp"
#include "formats/refused.hpp"
#include "formats/row_text.hpp"
#include "padded.hpp"
#include "riata/formats/vw/reader.hpp"

using namespace riata;

namespace {

struct Read {
  NamedRows rows;
  ParseError error;
  explicit Read(std::string_view text, const Crosses& crosses = {}, bool labelled = true, bool fast = true) {
    const Padded padded(text);
    error = VwReader{{labelled, true, fast}, crosses}.read(padded.begin(), padded.end(), rows);
    kind = error.kind == nullptr ? "" : error.kind;
    column = error.where - error.line_start + 1;
  }
  std::string kind;
  std::ptrdiff_t column = 0;

  std::string row(std::size_t i) const { return row_text(rows, i); }
};

// More words than are read at once, with values of all kinds.
void long_rows() {
  constexpr const char* kValues[] = {"", ":3", ":0.25", ":1e2", ":0", ":123", ":0.0371"};
  for (const char* weight : {"", ":0.5"}) {
    std::string line = std::string("1 |x") + weight;
    for (int i = 0; i < 200; ++i) line += " w" + std::to_string(i) + kValues[i * i % 7];
    line += "\n";
    const Read fast(line), careful(line, {}, true, false);
    CHECK(fast.kind.empty() && fast.row(0) == careful.row(0));
  }
}

void features() {
  CHECK(Read("1 | a b:2 c:-0.5\n").row(0) == "a=1 b=2 c=-0.5");
  CHECK(Read("1 |x a |y a |x b\n").row(0) == "x^a=1 y^a=1 x^b=1");
  CHECK(Read("1 |x:2 a b:3 |y c\n").row(0) == "x^a=2 x^b=6 y^c=1");
  CHECK(Read("1 |x:0 a |y c\n").row(0) == "y^c=1");
  CHECK(Read("1 | a b a c a:2\n").row(0) == "a=4 b=1 c=1");
  CHECK(Read("1 | a b a:-1 c\n").row(0) == "b=1 c=1");
  CHECK(Read("1 | a:0 b:1e-60 c\n").row(0) == "c=1");
  CHECK(Read("1 |x :5 :6 n:7 :8\n").row(0) == "x^0=5 x^1=6 x^n=7 x^2=8");
  CHECK(Read("1 |x|y  a\t b \r\n").row(0) == "y^a=1 y^b=1");
  CHECK(Read("1 | a|b c\n").row(0) == "a=1 b^c=1");
  CHECK(Read("1 |b a_name_of_more_than_sixteen_bytes:2 exactly_16_byte\n").row(0) ==
        "b^a_name_of_more_than_sixteen_bytes=2 b^exactly_16_byte=1");
  CHECK(Read("1 |a_namespace_of_16 x |a_namespace_o15 y z:2\n").row(0) ==
        "a_namespace_of_16^x=1 a_namespace_o15^y=1 a_namespace_o15^z=2");
  CHECK(Read("1 | \xc3\xa9t\xc3\xa9:2 \x01:3\n").row(0) == "\xc3\xa9t\xc3\xa9=2 \x01=3");
  CHECK(Read("1 |\n").row(0).empty());
}

void labels() {
  const Read read("1 |\n-1 2.5 |\n3 1 0 'tag |\n 4 tag|\n\n \r\n5 'tag   |\n");
  CHECK(read.kind.empty() && read.rows.labels.size() == 5 && read.rows.n_lines == 7);
  CHECK(read.rows.labels[4] == 5 && read.rows.weights[1] == 2.5 && read.rows.weights[2] == 1);
  CHECK(read.rows.lines[3] == 3 && read.rows.lines[4] == 6 && read.rows.offsets.size() == 0);
  const Read initial("1 |\n-1 2 -0 |\n1 0.5 -2.5 tag|\n1 |\n1 x 2 |\n");
  CHECK(initial.kind == "weight_syntax" && initial.rows.offsets.size() == 4);
  CHECK(initial.rows.offsets[0] == 0 && initial.rows.offsets[1] == 0 && initial.rows.offsets[2] == -2.5 &&
        initial.rows.offsets[3] == 0);
  const Read none("| a\n 'tag | a\ntag| a\n1 | a\n", {}, false);
  CHECK(none.kind.empty() && std::isnan(none.rows.labels[2]) && none.rows.labels[3] == 1);
}

// Every length of prefix, name and value around the edges of the 16-byte and 32-byte looks.
void lengths() {
  for (std::size_t prefix = 0; prefix <= 18; ++prefix) {
    for (std::size_t name = 1; name <= 40; ++name) {
      const std::string space(prefix, 'n'), feature(name, 'f');
      const std::string full = (prefix > 0 ? space + "^" : "") + feature;
      for (const char* value : {"", ":1", ":2.5", ":-0.125", ":3.9656971e-02", ":12345678.5"}) {
        const double expected = *value == 0 ? 1 : std::strtof(value + 1, nullptr);
        char written[32];
        std::snprintf(written, sizeof written, "=%.9g", expected);
        for (const char* after : {" x\n", "\n", "\tx\n", "\r\n", "|\n", " |z y\n"}) {
          const std::string line = "1 |" + space + " " + feature + value + after;
          const Read read(line);
          CHECK(read.kind.empty());
          CHECK(read.row(0).substr(0, full.size() + std::strlen(written)) == full + written);
          CHECK(read.row(0) == Read(line, {}, true, false).row(0));
        }
      }
    }
  }
}

void grows() {
  std::string line = "1 |a", expected;
  for (int i = 0; i < 20000; ++i) line += " " + std::to_string(i % 15000);
  const Read read(line + "\n" + line + "\n");
  CHECK(read.kind.empty() && read.rows.keys.size() == 30000);
  CHECK(read.rows.values[0] == 2 && read.rows.values[14999] == 1 && read.rows.values[15000] == 2);
}

// Words and numbers of all kinds, some of them twice in a row, some long: the same rows in a fast and with
// care, wherever the windows of the reader in a fast end.
void hurries() {
  std::uint64_t state = 1;
  const auto draw = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  const char* const values[] = {"",      ":0", ":1",    ":7",        ":12",   ":345", ":0.25",
                                ":-2.5", ":1", ":1e-3", ":0.000123", ":12.5", ":+3",  ":0.1234567890123456"};
  const char* const blanks[] = {" ", " ", " ", " ", " ", " ", " ", "  ", "\t", " \r "};
  for (int round = 0; round < 60; ++round) {
    std::string text;
    const std::uint64_t vocabulary = 1 + draw(round % 3 == 0 ? 20 : 5000), rows = 1 + draw(20);
    for (std::uint64_t row = 0; row < rows; ++row) {
      text += draw(2) == 0 ? "1 |" : "-1 2 'tag |";
      for (std::uint64_t k = draw(round % 2 == 0 ? 40 : 1500); k > 0; --k) {
        if (draw(50) == 0) text += draw(2) == 0 ? " |a_space" : " |b:0.5";
        text += blanks[draw(std::size(blanks))];
        const std::uint64_t word = draw(vocabulary);
        text += std::string(word % 37, static_cast<char>('a' + word % 26)) + std::to_string(word);
        text += values[draw(std::size(values))];
      }
      text += "\n";
    }
    const Read hurried(text), careful(text, {}, true, false);
    CHECK(hurried.kind.empty() && careful.kind.empty());
    CHECK(hurried.rows.labels.size() == rows && careful.rows.labels.size() == rows);
    for (std::size_t i = 0; i < rows; ++i) CHECK(hurried.row(i) == careful.row(i));
  }
}

// Fractions of every length, which are read many at a time, with something else among them now and then.
void fractions() {
  std::uint64_t state = 7;
  const auto draw = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  const char* const others[] = {"", ":4", ":0", ":0.", ":1.5", ":0,5", ":00.5", ":-0.5", ":x", ":0.1e-5"};
  for (int round = 0; round < 400; ++round) {
    std::string text = "1 |" + std::string(draw(2), 's');
    for (std::uint64_t k = 0, count = draw(70); k < count; ++k) {
      text += " f" + std::to_string(k);
      if (round % 4 == 3 && draw(40) == 0) {
        text += others[draw(std::size(others))];
        continue;
      }
      text += ":0.";
      const std::uint64_t zeros = draw(4), digits = draw(round % 4 == 0 ? 12 : 7) + 1;
      text.append(zeros, '0');
      for (std::uint64_t digit = 0; digit < digits; ++digit) text += static_cast<char>('0' + draw(10));
    }
    const Read hurried(text + "\n"), careful(text + "\n", {}, true, false);
    CHECK(hurried.kind == careful.kind && hurried.column == careful.column);
    CHECK(hurried.rows.labels.size() == careful.rows.labels.size());
    if (hurried.rows.labels.size() == 1 && careful.rows.labels.size() == 1)
      CHECK(hurried.row(0) == careful.row(0));
  }
}

void crosses() {
  Crosses pairs;
  pairs.groups = {"a", "b"};
  pairs.products = {{0, 1}};
  CHECK(Read("1 |a x y:2 |b z:3 |c w\n", pairs).row(0) == "a^x=1 a^y=2 b^z=3 c^w=1 a^x*b^z=3 a^y*b^z=6");
  CHECK(Read("1 |b z |a x x:-1 y\n", pairs).row(0) == "b^z=1 a^y=1 a^y*b^z=1");
  CHECK(Read("1 |a x\n1 |b y\n", pairs).row(1) == "b^y=1");
  Crosses self;
  self.groups = {"a"};
  self.products = {{0, 0}};
  CHECK(Read("1 |a x y z\n", self).row(0) == "a^x=1 a^y=1 a^z=1 a^x*a^y=1 a^x*a^z=1 a^y*a^z=1");
  Crosses triple;
  triple.groups = {"", "b", "c"};
  triple.products = {{0, 1, 2}};
  CHECK(Read("1 | x |b y:2 |c z:0.5 w\n", triple).row(0) ==
        "x=1 b^y=2 c^z=0.5 c^w=1 x*b^y*c^z=1 x*b^y*c^w=2");
  CHECK(Read("1 |a x:1e30 |b y:1e30\n", pairs).kind == "sum_too_large");
}

void refuses() {
  const Refused cases[] = {
      {"{\"a\": 1}", "json", 1},
      {"1 2 3", "bar_missing", 6},
      {"| a", "label_missing", 1},
      {"1| a", "label_touches_bar", 1},
      {"'tag | a", "label_missing", 1},
      {"1 'tag 2 | a", "tag_not_last", 8},
      {"x | a", "label_syntax", 1},
      {"nan | a", "label_not_finite", 1},
      {"1e999 | a", "label_too_large", 1},
      {"1 x | a", "weight_syntax", 3},
      {"1 -2 | a", "weight_negative", 3},
      {"1 inf | a", "weight_not_finite", 3},
      {"1 1 nan | a", "initial_not_finite", 5},
      {"1 1 4e38 | a", "initial_too_large", 5},
      {"1 1 x | a", "initial_syntax", 5},
      {"1 1 0 7 | a", "label_long", 7},
      {"1 1 0 7 8 9 | a", "label_long", 7},
      {"1\t| a", "tab", 2},
      {"1:2 | a", "label_costs", 1},
      {"1:2:0.5 | a", "label_bandit", 1},
      {"1,2 | a", "label_several", 1},
      {"shared | a", "label_shared", 1},
      {"ccb slot | a", "label_ccb", 1},
      {"slates action | a", "label_slates", 1},
      {"ca 1:2:3 | a", "label_continuous", 1},
      {"1 |:2 a", "namespace_name", 4},
      {"1 |a: b", "namespace_weight_missing", 5},
      {"1 |a:x b", "namespace_weight_syntax", 6},
      {"1 | a:", "value_missing", 5},
      {"1 | a:x", "value_syntax", 7},
      {"1 | a:1:2", "value_syntax", 7},
      {"1 | a:1e39", "value_too_large", 7},
      {"1 | a:nan", "value_not_finite", 7},
      {"1 |x:1e30 a:1e30", "weighted_too_large", 11},
      {"1 |x:1e38 a:9", "weighted_too_large", 11},
      {"1 | a:3e38 a:3e38", "sum_too_large", 12},
  };
  check_refused<Read>(cases, "1 | good\n\n", "good", "\n1 | after\n");
}

}  // namespace

int main() {
  features();
  long_rows();
  labels();
  lengths();
  grows();
  hurries();
  fractions();
  crosses();
  refuses();
  return check::failures();
}
