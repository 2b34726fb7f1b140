// The entries of each row that count most.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace riata {

// Of one row.
struct RowSums {
  std::int64_t live = 0;  // entries that are not zero
  double all = 0;         // of all entries...
  double shown = 0;       // ...and of the strongest
};

class Strongest {
 public:
  explicit Strongest(std::int64_t most) : most_(static_cast<std::size_t>(most)) {}

  // Puts at most `most` entries of the row begin .. end behind `out`, the largest in absolute value first; of equals the
  // first one first. Those that are zero count for nothing.
  RowSums of(const double* sizes, std::int64_t begin, std::int64_t end, std::vector<std::int64_t>& out) {
    RowSums sums;
    found_.clear();
    double least = 0;  // what is not above it cannot be among them
    for (std::int64_t k = begin; k < end; ++k) {
      const double size = std::fabs(sizes[k]);
      sums.all += sizes[k];
      sums.live += size != 0;
      if (!(size > least)) continue;
      found_.push_back({size, k});
      if (found_.size() / 2 > most_) least = keep_strongest();
    }
    std::sort(found_.begin(), found_.end(), stronger);
    found_.resize(std::min(found_.size(), most_));
    for (const Entry& entry : found_) {
      out.push_back(entry.place);
      sums.shown += sizes[entry.place];
    }
    return sums;
  }

 private:
  struct Entry {
    double size;
    std::int64_t place;
  };
  static bool stronger(const Entry& a, const Entry& b) noexcept {
    return a.size != b.size ? a.size > b.size : a.place < b.place;
  }
  // Drops all others, and says how large the smallest of them is.
  double keep_strongest() noexcept {
    if (most_ > 0)
      std::nth_element(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(most_ - 1), found_.end(),
                       stronger);
    found_.resize(most_);
    return most_ > 0 ? found_.back().size : INFINITY;
  }

  std::size_t most_;
  std::vector<Entry> found_;
};

}  // namespace riata
