#include <algorithm>
#include <bit>
#include <random>
#include <string>

#include "check.hpp"
#include "formats/row_text.hpp"
#include "padded.hpp"
#include "riata/formats/csv/arff.hpp"
#include "riata/formats/csv/reader.hpp"

using namespace riata;

namespace {

csv::Format table(bool missing = false) {
  csv::Format format;
  const auto add = [&](csv::Role role, const char* name) {
    csv::Column& column = format.columns.emplace_back();
    column.role = role;
    column.set_name(name);
    if (missing) column.absent = column.prefix + "?";
  };
  add(csv::Role::label, "y");
  add(csv::Role::number, "a");
  add(csv::Role::category, "b");
  format.columns.back().omitted = "first";
  format.absent = {"?"};
  return format;
}

struct Read {
  NamedRows rows;
  std::string kind;
  std::ptrdiff_t column = 0;

  Read(const std::string& text, const csv::Format& format, bool arff = false, bool header = false) {
    const Padded padded(text);
    const csv::Plan plan(format);
    const ParseError error = arff ? ArffReader{format}.read(padded.begin(), padded.end(), rows)
                                  : CsvReader{format, plan, header}.read(padded.begin(), padded.end(), rows);
    kind = error.kind == nullptr ? "" : error.kind;
    column = error.where - error.line_start + 1;
    if (!arff) check_without_plan(padded, format, header, error);
  }

  // Every record the long way gives the same rows and the same error.
  void check_without_plan(const Padded& text, const csv::Format& format, bool header,
                          const ParseError& error) const {
    NamedRows others;
    const ParseError other = CsvReader{format, csv::Plan(), header}.read(text.begin(), text.end(), others);
    CHECK(other.kind == error.kind && other.line_start == error.line_start);
    if (other.kind != nullptr) CHECK(other.where == error.where && other.where_end == error.where_end);
    CHECK(others.n_lines == rows.n_lines && others.labels.size() == rows.labels.size());
    CHECK(others.offsets.size() == rows.offsets.size());
    for (std::size_t i = 0; i < rows.labels.size(); ++i) {
      CHECK(row_text(others, i) == row_text(rows, i) && others.lines[i] == rows.lines[i]);
      CHECK(std::bit_cast<std::uint64_t>(others.labels[i]) == std::bit_cast<std::uint64_t>(rows.labels[i]));
      CHECK(others.weights[i] == rows.weights[i]);
      if (rows.offsets.size() > 0) CHECK(others.offsets[i] == rows.offsets[i]);
    }
    CHECK(std::equal(rows.keys.data(), rows.keys.data() + rows.keys.size(), others.keys.data()));
  }
  std::string row(std::size_t i) const { return row_text(rows, i); }
};

void fields() {
  const csv::Format format = table();
  CHECK(Read("1,2.5,x\n", format).row(0) == "a=2.5 b=x=1");
  CHECK(Read("1,,\n", format).row(0).empty());
  CHECK(Read("1, 3 , x \r\n", format).row(0) == "a=3 b= x =1");
  CHECK(Read("1,\"4\",\"x\"\"y\"\r\n", format).row(0) == "a=4 b=x\"y=1");
  CHECK(Read("\"1\",\"4\"\"\",x\n", format).kind == "value_syntax");
  const Read lines("y,a,b\n1,2,\"p\nq\"\n\n0,?,z\n", format, false, true);
  CHECK(lines.kind.empty() && lines.rows.n_lines == 5 && lines.row(0) == "a=2 b=p\nq=1");
  CHECK(lines.rows.lines[0] == 1 && lines.rows.lines[1] == 4);
  CHECK(Read("1,?,\n", table(true)).row(0) == "a=?=1 b=?=1");
  csv::Format tabs = table();
  tabs.delimiter = '\t';
  tabs.quote = 0;
  CHECK(Read("1\t\t5\" pipe, \"x\"\n", tabs).row(0) == "b=5\" pipe, \"x\"=1");
}

// Every length around the edges of the 16-byte looks, with and without quotes.
void lengths() {
  for (std::size_t name = 1; name <= 20; ++name) {
    csv::Format format = table();
    format.columns[1].set_name(std::string(name, 'n'));
    format.columns[2].set_name(std::string(name, 'c'));
    for (std::size_t size = 1; size <= 40; ++size) {
      const std::string cell(size, 'x');
      const std::string expected =
          std::string(name, 'n') + "=7 " + std::string(name, 'c') + "=" + cell + "=1";
      CHECK(Read("1,7," + cell + "\n", format).row(0) == expected);
      CHECK(Read("1,\"7\",\"" + cell + "\"\n", format).row(0) == expected);
      CHECK(Read("1,7," + cell + "\n", format, true).row(0) == expected);
      CHECK(Read("1,'7','" + cell + "'\n", format, true).row(0) == expected);
    }
  }
}

// Numbers from one word against numbers byte by byte: every text of a few signs, and longer ones at random.
void plain_numbers() {
  constexpr std::string_view signs = "-.0159+e ,";
  std::mt19937_64 random(3);
  for (int round = 0; round < 300000; ++round) {
    std::string text;
    const std::size_t size = round < 100000 ? static_cast<std::size_t>(round) % 6 : random() % 11;
    for (std::uint64_t code = round < 100000 ? static_cast<std::uint64_t>(round) / 6 : random();
         text.size() < size; code /= signs.size()) {
      text += signs[code % signs.size()];
    }
    const Padded padded(text + "\n");
    const csv::detail::ShortNumber plain = csv::detail::read_short_cell(padded.begin(), text.size());
    const Number<float> number = read_number<float>(padded.begin());
    const bool good = number.error == NumberError::none && number.end == padded.begin() + text.size();
    if (text.empty()) {
      CHECK(plain.is_one && !plain.there);
    } else if (plain.is_one) {
      CHECK(good && std::bit_cast<std::uint32_t>(plain.value) == std::bit_cast<std::uint32_t>(number.value));
      CHECK(plain.there == (number.value != 0));
    } else if (good) {  // left to others, rightly
      CHECK(text.size() > 8 || text.find_first_of("e+") != std::string::npos);
    }
  }
}

// Tables of plain and of odd cells, read both ways (see Read), with names and separators of all lengths.
void plain_records() {
  const std::string cells[] = {"",
                               "0",
                               "1",
                               "-3.25",
                               "12345678",
                               "0.001",
                               "x",
                               "red",
                               "\"q\"",
                               "\"two\n2\"",
                               "1e3",
                               " 7 ",
                               "?",
                               "-",
                               "abcdefg",
                               "abcdefgh",
                               "a long text of it",
                               "99999999.5",
                               "1.\r",
                               "ends\r",
                               "\r"};
  std::mt19937_64 random(5);
  for (int round = 0; round < 3000; ++round) {
    csv::Format format;
    format.delimiter = random() % 2 == 0 ? ',' : '\t';
    format.quote = random() % 2 == 0 ? '"' : '\0';
    if (random() % 4 == 0) format.absent = {"?", "0"};
    const std::size_t count = 1 + random() % 6;
    for (std::size_t i = 0; i < count; ++i) {
      csv::Column& column = format.columns.emplace_back();
      constexpr csv::Role roles[] = {csv::Role::number, csv::Role::category, csv::Role::category,
                                     csv::Role::label,  csv::Role::ignored,  csv::Role::log1p,
                                     csv::Role::weight, csv::Role::offset};
      column.role = roles[random() % (random() % 4 == 0 ? 8 : 6)];
      column.set_name(std::string(random() % 24, 'c') + std::to_string(random() % 40));
      if (random() % 4 == 0) column.absent = column.prefix + "?";
    }
    format.labelled = random() % 2 == 0;
    std::string text;
    const bool odd = random() % 2 == 0;
    for (std::size_t row = random() % 60; row > 0; --row) {
      for (std::size_t i = 0; i < count; ++i) {
        const bool word = format.columns[i].role == csv::Role::category || odd;
        text += (i > 0 ? std::string(1, format.delimiter) : "") + cells[random() % (word ? 21 : 6)];
      }
      text += random() % 8 == 0 ? "\r\n" : "\n";
      if (odd && random() % 8 == 0) text += "\n";
    }
    if (!text.empty()) Read(text, format, false, random() % 4 == 0);
  }
}

void transforms() {
  csv::Format format = table();
  format.columns[1].role = csv::Role::log1p;
  CHECK(Read("1,0,\n", format).row(0).empty());
  CHECK(Read("1,1e0,\n", format).rows.values[0] == static_cast<float>(std::log1p(1.0)));
  CHECK(Read("1,-1,\n", format).rows.values[0] == -static_cast<float>(std::log1p(1.0)));
  format.columns[1].role = csv::Role::bucket;
  format.columns[1].edges = {0, 10};
  format.columns[1].buckets = {"a<0", "a<10", "a>=10"};
  CHECK(Read("1,-5,\n", format).row(0) == "a<0=1");
  CHECK(Read("1,0,\n", format).row(0) == "a<10=1");
  CHECK(Read("1,10,\n", format).row(0) == "a>=10=1");
}

void labels() {
  csv::Format format = table();
  format.label_names = {"no", "yes"};
  const Read read(" yes ,1,\nno,1,\n", format);
  CHECK(read.kind.empty() && read.rows.labels[0] == 1 && read.rows.labels[1] == 0);
  CHECK(Read("maybe,1,\n", format).kind == "label_unknown");
  format.labelled = false;
  CHECK(std::isnan(Read(",1,\n", format).rows.labels[0]));
}

// Behind a label, a feature, a category and before a number; the plain way and the other (see Read).
void offsets() {
  csv::Format format = table();
  format.absent.clear();
  const auto add = [&](csv::Role role, const char* name) {
    format.columns.emplace_back().role = role;
    format.columns.back().set_name(name);
  };
  add(csv::Role::offset, "o");
  add(csv::Role::weight, "w");
  add(csv::Role::number, "c");
  const Read read("1,2,x,-0.25,2,7\n0,,y, 1e3 ,1,\n1,3,,\"0\",1,8\n", format);
  CHECK(read.kind.empty() && read.rows.offsets.size() == 3);
  CHECK(read.rows.offsets[0] == -0.25 && read.rows.offsets[1] == 1000 && read.rows.offsets[2] == 0);
  CHECK(read.rows.weights[0] == 2 && read.row(0) == "a=2 b=x=1 c=7" && read.row(2) == "a=3 c=8");
  const Read late("1,2,x,0,2,7\n0,,y,-0,1,\n1,3,,3.4e38,1,8\n", format);
  CHECK(late.rows.offsets.size() == 3 && late.rows.offsets[0] == 0 && late.rows.offsets[2] == 3.4e38);
  CHECK(Read("1,2,x,0,2,7\n", format).rows.offsets.size() == 0);

  const Read sparse("{1 2, 3 -5}\n{1 2, 4 3}\n1,2,x,0.5,1,7\n", format, true);
  CHECK(sparse.kind.empty() && sparse.rows.offsets.size() == 3 && sparse.rows.offsets[0] == -5);
  CHECK(sparse.rows.offsets[1] == 0 && sparse.rows.weights[1] == 3 && sparse.rows.offsets[2] == 0.5);

  const struct {
    const char* cell;
    const char* kind;
  } cases[] = {{"", "offset_missing"},        {" ", "offset_missing"},        {"x", "offset_syntax"},
               {"1.5x", "offset_syntax"},     {"1 2", "offset_syntax"},       {"nan", "offset_not_finite"},
               {"-inf", "offset_not_finite"}, {"3.5e38", "offset_too_large"}, {"-1e300", "offset_too_large"},
               {"1e999", "offset_too_large"}};
  for (const auto& c : cases) {
    for (const bool arff : {false, true}) {
      const Read bad("1,2,x,1,1,7\n1,2,x," + std::string(c.cell) + ",1,7\n0,2,x,1,1,7\n", format, arff);
      CHECK(bad.kind == c.kind && bad.rows.labels.size() == 1 && bad.rows.offsets.size() == 1);
    }
  }
}

void arff_rows() {
  const csv::Format format = table();
  CHECK(Read("1, 2 ,'x y' \n", format, true).row(0) == "a=2 b=x y=1");
  CHECK(Read("1,?,'it\\'s'\n", format, true).row(0) == "b=it's=1");
  CHECK(Read("{0 1, 1 2, 2 x}\n", format, true).row(0) == "a=2 b=x=1");
  CHECK(Read("% c\n{ 1 2 }\n{}\n", format, true).row(0) == "a=2 b=first=1");
  CHECK(Read("{}\n", format, true).rows.labels[0] == 0);
}

void refuses() {
  const struct {
    const char* line;
    const char* kind;
    std::ptrdiff_t column;
    bool arff;
  } cases[] = {
      {"1,2", "fields_few", 4, false},           {"1,2,3,4", "fields_many", 7, false},
      {"x,2,3", "label_syntax", 1, false},       {",2,3", "label_missing", 1, false},
      {"1,x,3", "value_syntax", 3, false},       {"1,inf,3", "value_not_finite", 3, false},
      {"1,1e39,3", "value_too_large", 3, false}, {"1,2,a\"b", "quote_inside", 5, false},
      {"1,2,\"a\"b", "quote_text", 5, false},    {"1,2", "fields_few", 4, true},
      {"1,2,3,4", "fields_many", 7, true},       {"1,2,'a", "quote_open", 5, true},
      {"1,2,a'b", "quote_inside", 5, true},      {"{3 1}", "sparse_range", 2, true},
      {"{1 1, 0 1}", "sparse_order", 7, true},   {"{1}", "sparse_index", 2, true},
      {"{1 }", "sparse_value", 4, true},         {"{1 2} x", "sparse_end", 7, true},
      {"1,2,x,{3}", "instance_weight", 7, true},
  };
  for (const auto& c : cases) {
    const Read read("1,5,good\n\n" + std::string(c.line) + "\n1,6,after\n", table(), c.arff);
    if (read.kind != c.kind || read.column != c.column) {
      std::fprintf(stderr, "%s: %s at %td\n", c.line, read.kind.c_str(), read.column);
    }
    CHECK(read.kind == c.kind && read.column == c.column);
    CHECK(read.rows.n_lines == 2 && read.row(0) == "a=5 b=good=1" && read.rows.keys.size() == 2);
  }
  CHECK(Read("1,2,\"open\n1,2,x\n", table()).kind == "quote_open");
}

}  // namespace

int main() {
  fields();
  lengths();
  plain_numbers();
  plain_records();
  transforms();
  labels();
  offsets();
  arff_rows();
  refuses();
  return check::failures();
}
