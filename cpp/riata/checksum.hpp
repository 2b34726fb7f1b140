// A 64-bit checksum of bytes, at the speed of memory. It finds accidents, not forgeries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "riata/hash.hpp"

namespace riata {

// Four lanes of 16 bytes, so that no multiplication waits for the one before.
inline std::uint64_t checksum(const char* data, std::size_t size) noexcept {
  constexpr std::uint64_t a = 0xa0761d6478bd642fULL, b = 0xe7037ed1a0b428dbULL;
  std::uint64_t lanes[4] = {a, b, a ^ kHashSeed, b ^ kHashSeed};
  std::size_t left = size;
  for (; left >= 64; data += 64, left -= 64) {
    std::uint64_t words[8];
    std::memcpy(words, data, 64);
    for (int i = 0; i < 4; ++i) lanes[i] = fold(words[2 * i] ^ a ^ lanes[i], words[2 * i + 1] ^ b ^ lanes[i]);
  }
  char tail[64] = {};
  if (left > 0) std::memcpy(tail, data, left);
  std::uint64_t words[8];
  std::memcpy(words, tail, 64);
  for (int i = 0; i < 4; ++i) lanes[i] = fold(words[2 * i] ^ a ^ lanes[i], words[2 * i + 1] ^ b ^ lanes[i]);
  std::uint64_t sum = static_cast<std::uint64_t>(size);
  for (const std::uint64_t lane : lanes) sum = fold(sum ^ a, lane ^ b) ^ lane;
  return sum;
}

}  // namespace riata
