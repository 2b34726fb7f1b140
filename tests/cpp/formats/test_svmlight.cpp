#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "formats/refused.hpp"
#include "padded.hpp"
#include "riata/formats/svmlight/reader.hpp"

using namespace riata;

namespace {

Instructions instructions = Instructions::plain;  // all that follows is checked with each

struct Read {
  Padded text;
  NumberedRows rows;
  ParseError error;
  explicit Read(std::string_view lines, SvmlightReader reader = {}) : text(lines) {
    reader.instructions = instructions;
    error = reader.read(text.begin(), text.end(), rows);
  }
  std::ptrdiff_t column() const { return error.where - error.line_start + 1; }
  std::string_view kind() const { return error.kind == nullptr ? "" : error.kind; }
  std::vector<std::int64_t> indices() const {
    if (rows.is_wide) return {rows.wide.data(), rows.wide.data() + rows.wide.size()};
    return {rows.narrow.data(), rows.narrow.data() + rows.narrow.size()};
  }
  std::vector<float> values() const { return {rows.values.data(), rows.values.data() + rows.values.size()}; }
};

void accepts() {
  const Read read(
      "# a comment\n"
      "\n"
      "1 1:2 3:0.5\n"
      "  -1\tqid:7  2:-1e-1 \t 4:.5 5:5. # 7:7 \xff\r\n"
      "+1\r\n"
      "0.5 00012:1 99999999:0 123456789:3#c\n"
      " \t \r\n");
  CHECK(read.kind().empty());
  CHECK(read.rows.n_lines == 7);
  CHECK(read.rows.labels.size() == 4);
  CHECK(read.rows.labels[1] == -1 && read.rows.labels[3] == 0.5);
  CHECK(read.rows.lines[0] == 2 && read.rows.lines[3] == 5);
  CHECK((read.indices() == std::vector<std::int64_t>{0, 2, 1, 3, 4, 11, 123456788}));
  CHECK((read.values() == std::vector<float>{2, 0.5f, -0.1f, 0.5f, 5, 1, 3}));
  CHECK(read.rows.indptr[2] == 5 && read.rows.indptr[3] == 5 && read.rows.indptr[4] == 7);

  const Read from_zero("1 0:1 5:1\n", {true, true});
  CHECK((from_zero.indices() == std::vector<std::int64_t>{0, 5}));
  const Read unlabelled("3:1 4:1\n1 3:1\nqid:1 4:1\n", {false, false});
  CHECK(std::isnan(unlabelled.rows.labels[0]) && unlabelled.rows.labels[1] == 1);
  CHECK(unlabelled.rows.labels.size() == 3);
  CHECK(Read("").rows.labels.size() == 0);
}

void widens() {
  const Read read("1 5:1\n1 2:1 2147483648:1\n1 2147483649:2\n1 9223372036854775807:3\n");
  CHECK(read.kind().empty() && read.rows.is_wide && read.rows.labels.size() == 4);
  CHECK((read.indices() == std::vector<std::int64_t>{4, 1, 2147483647, 2147483648, 9223372036854775806}));
  CHECK(!Read("1 2147483648:1\n").rows.is_wide);
}

void refuses() {
  const Refused cases[] = {
      {"1:2 3:4", "label_missing", 1},
      {"qid:1 3:4", "label_missing", 1},
      {" spam 3:4", "label_syntax", 2},
      {"1x 3:4", "label_syntax", 1},
      {"1.5:4", "label_syntax", 1},
      {"1,2 3:4", "label_several", 1},
      {"nan 3:4", "label_not_finite", 1},
      {"1e999 3:4", "label_too_large", 1},
      {"1 qid:x 3:4", "qid_syntax", 3},
      {"1 3", "feature_syntax", 3},
      {"1 3 4:5", "feature_syntax", 3},
      {"1 2:1 x:4", "feature_syntax", 7},
      {"1 2:1 :4", "feature_syntax", 7},
      {"1 2:1 \xff", "feature_syntax", 7},
      {"1 0:4", "index_zero", 3},
      {"1 000:4", "index_zero", 3},
      {"1 -3:4", "index_negative", 3},
      {"1 3:4 3:4", "index_duplicate", 7},
      {"1 3:4 2:4", "index_descending", 7},
      {"1 9223372036854775808:4", "index_too_large", 3},
      {"1 99999999999999999999999:4", "index_too_large", 3},
      {"1 3: 4:1", "value_missing", 3},
      {"1 3:", "value_missing", 3},
      {"1 3:x", "value_syntax", 5},
      {"1 3:1x", "value_syntax", 5},
      {"1 3:1e", "value_syntax", 5},
      {"1 3:1:2", "value_syntax", 5},
      {"1 3:nan", "value_not_finite", 5},
      {"1 3:-inf", "value_not_finite", 5},
      {"1 3:1e39", "value_too_large", 5},
  };
  for (const Refused& c : cases) {
    const Read read(std::string("1 1:1\n\n") + c.line + "\n1 1:1\n");
    CHECK(c.is(read.kind(), read.column()));
    CHECK(read.rows.n_lines == 2 && read.rows.labels.size() == 1);
    CHECK(read.values().size() == 1 && read.indices().size() == 1);
  }
  const Read nul(std::string_view("1 2:1\0 3:1\n", 11));
  CHECK(nul.kind() == "value_syntax");
}

// Lengths around the edges of the 8-byte and 32-byte looks.
void lengths() {
  for (std::size_t index = 1; index <= 18; ++index) {
    for (std::size_t whole = 0; whole <= 24; ++whole) {
      for (std::size_t fraction = 0; fraction <= 40; ++fraction) {
        if (whole + fraction == 0) continue;
        const std::string number =
            std::string(whole, '1') + (fraction > 0 ? "." : "") + std::string(fraction, '2');
        const std::string key = std::string(index - 1, '0') + "3";
        for (const char* after : {" 4:1\n", "\n", "\t4:1\n", "#\n"}) {
          const Read read("1 " + key + ":" + number + after);
          CHECK(read.kind().empty() && read.rows.values.size() >= 1);
          CHECK(read.rows.values[0] == std::strtof(number.c_str(), nullptr) && read.indices()[0] == 2);
        }
      }
    }
  }
}

// Words and lines across the edges of the windows in which marks are found; odd words between simple ones.
void windows() {
  const char* const odd[] = {
      "1e-3",      "+2", "-.5", "5.", "0.12345678901234567890", "0", "-0.25", "7", "12345678901234567890",
      "16777217.0"};
  for (std::size_t filler = 0; filler < 40; ++filler) {
    std::string text = "# " + std::string(4096 - 60 + filler, 'x') + "\n";
    std::vector<float> expected;
    for (int row = 0; row < 40; ++row) {
      text += row % 3 == 0 ? "-1" : "1.5";
      for (int k = 0; k < 7 + 11 * row; ++k) {
        const std::string number =
            (k + row) % 5 == 0 ? odd[(k + filler) % std::size(odd)] : std::to_string(k) + ".25";
        text += " " + std::to_string(1 + 3 * k) + ":" + number;
        if (const float value = std::strtof(number.c_str(), nullptr); value != 0) expected.push_back(value);
      }
      text += row % 4 == 0 ? " \n" : row % 4 == 1 ? "\r\n" : "\n";
    }
    const Read read(text);
    CHECK(read.kind().empty() && read.rows.labels.size() == 40);
    CHECK(read.values() == expected);
  }
}

void grows() {
  std::string line = "1";
  for (int i = 1; i < 20000; ++i) line += " " + std::to_string(i) + ":1";
  const Read read(line + "\n" + line + "\n");
  CHECK(read.kind().empty() && read.rows.values.size() == 2 * 19999);
  CHECK(read.indices().back() == 19998);
  std::string rows;
  for (int i = 0; i < 5000; ++i) rows += "1\n";
  CHECK(Read(rows).rows.labels.size() == 5000);
}

}  // namespace

int main() {
  for (int i = 0; i <= static_cast<int>(available_instructions()); ++i) {
    instructions = static_cast<Instructions>(i);
    accepts();
    widens();
    refuses();
    lengths();
    grows();
    windows();
  }
  return check::failures();
}
