// Memory that was given back, kept for the next that wants as much.
//
// New memory is expensive: every page is a fault and is zeroed by the system, which takes longer than to
// parse the text that goes in, and a virtual machine's host may have to find it first. A stream makes and
// drops arrays of about a megabyte all the time; models come and go, fold by fold, and nearly always have the
// size of the one before. So up to 64 MiB are kept, arrays of malloc and pages of the system alike.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <mutex>

#include "riata/base/across_forks.hpp"
#include "riata/base/pages.hpp"

#if defined(__APPLE__)
#include <malloc/malloc.h>
#elif __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace riata {

class MemoryPool {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  // Memory as std::malloc gives it, which std::realloc and std::free may be called with. Null: there is none.
  static void* allocate(std::size_t bytes) noexcept {
    if (bytes >= kLeastArray) {
      if (void* const found = instance().find(bytes, Kind::array)) return found;
    }
    return std::malloc(bytes);
  }
  static void free(void* memory) noexcept {
    const std::size_t bytes = memory == nullptr ? 0 : size_of(memory);
    if (bytes < kLeastArray || bytes > kMostBytes) {
      std::free(memory);
    } else {
      instance().keep({memory, bytes, Kind::array});
    }
  }

  // Zeroed pages that begin where a large page does; `bytes` is a multiple of the page size. Null: no memory.
  static void* allocate_pages(std::size_t bytes) noexcept {
    void* const found = bytes < kLeastPages ? nullptr : instance().find(bytes, Kind::pages);
    if (found == nullptr) return bytes < kLeastPages ? pages::map(bytes) : pages::map_aligned(bytes);
    pages::for_each_written(found, bytes, [found](std::size_t at, std::size_t size) noexcept {
      std::memset(static_cast<char*>(found) + at, 0, size);
    });
    return found;
  }
  // The whole of what pages::map or allocate_pages has given, or pages::remap has made of it.
  static void free_pages(void* memory, std::size_t bytes) noexcept {
    if (bytes < kLeastPages || bytes > kMostBytes) {
      pages::unmap(memory, bytes);
    } else {
      pages::offer(memory, bytes);
      instance().keep({memory, bytes, Kind::pages});
    }
  }

  static std::mutex& mutex_of_all() noexcept { return instance().mutex_; }

 private:
  static constexpr std::size_t kLeastArray = std::size_t{1} << 17;
  static constexpr std::size_t kLeastPages = pages::kLargePage;

  enum class Kind { array, pages };
  struct Piece {
    void* memory;
    std::size_t bytes;
    Kind kind;
    void release() const noexcept {
      if (kind == Kind::array) {
        std::free(memory);
      } else {
        pages::unmap(memory, bytes);
      }
    }
  };

  static MemoryPool& instance() noexcept {
    static MemoryPool* const pool = new MemoryPool;  // never destroyed: arrays may outlive everything else
    [[maybe_unused]] static const bool held = hold_across_forks<MemoryPool>();
    return *pool;
  }

  static std::size_t size_of([[maybe_unused]] void* memory) noexcept {
#if defined(__APPLE__)
    return malloc_size(memory);
#elif defined(_WIN32)
    return _msize(memory);
#elif defined(__linux__)
    return malloc_usable_size(memory);
#else
    return 0;  // not known: nothing is kept
#endif
  }

  // An array that is large enough and not far too large, the smallest of them; pages of just this size, the
  // youngest of them, which the processor's caches may still hold.
  void* find(std::size_t bytes, Kind kind) noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t best = count_;
    for (std::size_t i = 0; i < count_; ++i) {
      const Piece& piece = pieces_[i];
      if (piece.kind != kind || piece.bytes < bytes) continue;
      if (kind == Kind::pages ? piece.bytes != bytes : piece.bytes / 4 > bytes) continue;
      if (best == count_ || piece.bytes <= pieces_[best].bytes) best = i;
    }
    if (best == count_) return nullptr;
    void* const memory = pieces_[best].memory;
    remove(best);
    return memory;
  }

  // The oldest go where there is no room.
  void keep(const Piece& piece) noexcept {
    const std::lock_guard lock(mutex_);
    while (count_ == pieces_.size() || bytes_ + piece.bytes > kMostBytes) {
      pieces_[0].release();
      remove(0);
    }
    pieces_[count_++] = piece;
    bytes_ += piece.bytes;
  }

  void remove(std::size_t i) noexcept {
    bytes_ -= pieces_[i].bytes;
    std::move(pieces_.data() + i + 1, pieces_.data() + count_, pieces_.data() + i);
    --count_;
  }

  std::mutex mutex_;
  std::array<Piece, 64> pieces_{};  // from the oldest to the youngest
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace riata
