// Checksums: sums stay in registers from step to step.
#include "riata/simd/checksum_kernels.hpp"

#include "riata/simd/intrinsics.hpp"

namespace riata::RIATA_TARGET {
namespace {

constexpr unsigned kRound = 16;  // steps, each with keys of its own

// Random numbers, 64 bytes of them a step.
struct Keys {
  alignas(64) std::uint64_t words[8 * kRound] = {};
  constexpr Keys() noexcept {
    std::uint64_t state = 0x2545f4914f6cdd1dULL;
    for (std::uint64_t& word : words) {
      word = state += 0x9e3779b97f4a7c15ULL;
      word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ULL;
      word = (word ^ word >> 27) * 0x94d049bb133111ebULL;
      word ^= word >> 31;
    }
  }
};
constexpr Keys kKeys;
constexpr std::uint32_t kMultiplier = 0xfffeb81bu;  // what follows from it has a period of 2^62 and more

#if defined(__AVX512F__)
constexpr unsigned kWidth = 64;
#elif defined(__AVX2__)
constexpr unsigned kWidth = 32;
#else
constexpr unsigned kWidth = 16;
#endif
constexpr unsigned kRegisters = 64 / kWidth;
using Words = std::uint64_t __attribute__((vector_size(kWidth)));
using Halves = std::uint32_t __attribute__((vector_size(kWidth)));

// The products of the low halves of words.
[[gnu::always_inline]] inline Words times(Words x, Words y) noexcept {
#if defined(__AVX512F__)
  return (Words)_mm512_mul_epu32((__m512i)x, (__m512i)y);
#elif defined(__AVX2__)
  return (Words)_mm256_mul_epu32((__m256i)x, (__m256i)y);
#elif defined(__SSE2__)
  return (Words)_mm_mul_epu32((__m128i)x, (__m128i)y);
#else
  return (x & 0xffffffff) * (y & 0xffffffff);
#endif
}

[[gnu::always_inline]] inline Words load(const void* from) noexcept {
  Words words;
  __builtin_memcpy(&words, from, sizeof words);
  return words;
}

[[gnu::always_inline]] inline void step(const char* data, unsigned place, Words* sums) noexcept {
#pragma GCC unroll 4
  for (unsigned i = 0; i < kRegisters; ++i) {
    const Words keys = load(kKeys.words + 8 * place + i * (kWidth / 8));
    const Words mixed = (Words)((Halves)load(data + i * kWidth) + (Halves)keys);
    sums[i] += times(mixed, mixed >> 32);
  }
}

[[gnu::always_inline]] inline void end_round(Words* sums) noexcept {
  for (unsigned i = 0; i < kRegisters; ++i) sums[i] = times(sums[i], Words{} + kMultiplier) + (sums[i] >> 32);
}

void add(const char* data, std::size_t count, std::uint64_t first, std::uint64_t* stored) noexcept {
  Words sums[kRegisters];
  for (unsigned i = 0; i < kRegisters; ++i) sums[i] = load(stored + i * (kWidth / 8));
  auto place = static_cast<unsigned>(first % kRound);
  for (; count > 0 && place != 0; --count, data += 64) {
    step(data, place, sums);
    place = (place + 1) % kRound;
    if (place == 0) end_round(sums);
  }
  for (; count >= kRound; count -= kRound) {
#pragma GCC unroll 16
    for (unsigned k = 0; k < kRound; ++k, data += 64) step(data, k, sums);
    end_round(sums);
  }
  for (; count > 0; --count, data += 64) step(data, place++, sums);
  for (unsigned i = 0; i < kRegisters; ++i)
    __builtin_memcpy(stored + i * (kWidth / 8), &sums[i], sizeof(Words));
}

void narrow(const std::int64_t* numbers, std::size_t count, std::uint32_t* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint64_t>(numbers[i]);
    out[i] = static_cast<std::uint32_t>(number) + static_cast<std::uint32_t>(number >> 32) * 0x9e3779b1u;
  }
}

}  // namespace

const ChecksumKernels checksum_kernels{add, narrow};

}  // namespace riata::RIATA_TARGET
