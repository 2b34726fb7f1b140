// The loop of readers for which a row is a line.
#pragma once

#include "riata/block/named_row_builder.hpp"

namespace riata {

// Calls read_line for every line from p on, up to the first that cannot be read. It leaves p at the newline
// that ends the line, or at what is wrong. `ready`: there was memory to begin with.
template <class ReadLine>
ParseError read_lines(bool ready, const char*& p, const char* end, NamedRows& rows, RowBuilder& row,
                      ReadLine read_line) noexcept {
  const char* line = p;
  ErrorKind kind = ready ? nullptr : "no_memory";
  while (kind == nullptr && p < end) {
    kind = read_line();
    if (kind != nullptr) break;
    line = ++p;
    ++rows.n_lines;
  }
  if (kind != nullptr) row.drop_row();
  row.finish();
  return {kind, line, p};
}

// A reader of named rows that knows nothing but its format. Lines is made for each text that is read.
template <class Lines, class Format>
struct NamedReader {
  const Format& format;

  using Rows = NamedRows;
  ParseError read(const char* begin, const char* end, NamedRows& rows) const noexcept {
    return Lines(begin, end, format, rows).read();
  }
};

}  // namespace riata
