// Large pages that a model gave back, kept for the next one.
//
// Getting fresh memory is expensive: every page is zeroed by the system, and on a virtual machine the host
// may have to find it first, which takes longer than to learn from thousands of examples. Models come and go,
// in a search for parameters or fold by fold, and nearly always have the size of the one before. So the
// memory of a few is kept, 64 MiB at most, and marked as the system's to take whenever it runs short.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "riata/base/across_forks.hpp"

namespace riata {

class KeptPages {
 public:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kLeast = std::size_t{1} << 21;
  static constexpr std::size_t kMost = std::size_t{1} << 26;

  // Memory of exactly this size, a multiple of kPage, all zeros; nullptr if none is kept.
  static void* take(std::size_t bytes) noexcept {
    void* const memory = bytes < kLeast || bytes > kMost ? nullptr : instance().find(bytes);
    if (memory != nullptr) clear(static_cast<char*>(memory), bytes);
    return memory;
  }

  // Ends the use of a whole mapping.
  static void give_back(void* memory, std::size_t bytes) noexcept {
    if (bytes < kLeast || bytes > kMost || !offer(memory, bytes)) {
      munmap(memory, bytes);
    } else {
      instance().keep({memory, bytes});
    }
  }

  static std::mutex& mutex_of_all() noexcept { return instance().mutex_; }

 private:
  struct Piece {
    void* memory;
    std::size_t bytes;
  };

  static KeptPages& instance() noexcept {
    static KeptPages* const kept = new KeptPages;  // never destroyed: models may outlive everything else
    [[maybe_unused]] static const bool held = hold_across_forks<KeptPages>();
    return *kept;
  }

  // Lets the system have the memory if it needs it, without being asked.
  static bool offer([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_FREE
    return madvise(memory, bytes, MADV_FREE) == 0;
#else
    return false;
#endif
  }

  // Pages that nobody has written to, or that the system took, are zero, and must not be touched to stay so.
  static void clear(char* memory, std::size_t bytes) noexcept {
    static constexpr char kZeros[kPage] = {};
    for (char* page = memory; page != memory + bytes; page += kPage)
      if (std::memcmp(page, kZeros, kPage) != 0) std::memset(page, 0, kPage);
  }

  void* find(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = count_; i-- > 0;) {  // the youngest, which caches may still hold
      if (pieces_[i].bytes != bytes) continue;
      void* const memory = pieces_[i].memory;
      remove(i);
      return memory;
    }
    return nullptr;
  }

  void keep(const Piece& piece) noexcept {
    const std::lock_guard lock(mutex_);
    while (count_ == pieces_.size() || bytes_ + piece.bytes > kMost) {
      munmap(pieces_[0].memory, pieces_[0].bytes);
      remove(0);
    }
    pieces_[count_++] = piece;
    bytes_ += piece.bytes;
  }

  void remove(std::size_t i) noexcept {
    bytes_ -= pieces_[i].bytes;
    std::copy(pieces_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
              pieces_.begin() + static_cast<std::ptrdiff_t>(count_),
              pieces_.begin() + static_cast<std::ptrdiff_t>(i));
    --count_;
  }

  std::mutex mutex_;
  std::array<Piece, 16> pieces_{};  // from the oldest to the youngest
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace riata
