#include "riata/linear/rules/truncated.hpp"

#include "riata/linear/make.hpp"
#include "riata/linear/rules/adagrad.hpp"

namespace riata {

std::unique_ptr<Linear> make_truncated(const std::string& update, const std::string& store,
                                       const LinearSpec& spec) {
  if (update == "truncate") return make_linear<Truncate>(store, spec);
  if (update == "round") return make_linear<Round>(store, spec);
  if (update == "subgradient") return make_linear<Subgradient>(store, spec);
  if (update == "truncate-adagrad") return make_linear<AdaGrad<PenaltyKind::truncate>>(store, spec);
  if (update == "round-adagrad") return make_linear<AdaGrad<PenaltyKind::round>>(store, spec);
  return nullptr;
}

}  // namespace riata
