// Looking many keys of a hash table up at once: what its kernels see of it, and what they do. hash_table.hpp says what
// groups, tags and slots are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

inline constexpr std::uint64_t kLookupGroup = 16;  // slots
// The last multiplier of the hash: odd, bits at random.
inline constexpr std::uint64_t kLookupMultiplier = 0xC2B2AE3D;

struct LookupHead {
  std::uint8_t tags[kLookupGroup];  // 0: empty
  std::uint32_t passed;             // keys that lie behind this group and should lie here or before
};

struct LookupView {
  const std::uint8_t* heads;  // LookupHead of each group
  double* first_row;
  std::uint64_t words;             // from row to row
  std::uint64_t low, high, bound;  // groups for hashes below the bound, and for the others
  std::uint64_t a, b;              // multipliers of the hash
};

struct LookupKernels {
  // Where the rows of n keys most likely lie; they are fetched from memory. No branches: keys cannot be predicted.
  void (*guess32)(const LookupView&, const std::int32_t* keys, std::size_t n, double** rows) noexcept;
  void (*guess64)(const LookupView&, const std::int64_t* keys, std::size_t n, double** rows) noexcept;
  // Which rows are not those of the keys: their numbers come to `others`. Returned is how many.
  std::size_t (*check32)(const std::int32_t* keys, std::size_t n, double* const* rows,
                         std::uint32_t* others) noexcept;
  std::size_t (*check64)(const std::int64_t* keys, std::size_t n, double* const* rows,
                         std::uint32_t* others) noexcept;
};

RIATA_DECLARE_KERNELS(LookupKernels, lookup_kernels)

}  // namespace riata
