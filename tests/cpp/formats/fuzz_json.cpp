// Any bytes at all go in; what comes out must be rows as a Block promises them, or error at a place in the
// text.
#include "formats/columns.hpp"
#include "formats/named_rows.hpp"
#include "mutate.hpp"
#include "padded.hpp"
#include "riata/formats/json/reader.hpp"

std::vector<std::string_view> seeds() {
  using namespace std::literals;
  return {
      {"\x00"
       "{\"y\": 1, \"a\": {\"b\": 2.5, \"c\": [\"x\", \"y\", 3, {\"d\": true}]}, \"n\": null, \"f\": "
       "false}\n",
       84},
      "\x01"
      "{\"y\":-1e2,\"s\":\"h\\u00e9\\n\\ud83d\\ude00\",\"h\":17,\"w\":0.5}\n\n{\"y\":0}\n"sv,
      "\x02"
      "{\"a\":{\"x\":1,\"y\":\"z\"},\"b\":\"q\",\"b\":\"r\"}\n{}\n"sv,
      "\x04"
      "{\"y\":\"yes\",\"i\":{\"deep\":[[[[1]]]]},\"k\":\"1.5\",\"k\":\"\"}\n"sv,
      "\x08"
      "{\"y\":true,\"a\":\"u\",\"b\":[\"v\",\"w\"]}\r\n"sv,
      "\x00"
      "{\"y\":1,\"a\":01}\n"sv,
      "\x00"
      "[1,2]\n"sv,
      "\x00"
      "{\"y\":1,\"a\":NaN}\n"sv,
      "\x10"
      "{\"y\":1,\"a\":2,\"o\":-0.5}\n{\"o\":1e5,\"y\":0}\n{\"y\":0,\"o\":null}\n"sv,
  };
}

std::vector<std::string_view> pieces() {
  return cut(
      "{~}~[~]~:~,~\"~\\~\\u~\\ud800~\\udc00~\n~ ~true~false~null~1~-~.~e~0~\"y\":~\"a\":~"
      "\"k\":~\"i\":~\xff~\x01~1e39~[[[[[[[[~{\"a\":{\"a\":~\"o\":~NaN~\"t\":\"Free entry\",~"
      "\"t^free\":1,");
}

void try_input(std::uint8_t flags, std::string_view bytes) {
  using enum riata::ColumnRole;
  riata::json::Format format;
  format.columns = columns_of({{"y", label},
                               {"w", weight},
                               {"i", ignored},
                               {"k", number},
                               {"l", log1p},
                               {"h", category},
                               {"t", text},
                               {"o", (flags & 16) != 0 ? offset : free}});
  format.open = (flags & 32) == 0;
  format.missing = (flags & 1) != 0;
  format.labelled = (flags & 2) == 0;
  if ((flags & 4) != 0) format.label_names = {"no", "yes"};
  format.crosses.groups = {"a", "b"};
  if ((flags & 8) != 0) format.crosses.products = {{0, 1}};
  const Padded lines(whole_lines(bytes));
  riata::NamedRows rows, others;
  const riata::ParseError error = riata::JsonReader{format}.read(lines.begin(), lines.end(), rows);
  check_named_rows(rows, format.labelled, true);
  must((flags & 16) != 0 || rows.offsets.size() == 0, "no offsets but those asked for");
  format.keep_names = false;
  riata::JsonReader{format}.read(lines.begin(), lines.end(), others);
  check_same(rows, others);
  if (error.kind != nullptr) {
    must(lines.begin() <= error.line_start && error.line_start <= error.where && error.where < lines.end(),
         "error is inside");
  }
}
