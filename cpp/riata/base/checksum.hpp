// A 64-bit checksum of bytes, at the speed of memory. It finds accidents, not forgeries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "riata/base/hash.hpp"

namespace riata {

// Eight lanes, 64 bytes a step. Each word is mixed with a key that differs from step to step; the product of
// its halves goes to its own lane, the word itself to its neighbour's: there it counts even where a half is
// zero.
class Checksum {
 public:
  // More bytes, however they are cut up.
  void add(const char* data, std::size_t size) noexcept {
    size_ += size;
    if (waiting_ > 0) {
      const std::size_t some = size < 64 - waiting_ ? size : 64 - waiting_;
      std::memcpy(tail_ + waiting_, data, some);
      waiting_ += some;
      data += some;
      size -= some;
      if (waiting_ < 64) return;
      step(tail_);
      waiting_ = 0;
    }
    for (; size >= 64; data += 64, size -= 64) step(data);
    if (size > 0) std::memcpy(tail_, data, size);
    waiting_ = size;
  }
  // Of all bytes so far, which are the last.
  std::uint64_t end() noexcept {
    std::memset(tail_ + waiting_, 0, 64 - waiting_);
    step(tail_);
    std::uint64_t sum = size_;
    for (const std::uint64_t lane : lanes_) sum = fold(sum ^ kA, lane ^ kB) ^ lane;
    return sum;
  }

 private:
  void step(const char* data) noexcept {
#ifdef __SSE2__
    for (int i = 0; i < 4; ++i) {
      const __m128i word = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + i);
      const __m128i mixed = _mm_xor_si128(word, load(keys_ + 2 * i));
      const __m128i product = _mm_mul_epu32(mixed, _mm_shuffle_epi32(mixed, 0xb1));
      const __m128i swapped = _mm_shuffle_epi32(word, 0x4e);
      store(lanes_ + 2 * i, _mm_add_epi64(load(lanes_ + 2 * i), _mm_add_epi64(product, swapped)));
      store(keys_ + 2 * i,
            _mm_add_epi64(load(keys_ + 2 * i), _mm_set1_epi64x(static_cast<long long>(kStep))));
    }
#else
    std::uint64_t words[8];
    std::memcpy(words, data, 64);
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t mixed = words[i] ^ keys_[i];
      lanes_[i] += (mixed & 0xffffffff) * (mixed >> 32) + words[i ^ 1];
      keys_[i] += kStep;
    }
#endif
  }

  static constexpr std::uint64_t kA = 0xa0761d6478bd642fULL, kB = 0xe7037ed1a0b428dbULL;
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;

#ifdef __SSE2__
  static __m128i load(const std::uint64_t* from) noexcept {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(from));
  }
  static void store(std::uint64_t* to, __m128i what) noexcept {
    _mm_store_si128(reinterpret_cast<__m128i*>(to), what);
  }
#endif

  alignas(16) std::uint64_t lanes_[8] = {kA, kB, ~kA, ~kB, kHashSeed, ~kHashSeed, kA ^ kB, kA ^ kHashSeed};
  alignas(16) std::uint64_t keys_[8] = {kB,         kA,     kHashSeed, kA + kB, kB ^ kHashSeed,
                                        kA ^ kStep, ~kStep, kB + kStep};
  char tail_[64] = {};
  std::size_t waiting_ = 0, size_ = 0;
};

inline std::uint64_t checksum(const char* data, std::size_t size) noexcept {
  Checksum sum;
  sum.add(data, size);
  return sum.end();
}

}  // namespace riata
