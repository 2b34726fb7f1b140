// What a reader says about a line that it cannot read.
#pragma once

#include <cstdint>

namespace riata {

// The key of a message: see `messages` in src/riata/sources/text. Null: nothing is wrong.
using ErrorKind = const char*;

struct ParseError {
  ErrorKind kind = nullptr;
  const char* line_start = nullptr;
  const char* where = nullptr;      // the offending text...
  const char* where_end = nullptr;  // ...and its end, if that is not the next blank
  const char* detail = "";          // what else the message mentions: the name of a column
  std::int64_t previous = 0;        // of svmlight: the index before the offending one, as written
};

}  // namespace riata
