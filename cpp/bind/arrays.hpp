// NumPy arrays in and out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "riata/base/memory_pool.hpp"

namespace riata::bind {

namespace nb = nanobind;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using In2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
template <class T>
using Out2 = nb::ndarray<nb::numpy, T, nb::ndim<2>, nb::c_contig>;

// An array that owns memory of the pool, which was never zeroed.
template <class T>
struct NewArray {
  struct Freeing {
    void operator()(T* memory) const noexcept { MemoryPool::free(memory); }
  };
  std::unique_ptr<T[], Freeing> data;
  std::size_t size;
  explicit NewArray(std::size_t n) : size(n) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (n <= static_cast<std::size_t>(-1) / sizeof(T))
      data.reset(static_cast<T*>(MemoryPool::allocate((n > 0 ? n : 1) * sizeof(T))));
    if (data == nullptr) throw std::bad_alloc();
  }
  T* get() const noexcept { return data.get(); }
  nb::capsule release_owner() {
    return nb::capsule(data.release(), [](void* memory) noexcept { MemoryPool::free(memory); });
  }
};

template <class T>
Out<T> give(NewArray<T>&& array) {
  T* p = array.get();
  return Out<T>(p, {array.size}, array.release_owner());
}
template <class T>
Out2<T> give(NewArray<T>&& array, std::size_t columns) {
  T* p = array.get();
  return Out2<T>(p, {array.size / columns, columns}, array.release_owner());
}

// The vector's memory moves into the array.
template <class T>
nb::capsule keep(std::vector<T>&& from, T*& data) {
  auto* owned = new std::vector<T>(std::move(from));
  data = owned->data();
  return nb::capsule(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
}
template <class T>
Out<T> give(std::vector<T>&& from) {
  const std::size_t n = from.size();
  T* data = nullptr;
  nb::capsule owner = keep(std::move(from), data);
  return Out<T>(data, {n}, owner);
}
template <class T>
Out2<T> give(std::vector<T>&& from, std::size_t columns) {
  const std::size_t n = from.size() / columns;
  T* data = nullptr;
  nb::capsule owner = keep(std::move(from), data);
  return Out2<T>(data, {n, columns}, owner);
}

}  // namespace riata::bind
