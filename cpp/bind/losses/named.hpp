// A loss by the name that Python says.
#pragma once

#include <string>

#include "bind/arrays.hpp"
#include "riata/losses/loss.hpp"

namespace riata::bind {

inline const Loss& loss_named(const std::string& name) {
  const Loss* loss = find_loss(name);
  if (loss == nullptr) throw nb::value_error(("unknown loss '" + name + "'").c_str());
  return *loss;
}

}  // namespace riata::bind
