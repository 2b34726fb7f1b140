// Keys of features. A key has 63 bits: an index as it is, or the hash of a name.
#pragma once

#include <cstdint>

namespace riata {

inline constexpr std::uint64_t kKeyMask = (std::uint64_t{1} << 63) - 1;

// Scatters keys over 63 bits, by their high bits. One to one, so that a key can be had back: no two features
// ever collide.
inline std::uint64_t scatter(std::uint64_t key) noexcept {
  return ((key ^ (key >> 32)) * 0x9e3779b97f4a7c15ULL) & kKeyMask;
}

constexpr std::uint64_t inverse_of_odd(std::uint64_t a) noexcept {  // modulo 2^64, so modulo 2^63 too
  std::uint64_t x = a;
  for (int i = 0; i < 6; ++i) x *= 2 - a * x;
  return x;
}

inline std::uint64_t gather_back(std::uint64_t scattered) noexcept {  // the inverse of scatter
  const std::uint64_t key = (scattered * inverse_of_odd(0x9e3779b97f4a7c15ULL)) & kKeyMask;
  return key ^ (key >> 32);
}

}  // namespace riata
