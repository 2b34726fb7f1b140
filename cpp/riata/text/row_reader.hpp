// The contract of a reader of text.
#pragma once

#include <concepts>
#include <cstdint>

#include "riata/text/parse_error.hpp"

namespace riata {

// A reader is a value that holds the options of a format; it has
//
//   Reader::Rows                   what it makes of text: NumberedRows or NamedRows;
//   reader.read(begin, end, rows)  appends the rows of the text to `rows`, which are empty, and returns what
//                                  is wrong with the first line that it cannot read: nothing if kind is null.
//
// The caller promises that the text consists of whole lines (of CSV: whole records), the last of which ends
// in a newline too, and that kPadding bytes behind it can be read, whatever they hold.
//
// The reader promises that after an error the rows before that line are in `rows`, n_lines of them being the
// lines read without error; that `line_start` and `where` lie in the text; that no value is zero, infinite or
// NaN and no feature twice in a row; that the same text gives the same bits on every processor; and that it
// throws nothing: where memory ends the kind is "no_memory". It keeps no state, so that threads can share it.
template <class Reader>
concept RowReader = requires(const Reader& reader, const char* text, typename Reader::Rows& rows) {
  { reader.read(text, text, rows) } noexcept -> std::same_as<ParseError>;
  { rows.n_lines } -> std::same_as<std::int64_t&>;
};

}  // namespace riata
