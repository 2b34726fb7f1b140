// A rolling fingerprint of examples: the same for the same examples in the same order, however the stream was
// cut into Blocks and whichever width its indices have. It finds accidents, not forgeries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "riata/base/hash.hpp"
#include "riata/base/parallel_for.hpp"
#include "riata/block/block.hpp"
#include "riata/simd/checksum.hpp"

namespace riata {

class Fingerprint {
 public:
  // Rows [start, stop) of a Block, each of which must lie inside its arrays (`holds`). Returns false, with
  // nothing added, where one does not.
  template <class Index>
  bool add(const BlockView<Index>& block, std::int64_t start, std::int64_t stop) noexcept {
    if (start >= stop) return true;
    const bool inside =
        start >= 0 && stop <= block.rows && block.indptr[start] >= 0 && block.indptr[stop] <= block.nnz;
    if (!inside || !ascending(block.indptr + start, stop - start)) return false;
    const std::int64_t first = block.indptr[start];
    const auto entries = static_cast<std::size_t>(block.indptr[stop] - first);
    add_lengths(block.indptr, start, stop);
    parallel_for(2, entries >= kMany ? 2 : 3, [&](std::int64_t from, std::int64_t to) {
      if (from == 0) add_indices(block.indices + first, entries);
      if (to == 2) add_bytes(values_, block.values + first, entries);
    });
    if (block.labels != nullptr)
      add_bytes(labels_, block.labels + start, static_cast<std::size_t>(stop - start));
    add_unusual(block.weights, start, stop, 1.0);
    add_unusual(block.offsets, start, stop, 0.0);
    rows_ += stop - start;
    return true;
  }

  std::int64_t rows() const noexcept { return rows_; }

  // Of all rows so far; more may follow.
  std::uint64_t digest() const noexcept {
    std::uint64_t all = kHashSeed ^ static_cast<std::uint64_t>(rows_);
    for (Checksum part : {lengths_, indices_, values_, labels_, unusual_}) {
      const std::uint64_t sum = part.end();
      all = fold(all ^ sum, 0xe7037ed1a0b428dbULL) ^ sum;
    }
    return all;
  }

 private:
  static constexpr std::size_t kRoom = 1024;
  static constexpr std::size_t kMany = 1 << 20;  // entries that are worth a thread

  template <class T>
  static void add_bytes(Checksum& sum, const T* data, std::size_t size) noexcept {
    sum.add(reinterpret_cast<const char*>(data), size * sizeof(T));
  }

  // Whether none of them is negative and each of the `count` behind the first is no less than the one before.
  // Without a branch and a comparison, so that several are looked at at once.
  static bool ascending(const std::int64_t* numbers, std::int64_t count) noexcept {
    std::uint64_t signs = static_cast<std::uint64_t>(numbers[0]);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto here = static_cast<std::uint64_t>(numbers[i]);
      const auto next = static_cast<std::uint64_t>(numbers[i + 1]);
      signs |= next | (next - here);
    }
    return signs >> 63 == 0;
  }

  void add_lengths(const std::int64_t* indptr, std::int64_t start, std::int64_t stop) noexcept {
    std::uint32_t room[kRoom];
    while (start < stop) {
      const std::int64_t some = std::min<std::int64_t>(stop - start, kRoom);
      for (std::int64_t i = 0; i < some; ++i)
        room[i] = static_cast<std::uint32_t>(indptr[start + i + 1] - indptr[start + i]);
      add_bytes(lengths_, room, static_cast<std::size_t>(some));
      start += some;
    }
  }

  void add_indices(const std::int32_t* indices, std::size_t size) noexcept {
    add_bytes(indices_, indices, size);
  }
  // An index below 2^32 gives itself, as in an array of 32 bits; a key gives all of its bits, mixed.
  void add_indices(const std::int64_t* indices, std::size_t size) noexcept {
    std::uint32_t room[kRoom];
    while (size > 0) {
      const std::size_t some = std::min(size, kRoom);
      best_checksum_kernels().narrow(indices, some, room);
      add_bytes(indices_, room, some);
      indices += some;
      size -= some;
    }
  }

  // What a Block without them stands for is left out: whether a Block has the array is an accident of
  // cutting.
  void add_unusual(const double* numbers, std::int64_t start, std::int64_t stop, double usual) noexcept {
    if (numbers == nullptr) return;
    for (std::int64_t i = start; i < stop; ++i) {
      if (numbers[i] == usual) continue;
      const std::int64_t row = rows_ + i - start;
      add_bytes(unusual_, &row, 1);
      add_bytes(unusual_, &usual, 1);
      add_bytes(unusual_, numbers + i, 1);
    }
  }

  Checksum lengths_, indices_, values_, labels_, unusual_;
  std::int64_t rows_ = 0;
};

}  // namespace riata
