// A word that nobody can foresee, for hashes of keys that somebody may have chosen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <random>

#include "riata/base/hash.hpp"

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

// The hash of a table whose keys somebody may have chosen: two odd numbers that nobody knows. Evenly spaced keys must not
// stay evenly spaced, as products with a number would: that crowds one table in a hundred.
struct SecretHash {
  std::uint64_t first, second;

  static SecretHash draw(const void* address) noexcept {
    return {random_word(address) | 1, random_word(static_cast<const char*>(address) + 1) | 1};
  }
  // Another one in every process.
  static const SecretHash& of_process() noexcept {
    static const SecretHash hash = draw(&hash);
    return hash;
  }

  // Where the search for a key begins in a table of 2^(64 - shift) slots.
  std::size_t home(std::uint64_t key, int shift) const noexcept {
    return static_cast<std::size_t>(fold(key ^ first, second) * first >> shift);
  }
};

}  // namespace riata
