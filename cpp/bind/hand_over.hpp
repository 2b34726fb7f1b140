// Arrays of the core become NumPy arrays: the memory changes hands, nothing is copied or zeroed.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdlib>

#include "riata/array.hpp"

namespace riata::bind {

template <class T>
using HandedOver = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;

template <class T>
HandedOver<T> hand_over(Array<T>& array) {
  const std::size_t size = array.size();
  if (array.data() == nullptr && !array.reserve(1)) {
    PyErr_NoMemory();
    throw nanobind::python_error();
  }
  T* const data = array.release();
  nanobind::capsule owner(data, [](void* memory) noexcept { std::free(memory); });
  return HandedOver<T>(data, {size}, owner);
}

}  // namespace riata::bind
