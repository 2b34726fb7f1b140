// What the processor at hand can do beyond what every x86-64 can. Wider code gives the same bits; the
// environment variable RIATA_PLAIN turns it off, for tests and for doubts.
#pragma once

#include <cstdlib>

// Clang cannot compile part of a file for another processor together with its templates.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define RIATA_AVX2
#endif

namespace riata {

inline bool has_avx2() noexcept {
#ifdef RIATA_AVX2
  static const bool has = __builtin_cpu_supports("avx2") && std::getenv("RIATA_PLAIN") == nullptr;
  return has;
#else
  return false;
#endif
}

}  // namespace riata
