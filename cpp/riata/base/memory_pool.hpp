// Memory that readers hand out again and again, kept between uses.
//
// A stream makes and drops arrays of about a megabyte all the time. The C library gives such memory back to
// the system at once, and getting it anew costs more than reading the text that goes in: every page is a
// fault and is zeroed first. So a few of them are kept here, 64 MiB at most. All of it is memory of
// std::malloc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <mutex>

#include "riata/base/across_forks.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace riata {

class Pool {
 public:
  static void* take(std::size_t size) noexcept {
    if (size >= kSmallest) {
      if (void* const found = instance().find(size)) return found;
    }
    return std::malloc(size);
  }

  static void give_back(void* memory) noexcept {
    if (!instance().keep(memory)) std::free(memory);
  }

  static std::mutex& mutex_of_all() noexcept { return instance().mutex_; }

 private:
  static constexpr std::size_t kSmallest = std::size_t{1} << 17;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  struct Piece {
    void* memory;
    std::size_t size;
  };

  static Pool& instance() noexcept {
    static Pool* const pool = new Pool;  // never destroyed: arrays may outlive everything else
    [[maybe_unused]] static const bool held = hold_across_forks<Pool>();
    return *pool;
  }

  static std::size_t size_of([[maybe_unused]] void* memory) noexcept {
#if defined(__GLIBC__)
    return malloc_usable_size(memory);
#else
    return 0;  // not known: nothing is kept
#endif
  }

  // The smallest piece that is large enough, unless it is far too large.
  void* find(std::size_t size) noexcept {
    const std::lock_guard lock(mutex_);
    std::size_t best = count_;
    for (std::size_t i = 0; i < count_; ++i) {
      const bool fits = pieces_[i].size >= size && pieces_[i].size / 4 <= size;
      if (fits && (best == count_ || pieces_[i].size < pieces_[best].size)) best = i;
    }
    if (best == count_) return nullptr;
    void* const memory = pieces_[best].memory;
    bytes_ -= pieces_[best].size;
    pieces_[best] = pieces_[--count_];
    return memory;
  }

  bool keep(void* memory) noexcept {
    const std::size_t size = memory == nullptr ? 0 : size_of(memory);
    if (size < kSmallest) return false;
    const std::lock_guard lock(mutex_);
    if (count_ == pieces_.size() || bytes_ + size > kMostBytes) return false;
    pieces_[count_++] = {memory, size};
    bytes_ += size;
    return true;
  }

  std::mutex mutex_;
  std::array<Piece, 64> pieces_{};
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace riata
