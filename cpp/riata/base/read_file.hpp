// Bytes of an open file from a place in it, whatever other threads read from it meanwhile.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <io.h>
#include <windows.h>
#undef near  // words that others may want for names
#undef far
#else
#include <unistd.h>
#endif

namespace riata {

struct FileRead {
  std::size_t size = 0;  // bytes read: fewer than asked for where the file has no more
  int error = 0;         // of errno
};

#ifdef _WIN32
inline std::ptrdiff_t read_some(int descriptor, char* to, std::size_t size, std::uint64_t start) noexcept {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(start);
  place.OffsetHigh = static_cast<DWORD>(start >> 32);
  DWORD done = 0;
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
  if (ReadFile(handle, to, static_cast<DWORD>(size), &done, &place) != 0) return done;
  if (GetLastError() == ERROR_HANDLE_EOF) return 0;
  errno = EIO;
  return -1;
}
#else
inline std::ptrdiff_t read_some(int descriptor, char* to, std::size_t size, std::uint64_t start) noexcept {
  return pread(descriptor, to, size, static_cast<off_t>(start));
}
#endif

inline FileRead read_file(int descriptor, std::uint64_t start, std::size_t size, char* to) noexcept {
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
  FileRead out;
  while (out.size < size) {
    const std::size_t wanted = size - out.size < kMostAtOnce ? size - out.size : kMostAtOnce;
    const std::ptrdiff_t done = read_some(descriptor, to + out.size, wanted, start + out.size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) out.error = errno;
    if (done <= 0) break;
    out.size += static_cast<std::size_t>(done);
  }
  return out;
}

}  // namespace riata
