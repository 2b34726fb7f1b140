// An array that grows, is never filled with zeros first, and can be given away: who has the memory then
// ends it with MemoryPool::free or std::free.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "riata/base/memory_pool.hpp"

namespace riata {

template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() noexcept = default;
  Array(Array&& other) noexcept { *this = std::move(other); }
  Array& operator=(Array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Array() { MemoryPool::free(data_); }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }
  T operator[](std::size_t i) const noexcept { return data_[i]; }
  T back() const noexcept { return data_[size_ - 1]; }

  // Room for `capacity` elements at least; false if there is no memory. Only the first size() elements
  // survive.
  bool reserve(std::size_t capacity) noexcept {
    if (capacity <= capacity_) return true;
    if (capacity > static_cast<std::size_t>(-1) / sizeof(T)) return false;
    const std::size_t bytes = capacity * sizeof(T);
    void* const moved =
        data_ == nullptr ? MemoryPool::allocate(bytes) : std::realloc(static_cast<void*>(data_), bytes);
    if (moved == nullptr) return false;
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
    return true;
  }

  // The caller has written the elements up to here, within the capacity.
  void set_size(std::size_t size) noexcept { size_ = size; }

  bool push_back(T value) noexcept {
    if (size_ == capacity_ && !reserve(std::max<std::size_t>(256, 2 * capacity_))) return false;
    data_[size_++] = value;
    return true;
  }

  template <class U>
  bool append(const U* first, std::size_t count) noexcept {
    if (size_ + count > capacity_ && !reserve(std::max(size_ + count, 2 * capacity_))) return false;
    std::copy(first, first + count, data_ + size_);
    size_ += count;
    return true;
  }

  // Hands the memory to the caller, cut to what is used where much of it is not.
  T* release() noexcept {
    if (size_ < capacity_ / 2 && size_ > 0) {
      if (void* const cut = std::realloc(static_cast<void*>(data_), size_ * sizeof(T)))
        data_ = static_cast<T*>(cut);
    }
    size_ = capacity_ = 0;
    return std::exchange(data_, nullptr);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace riata
