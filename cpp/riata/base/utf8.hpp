// Whether bytes are text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace riata {

// UTF-8 as Unicode has it: no overlong forms, no surrogates, nothing above U+10FFFF.
inline bool is_utf8(std::string_view text) noexcept {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* const end = at + text.size();
  const auto follows = [&](int i) { return (at[i] & 0xC0) == 0x80; };
  while (at != end) {
    if (end - at >= 8) {
      std::uint64_t eight;
      std::memcpy(&eight, at, 8);
      if ((eight & 0x8080808080808080ULL) == 0) {
        at += 8;
        continue;
      }
    }
    const unsigned char first = at[0];
    const std::ptrdiff_t left = end - at;
    if (first < 0x80) {
      at += 1;
    } else if (first >= 0xC2 && first <= 0xDF) {
      if (left < 2 || !follows(1)) return false;
      at += 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
      if (left < 3 || !follows(1) || !follows(2)) return false;
      if ((first == 0xE0 && at[1] < 0xA0) || (first == 0xED && at[1] > 0x9F)) return false;
      at += 3;
    } else if (first >= 0xF0 && first <= 0xF4) {
      if (left < 4 || !follows(1) || !follows(2) || !follows(3)) return false;
      if ((first == 0xF0 && at[1] < 0x90) || (first == 0xF4 && at[1] > 0x8F)) return false;
      at += 4;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace riata
