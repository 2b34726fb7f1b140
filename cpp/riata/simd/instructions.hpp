// Wide instructions: the one way to use them, and the one place that chooses.
//
// A kernel is a loop that gains from wide registers. It lives in a source whose name ends in _kernels.cpp. The
// build compiles that source once for each instruction set (cmake/kernels.cmake): `plain`, what every processor
// of its kind has, and on x86-64 `avx2` and `avx512`. Each compilation has a namespace of its own, RIATA_TARGET:
//
//   add.hpp             struct AddKernels {
//                         double (*sum)(const double* x, std::int64_t n) noexcept;
//                       };
//                       RIATA_DECLARE_KERNELS(AddKernels, add_kernels)
//
//   add_kernels.cpp     namespace riata::RIATA_TARGET {
//                       namespace {
//                       double sum(const double* x, std::int64_t n) noexcept { ... }
//                       }  // namespace
//                       const AddKernels add_kernels{sum};
//                       }  // namespace riata::RIATA_TARGET
//
//   a caller            best_add_kernels().sum(x, n)                the widest set this processor has
//                       find_add_kernels(Instructions::avx2)        for tests; null where it is not to be had
//
// Rules for a kernel source:
//   - All it defines is in the namespace riata::RIATA_TARGET, unnamed where possible. Headers it shares with
//     others do the same, or hold nothing but types without functions: the linker keeps one copy of an inline
//     function, and must not keep one for everyone that only some processors can run.
//   - It calls nothing outside: neither the standard library nor, through a pointer, code of another set. Code
//     for AVX that calls code for SSE with values in the upper halves of registers makes that slow on some
//     processors. What calls nothing cannot, and compilers clear the upper halves where a kernel returns.
//   - Every set gives the same bits: same operations in the same order, nothing fused. simd/vector.hpp has
//     vectors of a fixed number of doubles, in as many registers as the set needs for them.
// tests/test_kernels.py checks the first two on the object files; `python -m benchmarks instructions` shows whether
// a wider set is faster.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "riata/simd/processor.hpp"

#ifndef RIATA_TARGET
#define RIATA_TARGET plain  // sources that are compiled once
#endif

namespace riata {

enum class Instructions : std::uint8_t { plain, avx2, avx512 };

namespace RIATA_TARGET {}
using namespace RIATA_TARGET;

// What the processor at hand has.
inline Instructions available_instructions() noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  static const Processor processor = ask_processor();
  const bool avx2 = processor.avx2, avx512 = processor.avx512;
  return avx512 ? Instructions::avx512 : avx2 ? Instructions::avx2 : Instructions::plain;
#else
  return Instructions::plain;
#endif
}

// What is used: all there is, or less where the environment says so. RIATA_INSTRUCTIONS=plain, avx2 or avx512
// names the widest set; RIATA_PLAIN=1 is the same as RIATA_INSTRUCTIONS=plain.
inline Instructions best_instructions() noexcept {
  static const Instructions best = [] {
    const Instructions all = available_instructions();
    if (std::getenv("RIATA_PLAIN") != nullptr) return Instructions::plain;
    const char* const widest = std::getenv("RIATA_INSTRUCTIONS");
    if (widest == nullptr) return all;
    if (std::string_view(widest) == "plain") return Instructions::plain;
    return std::string_view(widest) == "avx2" && all > Instructions::avx2 ? Instructions::avx2 : all;
  }();
  return best;
}

#ifdef RIATA_WIDE_KERNELS
#define RIATA_DECLARE_KERNELS(Type, name)                           \
  namespace plain {                                                 \
  extern const Type name;                                           \
  }                                                                 \
  namespace avx2 {                                                  \
  extern const Type name;                                           \
  }                                                                 \
  namespace avx512 {                                                \
  extern const Type name;                                           \
  }                                                                 \
  inline const Type* find_##name(Instructions set) noexcept {       \
    if (set > available_instructions()) return nullptr;             \
    if (set == Instructions::plain) return &plain::name;            \
    return set == Instructions::avx2 ? &avx2::name : &avx512::name; \
  }                                                                 \
  inline const Type& best_##name() noexcept {                       \
    static const Type& best = *find_##name(best_instructions());    \
    return best;                                                    \
  }
#else
#define RIATA_DECLARE_KERNELS(Type, name)                       \
  namespace plain {                                             \
  extern const Type name;                                       \
  }                                                             \
  inline const Type* find_##name(Instructions set) noexcept {   \
    return set == Instructions::plain ? &plain::name : nullptr; \
  }                                                             \
  inline const Type& best_##name() noexcept { return plain::name; }
#endif

}  // namespace riata
