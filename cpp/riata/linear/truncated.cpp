#include "riata/linear/rules/truncated.hpp"

#include "riata/linear/make.hpp"
#include "riata/simd/instructions.hpp"

#if defined(RIATA_TWICE) && !defined(riata)  // the plain one chooses; the other is this file again, for AVX2
namespace riata_avx2 {
std::unique_ptr<riata::Linear> make_truncated(const std::string&, const std::string&,
                                              const riata::LinearSpec&);
}
#define RIATA_CHOOSES
#endif

namespace riata {

std::unique_ptr<Linear> make_truncated(const std::string& update, const std::string& store,
                                       const LinearSpec& spec) {
#ifdef RIATA_CHOOSES
  if (best_instructions() != Instructions::plain) return riata_avx2::make_truncated(update, store, spec);
#endif
  if (update == "truncate") return make_linear<Truncate>(store, spec);
  if (update == "round") return make_linear<Round>(store, spec);
  if (update == "subgradient") return make_linear<Subgradient>(store, spec);
  return nullptr;
}

}  // namespace riata
