// Taking the lock of a model. Two rules keep Python and the locks from waiting for each other: nobody waits
// for a model with the GIL held, and nobody calls Python with a model held (it may collect garbage, and that
// may run anything, also code that learns this model).
#pragma once

#include <nanobind/nanobind.h>

#include <mutex>
#include <shared_mutex>

namespace riata::bind {

// The result of read(), which knows no Python, with the model held beside other readers.
template <class Model, class Read>
auto reading(const Model& model, Read read) {
  const nanobind::gil_scoped_release nogil;
  const std::shared_lock together(model.guard);
  return read();
}

// Likewise for what takes no time: the GIL is let go only where the model is being learned just now.
template <class Model, class Read>
auto glancing(const Model& model, Read read) {
  if (model.guard.try_lock_shared()) {
    const std::shared_lock together(model.guard, std::adopt_lock);
    return read();
  }
  return reading(model, read);
}

// The result of write(), which knows no Python, with the model held alone.
template <class Model, class Write>
auto writing(Model& model, Write write) {
  const nanobind::gil_scoped_release nogil;
  const std::unique_lock alone(model.guard);
  return write();
}

}  // namespace riata::bind
