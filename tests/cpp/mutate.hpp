// What a fuzz target tells the driver in mutate.cpp: inputs to start from, and bits of text that matter to
// it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

std::vector<std::string_view> seeds();
std::vector<std::string_view> pieces();

// Tries one input. Its first byte says how the others are to be read: a reader's options, a bit each.
void try_input(std::uint8_t flags, std::string_view bytes);

// What stands up to the last newline.
inline std::string_view whole_lines(std::string_view bytes) { return bytes.substr(0, bytes.rfind('\n') + 1); }

// The parts of a text between tildes.
inline std::vector<std::string_view> cut(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find('~')) != text.npos; text.remove_prefix(end + 1))
    parts.push_back(text.substr(0, end));
  parts.push_back(text);
  return parts;
}

// What must hold for any input at all.
inline void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}
