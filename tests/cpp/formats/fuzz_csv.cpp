// Any bytes at all go in; what comes out must be rows as a Block promises them, or error at a place in the
// text. The first byte chooses options; its highest bit chooses ARFF.
#include "formats/named_rows.hpp"
#include "mutate.hpp"
#include "padded.hpp"
#include "riata/formats/csv/arff.hpp"
#include "riata/formats/csv/reader.hpp"

namespace {

riata::csv::Format make_format(unsigned flags) {
  riata::csv::Format format;
  const auto add = [&](riata::csv::Role role, const char* name) -> riata::csv::Column& {
    riata::csv::Column& column = format.columns.emplace_back();
    column.role = role;
    column.set_name(name);
    if ((flags & 1) != 0) column.absent = column.prefix + "?";
    return column;
  };
  using enum riata::ColumnRole;
  add(label, "y");
  add(number, "a").group = 0;
  add(category, "b").group = 1;
  format.columns.back().omitted = "first";
  if ((flags & 2) != 0) {
    add(weight, "w");
    add(offset, "o");
    add(log1p, "l");
    add(bucket, "k").edges = {-1.5, 0, 10};
    format.columns.back().buckets = {"k=0", "k=1", "k=2", "k=3"};
    add(ignored, "i");
    add(text, "t").text.norm = (flags & 1) != 0;
  }
  format.labelled = (flags & 4) == 0;
  if ((flags & 8) != 0) format.label_names = {"no", "yes"};
  format.quote = (flags & 16) != 0 ? '\0' : '"';
  format.delimiter = (flags & 32) != 0 ? '\t' : ',';
  if ((flags & 129) != 0) format.absent = {"?"};
  format.crosses.groups = {"a", "b"};
  if ((flags & 64) != 0) format.crosses.products = {{0, 1}};
  return format;
}

riata::ParseError run(const Padded& text, const riata::csv::Format& format, unsigned flags,
                      const riata::csv::Plan& plan, riata::NamedRows& rows) {
  if ((flags & 128) != 0) return riata::ArffReader{format}.read(text.begin(), text.end(), rows);
  return riata::CsvReader{format, plan, (flags & 3) == 1}.read(text.begin(), text.end(), rows);
}

}  // namespace

std::vector<std::string_view> seeds() {
  using namespace std::literals;
  return {
      "\x04"
      ",,1\n,,\n+/x,,\n,2,\n"sv,
      "\x00"
      "1,2.5,red\n0,,\n-1,3e5,\"a \"\"quoted\"\" text\"\r\n"sv,
      "\x01"
      "y,a,b\n1,2.5,\"two\nlines\"\n\n0,-0.001,x\n"sv,
      "\x02"
      "1,2,x,0.5,-1.5,100,7,zzz\n0,3,y,1,0,-5,-2,\n"sv,
      "\x4c"
      "yes,2,x\nno,1,y\n,1,y\n"sv,
      "\x20"
      "1\t2\tx\n0\t\t\n"sv,
      "\x10"
      "1,2,5\" pipe\n"sv,
      "\x80"
      "1, 2.5, 'red'\n% comment\n{0 1, 1 5, 2 \"a \\\" b\"}\n{ 1 3 }\n{}\n?,?,?\n"sv,
      "\x88"
      "yes,2,'x\\'y'\n{0 no}\n"sv,
      "\xc2"
      "1,2,x,0.5,2,100,7,zzz\n{1 2, 3 2, 4 -3e5, 6 9}\n{1 2, 3 2}\n"sv,
  };
}

std::vector<std::string_view> pieces() {
  return {",",    "\"",   "\"\"", "\n",    "\r\n", "\t", " ",  "'",        "\\",
          "{",    "}",    "%",    "?",     "1",    "-",  ".",  "e5",       "nan",
          "1e39", "\xff", "0 ",   "1 2, ", "yes",  "no", ",,", "\"a\nb\"", "99999999999"};
}

void try_input(std::uint8_t flags, std::string_view bytes) {
  riata::csv::Format format = make_format(flags);
  const Padded text(whole_lines(bytes));
  const riata::csv::Plan plan(format);
  riata::NamedRows rows, slowly, others;
  const riata::ParseError error = run(text, format, flags, plan, rows);
  check_named_rows(rows, format.labelled, true);
  const riata::ParseError slow = run(text, format, flags, riata::csv::Plan(), slowly);
  check_same(rows, slowly);
  must(error.kind == slow.kind && error.line_start == slow.line_start, "plain or not, the same error");
  format.keep_names = false;
  run(text, format, flags, plan, others);
  check_same(rows, others);
  if (error.kind != nullptr) {
    must(text.begin() <= error.line_start && error.line_start <= error.where && error.where < text.end(),
         "error is inside");
    must(error.where_end == nullptr || (error.where <= error.where_end && error.where_end < text.end()),
         "error ends inside");
  }
}
