// True and false as programs write them into text: one spelling of all of them.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace riata {

// 1 or 0 for true or false; -1: neither.
inline int truth_of(std::string_view word) noexcept {
  for (const std::string_view yes : {"true", "True", "TRUE"})
    if (word == yes) return 1;
  for (const std::string_view no : {"false", "False", "FALSE"})
    if (word == no) return 0;
  return -1;
}

// Whether it is one in another spelling than that of bools, which is `true` and `false`.
inline bool is_respelled(std::string_view text) noexcept {
  return (text.size() == 4 || text.size() == 5) && (text[0] == 'T' || text[0] == 'F') && truth_of(text) >= 0;
}

// The other spellings are as long: these bytes take the place of such a text.
inline void respell(char* text, std::size_t size) noexcept {
  std::memcpy(text, size == 4 ? "true" : "false", size);
}

// The text, or if it is true or false in another spelling the usual one. Behind that are 16 readable bytes.
inline std::string_view as_category(std::string_view text) noexcept {
  static constexpr char kTrue[24] = "true", kFalse[24] = "false";
  if (!is_respelled(text)) return text;
  return {text.size() == 4 ? kTrue : kFalse, text.size()};
}

}  // namespace riata
