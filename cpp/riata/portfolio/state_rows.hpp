// The state of one group of members by feature: rows side by side, in the order in which features were first met.
//
// A row of the store is short, and says which of these rows is the feature's. So groups lie apart from each other, and
// threads that learn them share no cache line; rows stay where they are while a table grows; and a member that is dropped
// makes the rows of its group narrower, and no others.
#pragma once

#include <bit>
#include <cstdint>
#include <new>
#include <vector>

#include "riata/base/fetch_line.hpp"
#include "riata/base/zero_pages.hpp"
#include "riata/stores/narrow.hpp"

namespace riata {

// A row of the store: how often the feature was not zero, the sum of its squares, and the number of its rows of state.
inline constexpr int kHeadWidth = 3, kHeadNumber = 2;

class StateRows {
 public:
  // Throws std::bad_alloc.
  explicit StateRows(int width) : width_(static_cast<std::uint64_t>(width)) {
    if (width > 0 && !reserve(1)) throw std::bad_alloc();
  }

  // Row 0 stands for all features that were never met: it is zero, and nothing is written to it.
  double* row(std::uint64_t number) const noexcept { return rows_.as<double>() + number * width_; }
  // Has it come closer.
  void fetch(std::uint64_t number) const noexcept {
    constexpr std::uintptr_t kLine = 64;
    const auto first = reinterpret_cast<std::uintptr_t>(row(number)), end = first + width_ * sizeof(double);
    for (std::uintptr_t at = first / kLine * kLine; at < end; at += kLine)
      fetch_line(reinterpret_cast<const void*>(at));
  }

  // So many rows, the new ones zero. False: memory is exhausted.
  bool reserve(std::uint64_t rows) noexcept {
    const std::uint64_t bytes = rows * width_ * sizeof(double);
    if (bytes <= rows_.bytes()) return true;
    return bytes < kTiny ? rows_.grow(std::bit_ceil(2 * bytes)) : rows_.grow_packed(bytes);
  }
  // How many rows there may be before they move.
  std::uint64_t room() const noexcept {
    return width_ == 0 ? UINT64_MAX : rows_.bytes() / (width_ * sizeof(double));
  }
  // Of the first so many rows, which are all that were written to, only the numbers at these places, which ascend.
  void narrow(std::uint64_t rows, const std::vector<int>& kept) noexcept {
    narrow_rows<double>(rows_, rows, width_, kept);
    width_ = kept.size();
  }

 private:
  static constexpr std::uint64_t kTiny = std::uint64_t{1} << 20;  // bytes

  ZeroPages rows_;
  std::uint64_t width_;
};

}  // namespace riata
