// For AVX512, where the build compiles this file for it.
#include "riata/bayesian/taylor.hpp"

#ifdef __AVX512F__
#include "riata/bayesian/taylor_body.hpp"
#endif

namespace riata {

const TaylorCode* taylor_avx512() noexcept {
#ifdef __AVX512F__
  return &kTaylorCode;
#else
  return nullptr;
#endif
}

}  // namespace riata
