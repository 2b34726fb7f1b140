// A word that nobody can foresee, for hashes of keys that somebody may have chosen.
#pragma once

#include <cstdint>
#include <exception>
#include <random>

namespace riata {

// Where the system has no source of random numbers, an address must do.
inline std::uint64_t random_word(const void* address) noexcept {
  try {
    std::random_device random;
    return static_cast<std::uint64_t>(random()) << 32 | random();
  } catch (const std::exception&) {
    const auto word = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
    return (word ^ word >> 12) * 0x9e3779b97f4a7c15ULL;
  }
}

// A table of 2^n slots, whose keys somebody may have chosen, begins to look for one at the highest n bits of
// its product with this number: it is odd, another one in every process, and seen nowhere.
inline std::uint64_t secret_multiplier() noexcept {
  static const std::uint64_t multiplier = random_word(&multiplier) | 1;
  return multiplier;
}

}  // namespace riata
