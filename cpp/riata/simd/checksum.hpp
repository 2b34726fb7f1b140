// A 64-bit checksum of bytes, at the speed of memory. It finds accidents, not forgeries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "riata/base/hash.hpp"
#include "riata/simd/checksum_kernels.hpp"

namespace riata {

// Eight sums, 64 bytes a step. To the halves of each word random keys are added, and their product goes to
// its sum ("NH" of UMAC, Black et al. 1999). There are keys for sixteen steps; then each sum is multiplied,
// so that what comes later counts in another way.
class Checksum {
 public:
  explicit Checksum(const ChecksumKernels& kernels = best_checksum_kernels()) noexcept : kernels_(&kernels) {}

  // More bytes, however they are cut up.
  void add(const char* data, std::size_t size) noexcept {
    size_ += size;
    if (waiting_ > 0) {
      const std::size_t some = size < 64 - waiting_ ? size : 64 - waiting_;
      std::memcpy(tail_ + waiting_, data, some);
      waiting_ += some;
      data += some;
      size -= some;
      if (waiting_ < 64) return;
      steps(tail_, 1);
    }
    steps(data, size / 64);
    waiting_ = size % 64;
    if (waiting_ > 0) std::memcpy(tail_, data + size - waiting_, waiting_);
  }
  // Of all bytes so far, which are the last.
  std::uint64_t end() noexcept {
    std::memset(tail_ + waiting_, 0, 64 - waiting_);
    steps(tail_, 1);
    std::uint64_t sum = size_;
    for (const std::uint64_t one : sums_) sum = fold(sum ^ kA, one ^ kB) ^ one;
    return sum;
  }

 private:
  void steps(const char* data, std::size_t count) noexcept {
    if (count > 0) kernels_->add(data, count, done_, sums_);
    done_ += count;
  }

  static constexpr std::uint64_t kA = 0xa0761d6478bd642fULL, kB = 0xe7037ed1a0b428dbULL;

  const ChecksumKernels* kernels_;
  std::uint64_t sums_[8] = {kA, kB, ~kA, ~kB, kHashSeed, ~kHashSeed, kA ^ kB, kA ^ kHashSeed};
  std::uint64_t done_ = 0;  // steps
  char tail_[64] = {};
  std::size_t waiting_ = 0, size_ = 0;
};

inline std::uint64_t checksum(const char* data, std::size_t size) noexcept {
  Checksum sum;
  sum.add(data, size);
  return sum.end();
}

}  // namespace riata
