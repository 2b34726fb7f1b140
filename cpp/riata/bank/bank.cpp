#include "riata/bank/bank.hpp"

#include "riata/bank/learn.hpp"
#include "riata/linear/rules/elastic_net.hpp"
#include "riata/linear/rules/truncated.hpp"

namespace riata {

std::unique_ptr<Bank> make_bank(const std::string& family, const std::string& update,
                                const std::vector<LinearSpec>& settings, int groups) {
  if (settings.empty() || groups < 1) return nullptr;
  if (family == "elastic-net" && update == "fobos")
    return std::make_unique<BankOf<ElasticNet<true>>>(settings, groups);
  if (family == "elastic-net" && update == "sgd")
    return std::make_unique<BankOf<ElasticNet<false>>>(settings, groups);
  if (family == "truncated" && update == "truncate")
    return std::make_unique<BankOf<Truncate>>(settings, groups);
  if (family == "truncated" && update == "round") return std::make_unique<BankOf<Round>>(settings, groups);
  return nullptr;
}

}  // namespace riata
