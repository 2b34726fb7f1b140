// The whole test framework: CHECK counts and prints what does not hold; main returns failures().
#pragma once

#include <cstdio>

namespace check {

inline int& failed() {
  static int count = 0;
  return count;
}

inline void report(bool holds, const char* what, const char* file, int line) {
  if (holds) return;
  ++failed();
  std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
}

inline int failures() {
  if (failed() > 0) std::fprintf(stderr, "%d checks failed\n", failed());
  return failed() > 0 ? 1 : 0;
}

}  // namespace check

#define CHECK(condition) check::report(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
