// Has memory come closer before it is needed.
#pragma once

namespace riata {

// A compiler takes a function that only prefetches for one that does nothing, and leaves out calls of it that it does
// not inline. The empty statement is there so that it does not.
inline void fetch_line(const void* memory) noexcept {
  __builtin_prefetch(memory);
  asm volatile("");
}

}  // namespace riata
