#include "riata/bank/bank.hpp"

#include "riata/bank/learn.hpp"
#include "riata/linear/rules/adagrad.hpp"
#include "riata/linear/rules/elastic_net.hpp"
#include "riata/linear/rules/truncated.hpp"

namespace riata {

namespace {

double number(const LinearSpec& spec, const char* name) {
  const auto found = spec.numbers.find(name);
  return found == spec.numbers.end() ? 0 : found->second;
}

template <PenaltyKind kind>
std::unique_ptr<Bank> with_adagrad(const std::vector<LinearSpec>& settings, int groups) {
  for (const LinearSpec& spec : settings)
    for (const char* const name : {"period", "explicit"})
      if (number(spec, name) != number(settings.front(), name)) return nullptr;
  return std::make_unique<BankOf<AdaGrad<kind>>>(settings, groups);
}

}  // namespace

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
  if (family == "elastic-net" && update == "fobos-adagrad")
    return with_adagrad<PenaltyKind::fobos>(settings, groups);
  if (family == "elastic-net" && update == "sgd-adagrad")
    return with_adagrad<PenaltyKind::sgd>(settings, groups);
  if (family == "truncated" && update == "truncate-adagrad")
    return with_adagrad<PenaltyKind::truncate>(settings, groups);
  if (family == "truncated" && update == "round-adagrad")
    return with_adagrad<PenaltyKind::round>(settings, groups);
  return nullptr;
}

}  // namespace riata
