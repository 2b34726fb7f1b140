// Which wide instructions the processor and the system have together: the registers must also be saved when threads
// take turns. Asked of the processor itself, because not every compiler's library answers __builtin_cpu_supports.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

#include <initializer_list>

namespace riata {

struct Processor {
  bool avx2 = false;    // with BMI, BMI2, LZCNT and POPCNT
  bool avx512 = false;  // also F, BW, DQ, VL, VBMI and VBMI2
};

inline bool has_bits(unsigned word, std::initializer_list<int> bits) noexcept {
  for (const int bit : bits)
    if ((word >> bit & 1) == 0) return false;
  return true;
}

inline Processor ask_processor() noexcept {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr int kPopcnt = 23, kXsave = 27, kAvx = 28;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || !has_bits(ecx, {kPopcnt, kXsave, kAvx})) return {};
  unsigned saved = 0, upper = 0;  // what the system saves: bits 1 and 2 for AVX, 5 to 7 for AVX-512
  asm volatile("xgetbv" : "=a"(saved), "=d"(upper) : "c"(0));
  constexpr int kLzcnt = 5;
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) == 0 || !has_bits(ecx, {kLzcnt})) return {};
  constexpr int kBmi = 3, kAvx2 = 5, kBmi2 = 8;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return {};
  if (!has_bits(ebx, {kBmi, kAvx2, kBmi2}) || !has_bits(saved, {1, 2})) return {};
  constexpr int kF = 16, kDq = 17, kBw = 30, kVl = 31, kVbmi = 1, kVbmi2 = 6;
  return {true,
          has_bits(ebx, {kF, kDq, kBw, kVl}) && has_bits(ecx, {kVbmi, kVbmi2}) && has_bits(saved, {5, 6, 7})};
}

}  // namespace riata
#endif
