// What went wrong in a kernel, as a Python exception.
#pragma once

#include <nanobind/nanobind.h>

#include "riata/linear/model.hpp"

namespace riata::bind {

inline void check(const Outcome& outcome) {
  switch (outcome.status) {
    case Outcome::Status::ok:
    case Outcome::Status::diverged:  // for the caller to word
      return;
    case Outcome::Status::bad_block:
      throw nanobind::value_error("the block is not well formed: indptr must ascend and stay within indices");
    case Outcome::Status::bad_index:
      throw nanobind::value_error(
          "a feature index is negative, or too large: store='dense' ends at 2^37 (use store='table'), and no "
          "store has an index of 2^63 - 1");
    case Outcome::Status::mixed_names:
      throw nanobind::value_error(
          "numbered and named features cannot share a model: use one kind throughout");
    case Outcome::Status::out_of_memory:
      PyErr_SetString(PyExc_MemoryError,
                      "there is no memory for the weights of these features: far-apart numbers take less in "
                      "store='table', and store='hashed' has a fixed size");
      throw nanobind::python_error();
  }
}

}  // namespace riata::bind
