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

}  // namespace riata
