// Zeroed memory that grows without touching what was never written.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "riata/base/memory_pool.hpp"
#include "riata/base/pages.hpp"

namespace riata {

class ZeroPages {
 public:
  ZeroPages() = default;
  ZeroPages(ZeroPages&& other) noexcept { *this = std::move(other); }
  ZeroPages& operator=(ZeroPages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~ZeroPages() {
    if (data_ != nullptr) MemoryPool::free_pages(data_, bytes_);
  }

  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const noexcept { return bytes_; }

  // Room for so many bytes; what is new is zero. False: memory is exhausted, and nothing has changed.
  //
  // Up to some size in large pages. Beyond it in small ones: every feature that is touched would cost 2 MiB.
  bool grow(std::size_t bytes) noexcept {
    bytes = pages::round_up(bytes);
    if (bytes <= bytes_) return true;
    return bytes <= kLargePagesBelow ? copy_to_larger(bytes) : extend(bytes, pages::PageSize::small);
  }

  // The same for what fills up from the front: in large pages whatever the size, and with room for much more,
  // which costs nothing until it is written to.
  bool grow_packed(std::size_t bytes) noexcept {
    if (bytes <= bytes_) return true;
    return extend(std::max(std::bit_ceil(bytes), kLeastPacked), pages::PageSize::large);
  }

  // What lies behind so many bytes is zero again and costs nothing, but for the rest of a large page: given back in part
  // it would be filled again in small ones.
  void release_after(std::size_t bytes) noexcept {
    if (bytes >= bytes_) return;
    char* const first = static_cast<char*>(data_);
    const std::size_t into = (reinterpret_cast<std::uintptr_t>(first) + bytes) % pages::kLargePage;
    const std::size_t kept = std::min(bytes_, bytes + (into == 0 ? 0 : pages::kLargePage - into));
    std::memset(first + bytes, 0, kept - bytes);
    if (kept < bytes_) pages::make_zero(first + kept, bytes_ - kept);
  }

 private:
  bool copy_to_larger(std::size_t bytes) noexcept {
    char* const larger = static_cast<char*>(MemoryPool::allocate_pages(bytes));
    if (larger == nullptr) return false;
    const char* const from = static_cast<const char*>(data_);
    pages::for_each_written(from, bytes_, [from, larger](std::size_t at, std::size_t size) noexcept {
      std::memcpy(larger + at, from + at, size);
    });
    if (data_ != nullptr) MemoryPool::free_pages(data_, bytes_);
    data_ = larger;
    bytes_ = bytes;
    return true;
  }

  // Where the system can, it moves the pages without copying them.
  bool extend(std::size_t bytes, pages::PageSize size) noexcept {
    void* const larger = data_ == nullptr ? pages::map(bytes) : pages::remap(data_, bytes_, bytes);
    if (larger == nullptr) return data_ != nullptr && copy_to_larger(bytes);
    data_ = larger;
    bytes_ = bytes;
    pages::prefer(data_, bytes_, size);
    return true;
  }

  static constexpr std::size_t kLargePagesBelow = std::size_t{1} << 27;
  static constexpr std::size_t kLeastPacked = std::size_t{1} << 28;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace riata
