// Any bytes at all go in; what comes out must be rows as a Block promises them, or error at a place in the
// text.
#include "formats/named_rows.hpp"
#include "mutate.hpp"
#include "padded.hpp"
#include "riata/formats/vw/reader.hpp"

std::vector<std::string_view> seeds() {
  return {
      "\x03"
      "1 |features 13:3.9656971e-02 24:3.4781646e-02 69:4.6296168e-02\n-1 2.5 'tag |a b c:2 |d:0.5 e f\n",
      "\x03"
      "0.521144 1 PFF/20091028|T PFF |f t1:-0.0236849 t5:-0.10215 r5:0.727735\n",
      "\x07"
      "1 1 0 'x |a one two:2 two three |b four five:-1 five |c a_rather_long_name_of_a_feature:12.5\r\n\n",
      "\x0b"
      "1 |a x y z |a x:-1 |b u:3 v:1e30 |c w:1e30\n1 |a x |b y\n",
      "\x02"
      "| a b\n unlabeled/2| a b c\n1| x\n",
      "\x03"
      "1 | :1 :2 x |namespace_with_a_long_name f:1\n",
      "\x03"
      "1:2:0.5 | a\n",
      "\x03"
      "ccb shared | a\n",
      "\x03"
      "{\"a\": 1}\n",
      "\x03"
      "1 |a b:nan\n",
  };
}

std::vector<std::string_view> pieces() {
  return cut(
      ":~ ~\n~|~'~-~.~e~0~1 |a ~|b:2 ~\r\n~\t~nan~\xff~1e38~,~{~^~shared ~a:1 ~a:-1 ~x~\x01~|~"
      "a b~1e-45~ | ~::~3e39~sixteen_bytes_xy");
}

void try_input(std::uint8_t flags, std::string_view bytes) {
  const riata::vw::Options options{(flags & 1) != 0, (flags & 2) != 0};
  riata::Crosses crosses;
  crosses.groups = {"a", "b", "c"};
  if ((flags & 4) != 0) crosses.products = {{0, 1}, {0, 0}};
  if ((flags & 8) != 0) crosses.products = {{0, 1, 2}, {0, 1}};
  const Padded text(whole_lines(bytes));
  riata::NamedRows rows, others;
  const riata::ParseError error = riata::VwReader{options, crosses}.read(text.begin(), text.end(), rows);
  check_named_rows(rows, options.labelled, options.keep_names);
  riata::VwReader{{options.labelled, !options.keep_names}, crosses}.read(text.begin(), text.end(), others);
  check_same(rows, others);
  riata::NamedRows slow;
  const riata::ParseError same = riata::VwReader{{options.labelled, options.keep_names, false}, crosses}.read(
      text.begin(), text.end(), slow);
  check_named_rows(slow, options.labelled, options.keep_names);
  check_same(rows, slow);
  must(error.kind == same.kind && error.where == same.where, "in a fast or not, the same error");
  if (error.kind != nullptr) {
    must(text.begin() <= error.line_start && error.line_start <= error.where && error.where < text.end(),
         "error is inside");
  }
}
