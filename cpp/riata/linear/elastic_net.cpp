#include "riata/linear/rules/elastic_net.hpp"

#include "riata/linear/make.hpp"
#include "riata/linear/rules/adagrad.hpp"

namespace riata {

std::unique_ptr<Linear> make_elastic_net(const std::string& update, const std::string& store,
                                         const LinearSpec& spec) {
  if (update == "fobos") return make_linear<ElasticNet<true>>(store, spec);
  if (update == "sgd") return make_linear<ElasticNet<false>>(store, spec);
  if (update == "fobos-adagrad") return make_linear<AdaGrad<PenaltyKind::fobos>>(store, spec);
  if (update == "sgd-adagrad") return make_linear<AdaGrad<PenaltyKind::sgd>>(store, spec);
  return nullptr;
}

}  // namespace riata
