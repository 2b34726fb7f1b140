#include "riata/linear.hpp"
#include "riata/rules/elastic_net.hpp"
#include "riata/stores/dense.hpp"

namespace riata {

std::unique_ptr<Linear> make_elastic_net(const std::string& update, const std::string& store, const LinearSpec& spec) {
  if (store != "dense") return nullptr;
  if (update == "fobos") return make_linear<ElasticNet<true>, DenseStore>(spec);
  if (update == "sgd") return make_linear<ElasticNet<false>, DenseStore>(spec);
  return nullptr;
}

}  // namespace riata
