// Which instructions the processor at hand has beyond those every x86-64 has.
//
// Code for wider ones is compiled function by function, with the attributes below, and is called only where
// `best_instructions` says so. Whatever it computes has the same bits on every path.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace riata {

enum class Instructions : std::uint8_t { plain, avx2, avx512 };

#if defined(__x86_64__) && defined(__GNUC__)
#define RIATA_HAS_WIDE 1
#define RIATA_FOR_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define RIATA_FOR_AVX512 \
  __attribute__((        \
      target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")))
#endif

// Templates are compiled twice where a compiler can change its target inside a file: see target_avx2.hpp.
#if defined(RIATA_HAS_WIDE) && !defined(__clang__)
#define RIATA_TWICE 1
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

// All that there are; none of the wider ones if RIATA_PLAIN is set in the environment.
inline Instructions best_instructions() noexcept {
  static const Instructions best =
      std::getenv("RIATA_PLAIN") == nullptr ? available_instructions() : Instructions::plain;
  return best;
}

}  // namespace riata
