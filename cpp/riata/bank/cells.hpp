// The weights of every feature of a bank, and with AdaGrad their roots: cells, side by side, in the order in which features came.
//
// The table has short rows with their numbers, so that a growing table moves little, and cells of eight columns are
// a line of the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "riata/base/zero_pages.hpp"

namespace riata {

class BankCells {
 public:
  explicit BankCells(int each) noexcept : each_(static_cast<std::size_t>(each)) {}

  // Those with a number; of number 0, which no feature has, all are 0.
  double* of(double number) const noexcept {
    return pages_.as<double>() + static_cast<std::size_t>(number) * each_;
  }
  std::uint64_t bytes() const noexcept { return top_ * each_ * sizeof(double); }

  // For so many more features. False: memory is exhausted.
  bool make_room(std::size_t features) noexcept {
    const std::size_t needed = (top_ + features) * each_ * sizeof(double);
    if (needed <= pages_.bytes()) return true;
    return needed < kTiny ? pages_.grow(2 * needed) : pages_.grow_packed(needed);
  }
  // The number of cells for one more, all of them 0. There is room.
  double take() noexcept {
    if (free_.empty()) return static_cast<double>(top_++);
    const double number = free_.back();
    free_.pop_back();
    std::fill_n(of(number), each_, 0.0);
    return number;
  }
  void give_back(double number) noexcept {
    try {
      free_.push_back(number);
    } catch (const std::bad_alloc&) {  // until collect() finds it
    }
  }

  // Whether it is time to see which numbers no row has any more.
  bool due() const noexcept { return free_.empty() && top_ >= collect_at_; }
  // for_each_used(see): calls see(number) for every row.
  template <class ForEachUsed>
  void collect(const ForEachUsed& for_each_used) noexcept {
    try {
      std::vector<bool> used(top_, false);
      std::size_t count = 0;
      for_each_used([&](double number) { used[static_cast<std::size_t>(number)] = true, ++count; });
      for (std::size_t i = top_; i-- > 1;)
        if (!used[i]) free_.push_back(static_cast<double>(i));
      collect_at_ = std::max(kFirst, count + count / 4);
    } catch (const std::bad_alloc&) {
    }
    collect_at_ = std::max(collect_at_, top_ + top_ / 8);
  }

 private:
  static constexpr std::size_t kTiny = std::size_t{1} << 20, kFirst = 4096;

  std::size_t each_;
  ZeroPages pages_;
  std::size_t top_ = 1;
  std::vector<double> free_;
  std::size_t collect_at_ = kFirst;
};

}  // namespace riata
