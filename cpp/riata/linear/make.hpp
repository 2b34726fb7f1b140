// A rule on each of the stores.
#pragma once

#include "riata/linear/learn.hpp"
#include "riata/stores/hashed.hpp"
#include "riata/stores/paged.hpp"
#include "riata/stores/table.hpp"

namespace riata {

template <class Rule, class Store>
std::unique_ptr<Linear> make_on(const LinearSpec& spec) {
  if (spec.columns == 1) return std::make_unique<LinearModel<Rule, Store, 1>>(spec);
  return std::make_unique<LinearModel<Rule, Store, 0>>(spec);
}

template <class Rule>
std::unique_ptr<Linear> make_linear(const std::string& store, const LinearSpec& spec) {
  if (store == "dense") return make_on<Rule, PagedStore>(spec);
  if (store == "table") return make_on<Rule, TableStore>(spec);
  if (store == "hashed") return make_on<Rule, HashedStore>(spec);
  return nullptr;
}

}  // namespace riata
