// Work on many rows, done by two threads where it is worth the start of one. Each row is done once, by one of
// them.
#pragma once

#include <cstdint>
#include <system_error>
#include <thread>

namespace riata {

template <class Work>  // work(from, to), which must not throw
void parallel_for(std::int64_t n, std::int64_t worth, Work work) {
  if (n < worth || std::thread::hardware_concurrency() < 2) return work(std::int64_t{0}, n);
  const std::int64_t middle = n / 2;
  std::thread other;
  try {
    other = std::thread([&] { work(middle, n); });
  } catch (const std::system_error&) {  // no thread to be had
    return work(std::int64_t{0}, n);
  }
  work(std::int64_t{0}, middle);
  other.join();
}

}  // namespace riata
