// The dense store: an array of rows by index. It grows when a larger index appears, and untouched pages cost
// nothing: memory is mapped zeroed and extended in place by the kernel, never copied through.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "riata/base/kept_pages.hpp"

namespace riata {

// Zeroed memory that grows without touching what was never written.
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
    if (data_ != nullptr) KeptPages::give_back(data_, bytes_);
  }

  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const noexcept { return bytes_; }

  // Room for so many bytes; what is new is zero. False: memory is exhausted.
  bool grow(std::size_t bytes) noexcept {
    bytes = (bytes + kPage - 1) / kPage * kPage;
    if (bytes <= bytes_) return true;
    return take(bytes <= kHugeBelow ? grow_small(bytes) : grow_large(bytes, false), bytes);
  }

  // The same for what fills up from the front: in large pages whatever the size, and with room for much more,
  // which costs nothing until it is written to.
  bool grow_packed(std::size_t bytes) noexcept {
    if (bytes <= bytes_) return true;
    bytes = std::max(std::bit_ceil(bytes), kPacked);
    return take(grow_large(bytes, true), bytes);
  }

  // What lies behind so many bytes is zero again and costs nothing.
  void release_after(std::size_t bytes) noexcept {
    bytes = (bytes + kPage - 1) / kPage * kPage;
    if (bytes < bytes_) madvise(static_cast<char*>(data_) + bytes, bytes_ - bytes, MADV_DONTNEED);
  }

 private:
  static void* map(std::size_t bytes) noexcept {
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }

  // Up to some size in large pages, which spare the processor most of its address translation: they must
  // begin where a large page does. Pages that hold only zeros are not copied, so that they stay untouched.
  void* grow_small(std::size_t bytes) noexcept {
    void* const p = bytes < kHugePage ? map(bytes) : large_pages(bytes);
    if (p == MAP_FAILED) return p;
    static constexpr char kZeros[kPage] = {};
    for (std::size_t at = 0; at < bytes_; at += kPage) {
      const char* page = static_cast<const char*>(data_) + at;
      if (std::memcmp(page, kZeros, kPage) != 0) std::memcpy(static_cast<char*>(p) + at, page, kPage);
    }
    if (data_ != nullptr) KeptPages::give_back(data_, bytes_);
    return p;
  }

  static void* large_pages(std::size_t bytes) noexcept {
    if (void* const kept = KeptPages::take(bytes)) return kept;
    void* const whole = map(bytes + kHugePage);
    if (whole == MAP_FAILED) return whole;
    const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(whole) % kHugePage) % kHugePage;
    if (before != 0) munmap(whole, before);
    char* const p = static_cast<char*>(whole) + before;
    if (before != kHugePage) munmap(p + bytes, kHugePage - before);
#ifdef MADV_HUGEPAGE
    madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return p;
  }

  bool take(void* p, std::size_t bytes) noexcept {
    if (p == MAP_FAILED) return false;
    data_ = p;
    bytes_ = bytes;
    return true;
  }

  // Beyond it in small pages: every touched feature would cost 2 MiB. The kernel moves them without copying.
  void* grow_large(std::size_t bytes, [[maybe_unused]] bool packed) noexcept {
#ifdef __linux__
    void* p = data_ == nullptr ? map(bytes) : mremap(data_, bytes_, bytes, MREMAP_MAYMOVE);
    if (p != MAP_FAILED) madvise(p, bytes, packed ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return p;
#else
    return grow_small(bytes);
#endif
  }

  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kHugePage = std::size_t{1} << 21;
  static constexpr std::size_t kHugeBelow = std::size_t{1} << 27;
  static constexpr std::size_t kPacked = std::size_t{1} << 28;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class DenseStore {
 public:
  static constexpr bool kDirect = true;    // every row is there; a touch is one multiplication away
  static constexpr bool kDistinct = true;  // no two features share a row

  DenseStore(int width, int) noexcept : width_(static_cast<std::uint64_t>(width)) {}

  // The capacity is a power of two: a row of features is inside where the bitwise or of their indices is.
  bool inside(std::uint64_t index) const noexcept { return index < capacity_; }
  std::uint64_t mask() const noexcept { return capacity_ - 1; }
  double* at(std::uint64_t index) const noexcept { return rows_.as<double>() + index * width_; }
  const double* find(std::uint64_t index) const noexcept { return inside(index) ? at(index) : nullptr; }
  bool has(std::uint64_t index) const noexcept { return inside(index); }
  static constexpr bool paged() noexcept { return false; }

  // A large store remembers which chunks were written to: whoever writes to a row marks it.
  bool marks() const noexcept { return capacity_ > kUnmarked; }
  void mark(std::uint64_t index) noexcept { marks_.as<Mark>()[index / kChunk] = 1; }

  static bool possible(std::uint64_t index) noexcept { return index < kLimit; }
  // Makes room for a possible index. False: memory is exhausted.
  bool reserve(std::uint64_t index) noexcept {
    const std::uint64_t rows = std::bit_ceil(index + 1 < kChunk ? kChunk : index + 1);
    if (rows > kUnmarked) {
      if (!marks_.grow(rows / kChunk * sizeof(Mark))) return false;
      if (!marks() && capacity_ > 0) std::memset(marks_.as<Mark>(), 1, capacity_ / kChunk * sizeof(Mark));
    }
    if (!rows_.grow(rows * width_ * sizeof(double))) return false;
    capacity_ = rows;
    return true;
  }

  // The row that `for_each` knew by this key, for putting a saved model back. Null: out of memory or range.
  double* restore(std::uint64_t index, std::string_view) noexcept {
    if (!inside(index) && !(possible(index) && reserve(index))) return nullptr;
    if (marks()) mark(index);
    return at(index);
  }

  template <class Visit>  // visit(key, row), ascending, for every row that may have been written
  void for_each(Visit visit) const {
    // A nominal dimension of billions must not be walked through: only chunks that were written to.
    for (std::uint64_t c = 0; c < capacity_ / kChunk; ++c) {
      if (marks() && marks_.as<Mark>()[c] == 0) continue;
      for (std::uint64_t i = c * kChunk; i < (c + 1) * kChunk; ++i) visit(i, at(i));
    }
  }

  std::uint64_t bytes() const noexcept { return rows_.bytes(); }

  void clear() noexcept {
    rows_ = ZeroPages();
    marks_ = ZeroPages();
    capacity_ = 0;
  }

 private:
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 37;  // more would not fit the address space
  static constexpr std::uint64_t kChunk = 256;
  static constexpr std::uint64_t kUnmarked = std::uint64_t{1}
                                             << 20;  // up to here a walk costs next to nothing
  using Mark = std::uint16_t;  // not a character type: those may alias anything, and the kernels would reload

  ZeroPages rows_, marks_;
  std::uint64_t width_;
  std::uint64_t capacity_ = 0;
};

}  // namespace riata
