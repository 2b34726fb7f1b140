// A hash of each example that costs the same however long it is: of its length, and its first, middle and last feature.
#pragma once

#include <bit>
#include <cstdint>

#include "riata/block/block.hpp"

namespace riata {

inline std::uint64_t mix_hash(std::uint64_t x) noexcept {
  x = (x ^ (x >> 31)) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u;
  return x ^ (x >> 32);
}

template <class Index>
void row_hashes(const BlockView<Index>& b, std::uint64_t* hashes) noexcept {
  for (std::int64_t i = 0; i < b.rows; ++i) {
    const std::int64_t start = b.indptr[i], stop = b.indptr[i + 1];
    std::uint64_t hash = static_cast<std::uint64_t>(stop - start) * 0x9E3779B97F4A7C15u;
    if (start < stop)
      for (const std::int64_t k : {start, (start + stop) / 2, stop - 1})
        hash = mix_hash(hash ^ (static_cast<std::uint64_t>(b.indices[k]) << 20) ^
                        std::bit_cast<std::uint32_t>(b.values[k]));
    hashes[i] = mix_hash(hash);
  }
}

}  // namespace riata
