// A line, or a part of one, that a reader refuses, and how.
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "check.hpp"

struct Refused {
  const char* line;
  const char* kind;
  std::ptrdiff_t column;

  bool is(std::string_view found, std::ptrdiff_t at) const {
    const bool same = found == kind && at == column;
    if (!same) std::fprintf(stderr, "'%s': %s in column %td\n", line, std::string(found).c_str(), at);
    return same;
  }
};

// What is refused between `before`, of which a row with one feature of value 1 is read, and `after`.
template <class Read>
void check_refused(std::span<const Refused> cases, const std::string& before, const std::string& name,
                   const std::string& after) {
  for (const Refused& c : cases) {
    const Read read(before + c.line + after);
    CHECK(c.is(read.kind, read.column));
    CHECK(read.rows.n_lines == 2 && read.rows.labels.size() == 1 && read.rows.keys.size() == 1);
    CHECK(read.row(0) == name + "=1" && read.rows.names.size() == name.size());
  }
}
