// What the processor says it has, against what the compiler's own library finds out.
#include "check.hpp"
#include "riata/simd/instructions.hpp"

using namespace riata;

int main() {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
  CHECK(available_instructions() == (avx512 ? Instructions::avx512
                                     : avx2 ? Instructions::avx2
                                            : Instructions::plain));
#elif !defined(__x86_64__)
  CHECK(available_instructions() == Instructions::plain);
#endif
  CHECK(best_instructions() <= available_instructions());
  return check::failures();
}
