// The words of JSON: strings and numbers, exactly as RFC 8259 has them.
//
// Contract: a newline ends the text, and kPadding bytes behind it are readable. A newline is never part of a
// word.
#pragma once

#include <cstdint>
#include <cstring>

#include "riata/base/array.hpp"
#include "riata/text/scan.hpp"

namespace riata::json {

inline void pass_space(const char*& p) noexcept {
  while (is_blank(*p)) ++p;
}

// Where the string whose opening quote was passed ends: at its closing quote. Says whether it has escapes.
inline ErrorKind find_string_end(const char*& p, bool& escapes) noexcept {
  for (;; ++p) {
    const auto c = static_cast<unsigned char>(*p);
    if (c == '"') return nullptr;
    if (c < ' ') return c == '\n' ? "string_open" : "string_control";
    if (c == '\\') {
      escapes = true;
      if (static_cast<unsigned char>(*++p) < ' ') return *p == '\n' ? "string_open" : "string_control";
    }
  }
}

inline int hex_digit(char c) noexcept {
  if (is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The number that four hexadecimal digits spell, or -1.
inline int hex4(const char* p) noexcept {
  int value = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_digit(p[i]);
    if (digit < 0) return -1;
    value = value << 4 | digit;
  }
  return value;
}

inline char* write_utf8(char* out, std::uint32_t code) noexcept {
  const auto put = [&out](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
  return out;
}

// What \ and the bytes behind it stand for. p is at the \ and moves behind the escape.
inline ErrorKind unescape_one(const char*& p, char*& out) noexcept {
  constexpr char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  const char c = p[1];
  if (c != 'u') {
    const char* const found = c == 0 ? nullptr : static_cast<const char*>(std::memchr(from, c, 8));
    if (found == nullptr) return "escape";
    *out++ = to[found - from];
    p += 2;
    return nullptr;
  }
  const int first = hex4(p + 2);
  if (first < 0) return "escape";
  if (first < 0xD800 || first > 0xDFFF) {
    out = write_utf8(out, static_cast<std::uint32_t>(first));
    p += 6;
    return nullptr;
  }
  const int second = first < 0xDC00 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8) : -1;
  if (second < 0xDC00 || second > 0xDFFF) return "surrogate";
  out = write_utf8(out, 0x10000 + (static_cast<std::uint32_t>(first - 0xD800) << 10) +
                            static_cast<std::uint32_t>(second - 0xDC00));
  p += 12;
  return nullptr;
}

// The text between `p` and `end`, which is its closing quote; never longer than it is written.
inline ErrorKind unescape(const char*& p, const char* end, char*& out) noexcept {
  while (p < end) {
    if (*p != '\\') {
      *out++ = *p++;
    } else if (const ErrorKind kind = unescape_one(p, out)) {
      return kind;
    }
  }
  return nullptr;
}

// One past the number at p, or nullptr if there is none.
inline const char* number_end(const char* p) noexcept {
  p += *p == '-';
  if (!is_digit(*p)) return nullptr;
  if (*p == '0') {
    ++p;
  } else {
    while (is_digit(*p)) ++p;
  }
  if (*p == '.') {
    if (!is_digit(*++p)) return nullptr;
    while (is_digit(*p)) ++p;
  }
  if ((*p | 0x20) == 'e') {
    ++p;
    p += *p == '-' || *p == '+';
    if (!is_digit(*p)) return nullptr;
    while (is_digit(*p)) ++p;
  }
  return p;
}

// As some programs write what is no number in JSON.
inline bool starts_non_finite(const char* p) noexcept {
  const char* const word = p + (*p == '-');
  return std::memcmp(word, "NaN", 3) == 0 || std::memcmp(word, "Infinity", 8) == 0;
}

// Appends the key whose quote stands at p, behind a point if it is of an object within another; leaves p behind it, or at
// what is wrong.
inline ErrorKind append_key(const char*& p, bool inner, Array<char>& path) noexcept {
  const char* const from = ++p;
  bool escapes = false;
  if (const ErrorKind kind = find_string_end(p, escapes)) return kind;
  const auto size = static_cast<std::size_t>(p - from);
  if (inner && !path.push_back('.')) return "no_memory";
  if (!escapes) {
    if (!path.append(from, size)) return "no_memory";
  } else {
    if (!path.reserve(path.size() + size)) return "no_memory";
    const char* wrong = from;
    char* out = path.data() + path.size();
    if (const ErrorKind kind = unescape(wrong, p, out)) return p = wrong, kind;
    path.set_size(static_cast<std::size_t>(out - path.data()));
  }
  ++p;
  return nullptr;
}

}  // namespace riata::json
