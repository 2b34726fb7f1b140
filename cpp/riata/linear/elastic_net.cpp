#include "riata/linear/rules/elastic_net.hpp"

#include "riata/linear/make.hpp"
#include "riata/linear/rules/adagrad.hpp"
#include "riata/simd/instructions.hpp"

#if defined(RIATA_TWICE) && !defined(riata)  // the plain one chooses; the other is this file again, for AVX2
namespace riata_avx2 {
std::unique_ptr<riata::Linear> make_elastic_net(const std::string&, const std::string&,
                                                const riata::LinearSpec&);
}
#define RIATA_CHOOSES
#endif

namespace riata {

std::unique_ptr<Linear> make_elastic_net(const std::string& update, const std::string& store,
                                         const LinearSpec& spec) {
#ifdef RIATA_CHOOSES
  if (best_instructions() != Instructions::plain) return riata_avx2::make_elastic_net(update, store, spec);
#endif
  if (update == "fobos") return make_linear<ElasticNet<true>>(store, spec);
  if (update == "sgd") return make_linear<ElasticNet<false>>(store, spec);
  if (update == "fobos-adagrad") return make_linear<AdaGrad<true>>(store, spec);
  if (update == "sgd-adagrad") return make_linear<AdaGrad<false>>(store, spec);
  return nullptr;
}

}  // namespace riata
