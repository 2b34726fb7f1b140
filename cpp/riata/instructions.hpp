// Which instructions the processor at hand has beyond those every x86-64 has.
//
// Code for wider ones is compiled function by function, with the attributes below, and is called only where
// `best_instructions` says so. Whatever it computes has the same bits on every path.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace riata {

enum class Instructions : std::uint8_t { plain, avx2, avx512 };

#if defined(__x86_64__) && defined(__GNUC__)
#define RIATA_HAS_WIDE 1
#define RIATA_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define RIATA_AVX512 \
  __attribute__((    \
      target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")))
#endif

inline Instructions available_instructions() noexcept {
#if defined(RIATA_HAS_WIDE)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
                      __builtin_cpu_supports("avx512vbmi2");
  return avx512 ? Instructions::avx512 : avx2 ? Instructions::avx2 : Instructions::plain;
#else
  return Instructions::plain;
#endif
}

// The widest there are; RIATA_INSTRUCTIONS=plain or avx2 in the environment forbids wider ones.
inline Instructions best_instructions() noexcept {
  static const Instructions best = [] {
    const Instructions all = available_instructions();
    const char* const wish = std::getenv("RIATA_INSTRUCTIONS");
    if (wish == nullptr || all == Instructions::plain) return all;
    if (std::strcmp(wish, "plain") == 0) return Instructions::plain;
    return std::strcmp(wish, "avx2") == 0 ? Instructions::avx2 : all;
  }();
  return best;
}

}  // namespace riata
