// Pages of memory from the operating system: zeroed when they come, and free of cost until they are written
// to where the system works that way. Linux, other POSIX systems, and a fallback by calloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#include <unistd.h>
#define RIATA_MMAP 1
#endif

namespace riata::pages {

// Bytes; a power of two.
inline std::size_t page_size() noexcept {
#ifdef RIATA_MMAP
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
#else
  return 4096;  // of the fallback: any size will do
#endif
}
inline std::size_t round_up(std::size_t bytes) noexcept {
  return (bytes + page_size() - 1) / page_size() * page_size();
}

inline constexpr std::size_t kLargePage = std::size_t{1} << 21;

enum class PageSize { any, small, large };

// A hint only: large pages spare the processor most of its address translation, small ones spare memory where
// few places are written to.
inline void prefer([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes,
                   [[maybe_unused]] PageSize size) noexcept {
#ifdef MADV_HUGEPAGE
  if (size != PageSize::any)
    (void)madvise(memory, bytes, size == PageSize::large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
}

// Zeros, a multiple of page_size() of them. Null: there is no memory.
inline void* map(std::size_t bytes) noexcept {
#ifdef RIATA_MMAP
#ifdef MAP_NORESERVE
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#else
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
#endif
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
#else
  return std::calloc(bytes, 1);
#endif
}
inline void unmap(void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef RIATA_MMAP
  munmap(memory, bytes);
#else
  std::free(memory);
#endif
}

// The same where a large page may begin, which it must to be one.
inline void* map_aligned(std::size_t bytes) noexcept {
#ifdef RIATA_MMAP
  char* const whole = static_cast<char*>(map(bytes + kLargePage));
  if (whole == nullptr) return nullptr;
  const std::size_t before = (kLargePage - reinterpret_cast<std::uintptr_t>(whole) % kLargePage) % kLargePage;
  if (before != 0) munmap(whole, before);
  if (before != kLargePage) munmap(whole + before + bytes, kLargePage - before);
  prefer(whole + before, bytes, PageSize::large);
  return whole + before;
#else
  return map(bytes);
#endif
}

// From `old` bytes to more, the new ones zeros, without copying. Null where the system cannot do that, or has
// no memory: then nothing has changed.
inline void* remap([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t old,
                   [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef __linux__
  void* const moved = mremap(memory, old, bytes, MREMAP_MAYMOVE);
  return moved == MAP_FAILED ? nullptr : moved;
#else
  return nullptr;
#endif
}

// Whole pages become zeros, and cost nothing where the system can do that.
inline void make_zero(void* memory, std::size_t bytes) noexcept {
#if defined(__linux__)  // elsewhere MADV_DONTNEED may leave them as they are
  if (madvise(memory, bytes, MADV_DONTNEED) == 0) return;
#elif defined(RIATA_MMAP)
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  if (mmap(memory, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0) != MAP_FAILED) return;
#endif
  std::memset(memory, 0, bytes);
}

// The system may take the pages while nobody uses them; they hold what they held, or zeros.
inline void offer([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_FREE
  (void)madvise(memory, bytes, MADV_FREE);
#endif
}

// Calls visit(offset, size) for each piece of a page's size that holds something besides zeros. Pages that
// nobody has written to are only read, so that they stay free of cost.
template <class Visit>
void for_each_written(const void* memory, std::size_t bytes, Visit visit) noexcept {
  constexpr std::size_t kPiece = 4096;
  static constexpr char kZeros[kPiece] = {};
  for (std::size_t at = 0; at < bytes; at += kPiece) {
    const std::size_t size = bytes - at < kPiece ? bytes - at : kPiece;
    if (std::memcmp(static_cast<const char*>(memory) + at, kZeros, size) != 0) visit(at, size);
  }
}

}  // namespace riata::pages
