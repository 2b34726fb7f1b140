#include <cmath>
#include <string>

#include "check.hpp"
#include "formats/columns.hpp"
#include "formats/refused.hpp"
#include "formats/row_text.hpp"
#include "padded.hpp"
#include "riata/formats/json/reader.hpp"

using namespace riata;

namespace {

json::Format keys() {
  using enum ColumnRole;
  json::Format format;
  format.columns = columns_of({{"y", label}, {"w", weight}, {"i", ignored}, {"k", number}, {"h", category}});
  return format;
}

struct Read {
  NamedRows rows;
  std::string kind;
  std::ptrdiff_t column = 0;

  explicit Read(const std::string& text, const json::Format& format = keys()) {
    const Padded padded(text);
    const ParseError error = JsonReader{format}.read(padded.begin(), padded.end(), rows);
    kind = error.kind == nullptr ? "" : error.kind;
    column = error.where - error.line_start + 1;
  }
  std::string row(std::size_t i) const { return row_text(rows, i); }
};

std::string one(const std::string& inside) { return Read("{\"y\":1," + inside + "}\n").row(0); }

void values() {
  CHECK(one("\"a\":2") == "a=2");
  CHECK(one("\"a\":-2.5e1") == "a=-25");
  CHECK(one("\"a\":true,\"b\":false,\"c\":null") == "a=1");
  CHECK(one("\"a\":\"x\"") == "a=x=1");
  CHECK(one("\"a\":\"\"") == "a==1");
  CHECK(one("\"\":3") == "=3");
  CHECK(one("\"a\":{\"b\":{\"c\":1}},\"d\":{}") == "a.b.c=1");
  CHECK(one("\"a\":[\"x\",\"y\",\"x\",3,[4],{\"b\":5},true,null]") ==
        "a=x=2 a=y=1 a.3=3 a.4.0=4 a.5.b=5 a.6=1");
  CHECK(one("\"a\":1,\"a\":2") == "a=3");
  CHECK(one("\"a\":1,\"a\":-1,\"b\":1") == "b=1");
  CHECK(one("\"i\":{\"a\":[1,\"x\"],\"b\":{\"c\":1}},\"b\":1") == "b=1");
  CHECK(one("\"k\":\"2.5\",\"h\":17") == "k=2.5 h=17=1");
  CHECK(one("\"h\":[1.50,true]") == "h.0=1.50=1 h.1=true=1");
  CHECK(one("\"h\":7.0") == "h=7=1" && one("\"h\":-70") == "h=-70=1");
  json::Format format = keys();
  format.missing = true;
  CHECK(Read("{\"y\":1,\"a\":null,\"k\":\"\"}\n", format).row(0) == "a=?=1 k=?=1");
}

// Keys that come in the order of the columns are not looked for; others, and those that only begin alike, are.
void order_of_keys() {
  using enum json::Role;
  json::Format format;
  const std::string sixteen(16, 's'), longer(17, 's');
  format.columns = columns_of({{"y", label},
                               {"ab", number},
                               {"a", category},
                               {"b\\n", category},
                               {"c\"", category},
                               {"", category},
                               {sixteen.c_str(), category},
                               {longer.c_str(), category}});
  const auto row = [&](const std::string& inside) {
    const Read read("{" + inside + "}\n{\"y\":1,\"ab\":3}\n", format);
    CHECK(read.kind.empty() && read.row(1) == "ab=3");
    return read.row(0);
  };
  CHECK(row("\"y\":1,\"ab\":2,\"a\":7") == "ab=2 a=7=1");
  CHECK(row(" \"y\" : 1 , \"ab\" :2,\"a\": 7") == "ab=2 a=7=1");
  CHECK(row("\"a\":7,\"ab\":2,\"y\":1") == "a=7=1 ab=2");
  CHECK(row("\"y\":1,\"abc\":2,\"ab\":3") == "abc=2 ab=3");
  CHECK(row("\"y\":1,\"ab\":1,\"ab\":2") == "ab=3");
  CHECK(row("\"y\":1,\"ab\":2,\"a\":7,\"b\\\\n\":1,\"c\\\"\":1,\"\":1") ==
        "ab=2 a=7=1 b\\n=1=1 c\"=1=1 =1=1");
  CHECK(row("\"y\":1,\"ab\":2,\"a\":7,\"b\\n\":1") == "ab=2 a=7=1 b\n=1");
  CHECK(row("\"y\":1,\"" + sixteen + "\":1,\"" + longer + "\":1") == sixteen + "=1=1 " + longer + "=1=1");
  CHECK(row("\"y\":1,\"x\":{\"ab\":\"u\"}") == "x.ab=u=1");
  CHECK(Read("{\"y\":1,\"ab\":2,\"a\":7,\"b\\n\"\":1}\n", format).kind == "colon");
}

// Where rows need no labels, those that are none of the model's do not matter.
void labels_that_are_not_needed() {
  json::Format format = keys();
  format.labelled = false;
  for (const char* label : {"\"word\"", "\"1e999\"", "null"}) {
    const Read read(std::string("{\"y\":") + label + ",\"a\":1}\n", format);
    CHECK(read.kind.empty() && std::isnan(read.rows.labels[0]) && read.row(0) == "a=1");
  }
  format.label_names = {"no", "yes"};
  for (const char* label : {"\"word\"", "1"}) {
    const Read read(std::string("{\"y\":") + label + ",\"a\":1}\n", format);
    CHECK(read.kind.empty() && std::isnan(read.rows.labels[0]) && read.row(0) == "a=1");
  }
  CHECK(Read("{\"y\":\"yes\"}\n", format).rows.labels[0] == 1);
}

void strings() {
  CHECK(one("\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"") == "a=\"\\/\b\f\n\r\t=1");
  CHECK(one("\"a\":\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"") == "a=A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80=1");
  CHECK(one("\"\\u0061\":1") == "a=1");
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string text(size, 'x');
    CHECK(one("\"" + text + "\":\"" + text + "\"") == text + "=" + text + "=1");
  }
}

void labels() {
  const Read read("{\"y\":true,\"w\":2}\n\n{\"y\":-1e2}\n{\"y\":\"3.5\"}\n");
  CHECK(read.kind.empty() && read.rows.labels[0] == 1 && read.rows.labels[1] == -100);
  CHECK(read.rows.labels[2] == 3.5 && read.rows.weights[0] == 2 && read.rows.weights[1] == 1);
  CHECK(read.rows.lines[1] == 2);
  json::Format format = keys();
  format.label_names = {"no", "yes"};
  CHECK(Read("{\"y\":\"yes\"}\n", format).rows.labels[0] == 1);
  CHECK(Read("{\"y\":1}\n", format).kind == "label_unknown");
  format.labelled = false;
  CHECK(std::isnan(Read("{}\n", format).rows.labels[0]));
}

void offsets() {
  using enum ColumnRole;
  json::Format format;
  format.columns = columns_of({{"y", label}, {"o.s", offset}});
  const auto object = [](const std::string& value) {
    return "{\"y\":1,\"o\":{\"s\":" + value + ",\"t\":2}}\n";
  };
  const Read read(object("0") + object("-1.5e2") + object("3.4e38") + object("true"), format);
  CHECK(read.kind.empty() && read.rows.offsets.size() == 4 && read.row(1) == "o.t=2");
  CHECK(read.rows.offsets[0] == 0 && read.rows.offsets[1] == -150 && read.rows.offsets[3] == 1);
  CHECK(Read(object("0") + object("-0"), format).rows.offsets.size() == 0);
  const Refused cases[] = {{"null", "offset_missing", 1},
                           {"\"x\"", "offset_syntax", 17},
                           {"[1]", "offset_syntax", 17},
                           {"{}", "offset_syntax", 17},
                           {"01", "offset_syntax", 17},
                           {"NaN", "offset_not_finite", 17},
                           {"-Infinity", "offset_not_finite", 17},
                           {"3.5e38", "offset_too_large", 17},
                           {"-1e999", "offset_too_large", 17},
                           {"1,\"s\":2", "offset_twice", 23}};
  for (const Refused& c : cases) {
    const Read bad(object("1") + object(c.line) + object("2"), format);
    CHECK(c.is(bad.kind, bad.column) && bad.rows.offsets.size() == 1);
  }
  CHECK(Read("{\"y\":1}\n", format).kind == "offset_missing");
  format.labelled = false;
  CHECK(Read("{\"a\":1}\n", format).kind == "offset_missing");
}

// Of a table no other keys than its columns, whose numbers may be changed; what a row lacks is missing.
void closed() {
  using enum ColumnRole;
  std::vector<SchemaColumn> columns(4);
  const char* names[] = {"y", "a", "b", "c"};
  constexpr json::Role roles[] = {label, number, bucket, log1p};
  for (std::size_t i = 0; i < 4; ++i) {
    columns[i].set_name(names[i]);
    columns[i].role = roles[i];
    columns[i].absent = columns[i].name + "=?";
  }
  columns[1].centre = 1;
  columns[1].scale = 2;
  columns[2].edges = {5};
  columns[2].buckets = {"b=low", "b=high"};
  json::Format format;
  format.columns = SchemaColumns(std::move(columns));
  format.open = false;
  format.absent = {"NA"};
  CHECK(Read("{\"y\":1,\"a\":5,\"b\":5,\"c\":0}\n", format).row(0) == "a=2 b=high=1");
  CHECK(Read("{\"b\":\" 4 \",\"a\":0,\"y\":1,\"c\":\"NA\"}\n", format).row(0) == "b=low=1 a=-0.5");
  CHECK(Read("{\"y\":1,\"d\":null,\"e\":{}}\n", format).kind.empty());
  for (const char* value : {"1", "\"x\"", "true", "[1]", "{\"f\":1}"}) {
    const Read bad("{\"y\":1,\"d\":" + std::string(value) + "}\n", format);
    CHECK(bad.kind == "key_unknown");
  }
  format.missing = true;
  CHECK(Read("{\"y\":1,\"b\":6}\n{\"y\":1,\"a\":1}\n", format).row(0) == "b=high=1 a=?=1 c=?=1");
}

void refuses() {
  const Refused cases[] = {
      {"[1]", "object", 1},
      {"{\"y\":1}{}", "trailing", 8},
      {"{1:1}", "key", 2},
      {"{\"y\"1}", "colon", 5},
      {"{\"y\":1;}", "comma_object", 7},
      {"{\"y\":1,\"a\":[1;]}", "comma_list", 14},
      {"{\"y\":1,\"a\":}", "value", 12},
      {"{\"y\":1,\"a\":-}", "value", 12},
      {"{\"y\":1,\"a\":nul}", "value", 12},
      {"{\"y\":1,\"a\":1.e5}", "value", 12},
      {"{\"y\":1,\"a\":-Infinity}", "value_not_finite", 12},
      {"{\"y\":1,\"a\":1e39}", "value_too_large", 12},
      {"{\"y\":1,\"a\":\"x}", "string_open", 12},
      {"{\"y\":1,\"a\":\"\x01\"}", "string_control", 13},
      {"{\"y\":1,\"a\":\"\\u12g4\"}", "escape", 13},
      {"{\"y\":1,\"a\":\"\\ud800\\u0041\"}", "surrogate", 13},
      {"{\"y\":1,\"a\":\"\\udc00\"}", "surrogate", 13},
      {"{\"a\":1}", "label_missing", 1},
      {"{\"y\":1,\"y\":1}", "label_twice", 12},
      {"{\"y\":[1]}", "label_kind", 6},
      {"{\"y\":1,\"w\":-1}", "weight_negative", 12},
      {"{\"y\":1,\"w\":1e999}", "weight_not_finite", 12},
      {"{\"y\":1,\"w\":NaN}", "weight_not_finite", 12},
      {"{\"y\":-Infinity}", "label_not_finite", 6},
      {"{\"y\":1e999}", "label_too_large", 6},
      {"{\"y\":1,\"k\":\"x\"}", "kind", 12},
      {"{\"y\":1,\"k\":[1]}", "kind", 12},
  };
  check_refused<Read>(cases, "{\"y\":1,\"a\":\"good\"}\n\n", "a=good", "\n{\"y\":1}\n");
  const std::string deep = "{\"y\":1,\"a\":" + std::string(1000, '[') + "\n";
  CHECK(Read(deep).kind == "depth");
  std::string nested;
  for (int i = 0; i < 1000; ++i) nested += "{\"a\":";
  CHECK(Read(nested + "\n").kind == "depth");
}

}  // namespace

int main() {
  values();
  strings();
  order_of_keys();
  labels_that_are_not_needed();
  labels();
  offsets();
  closed();
  refuses();
  return check::failures();
}
