// A model over the store that somebody names.
#pragma once

#include <memory>
#include <string>

#include "riata/stores/dense.hpp"
#include "riata/stores/hashed.hpp"
#include "riata/stores/store.hpp"
#include "riata/stores/table.hpp"

namespace riata {

// Null if there is no store of this name.
template <class Base, template <AnyStore> class Over, class... Given>
std::unique_ptr<Base> make_over(const std::string& store, const Given&... given) {
  if (store == "dense") return std::make_unique<Over<DenseStore>>(given...);
  if (store == "table") return std::make_unique<Over<TableStore>>(given...);
  if (store == "hashed") return std::make_unique<Over<HashedStore>>(given...);
  return nullptr;
}

}  // namespace riata
