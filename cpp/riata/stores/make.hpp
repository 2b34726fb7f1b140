// A model over the store that somebody names.
#pragma once

#include <memory>
#include <string>

#include "riata/stores/dense.hpp"
#include "riata/stores/hashed.hpp"
#include "riata/stores/store.hpp"
#include "riata/stores/table.hpp"

namespace riata {

// What `make`, a function template of a store, gives for the store of this name; null if there is none. `Hashed` is the
// one that is called hashed.
template <class Base, AnyStore Hashed = HashedStore, class Make>
std::unique_ptr<Base> make_over(const std::string& store, const Make& make) {
  if (store == "dense") return make.template operator()<DenseStore>();
  if (store == "table") return make.template operator()<TableStore>();
  if (store == "hashed") return make.template operator()<Hashed>();
  return nullptr;
}

}  // namespace riata
