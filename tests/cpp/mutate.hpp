// What a fuzz target tells the driver in mutate.cpp: inputs to start from, and bits of text that matter to
// it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

std::vector<std::string_view> seeds();
std::vector<std::string_view> pieces();

// What must hold for any input at all.
inline void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}
