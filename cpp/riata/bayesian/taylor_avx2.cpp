// For AVX2, where the build compiles this file for it.
#include "riata/bayesian/taylor.hpp"

#ifdef __AVX2__
#include "riata/bayesian/taylor_body.hpp"
#endif

namespace riata {

const TaylorCode* taylor_avx2() noexcept {
#ifdef __AVX2__
  return &kTaylorCode;
#else
  return nullptr;
#endif
}

}  // namespace riata
