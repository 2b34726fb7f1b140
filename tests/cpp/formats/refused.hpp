// A line, or a part of one, that a reader refuses, and how.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

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
