#include "riata/rules/elastic_net.hpp"

#include "riata/make_linear.hpp"

namespace riata {

std::unique_ptr<Linear> make_elastic_net(const std::string& update, const std::string& store,
                                         const LinearSpec& spec) {
  if (update == "fobos") return make_linear<ElasticNet<true>>(store, spec);
  if (update == "sgd") return make_linear<ElasticNet<false>>(store, spec);
  return nullptr;
}

}  // namespace riata
