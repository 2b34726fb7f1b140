// For any machine, and the choice among the widths.
#include "riata/bayesian/taylor.hpp"

#include "riata/bayesian/taylor_body.hpp"
#include "riata/simd/instructions.hpp"

namespace riata {

const TaylorCode* taylor_code(Instructions instructions) noexcept {
  if (instructions == Instructions::plain) return &kTaylorCode;
  if (instructions > available_instructions()) return nullptr;
  return instructions == Instructions::avx512 ? taylor_avx512() : taylor_avx2();
}

const TaylorCode& widest_taylor_code() noexcept {
  static const TaylorCode* const widest = [] {
    const TaylorCode* const code = taylor_code(best_instructions());
    return code != nullptr ? code : &kTaylorCode;
  }();
  return *widest;
}

}  // namespace riata
