// Arrays of the core become NumPy arrays: the memory changes hands, nothing is copied or zeroed.
#pragma once

#include "bind/arrays.hpp"
#include "riata/base/array.hpp"

namespace riata::bind {

template <class T>
Out<T> hand_over(Array<T>& array) {
  const std::size_t size = array.size();
  if (array.data() == nullptr && !array.reserve(1)) {
    PyErr_NoMemory();
    throw nb::python_error();
  }
  T* const data = array.release();
  nb::capsule owner(data, [](void* memory) noexcept { MemoryPool::free(memory); });
  return Out<T>(data, {size}, owner);
}

}  // namespace riata::bind
