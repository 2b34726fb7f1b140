// Features that matter, numbered.
#pragma once

#include <algorithm>
#include <cstdint>

#include "riata/base/zero_pages.hpp"

namespace riata {

enum class Accumulated { ok, bad_block, bad_index, bad_weight, not_finite, out_of_memory, too_many_pairs };

// From a feature's index to its slot among the active ones, 1, 2, ...; 0 where it is not active.
class ActiveSlots {
 public:
  bool reserve(std::uint64_t features) noexcept {
    if (features <= capacity_) return true;
    const std::uint64_t wanted = std::max(features, capacity_ * 2);
    if (!pages_.grow(wanted * sizeof(std::int32_t)) && !pages_.grow(features * sizeof(std::int32_t)))
      return false;
    capacity_ = pages_.bytes() / sizeof(std::int32_t);
    return true;
  }
  const std::int32_t* data() const noexcept { return pages_.as<std::int32_t>(); }
  std::int32_t& operator[](std::int64_t index) noexcept { return pages_.as<std::int32_t>()[index]; }
  std::int32_t find(std::int64_t index) const noexcept {
    return static_cast<std::uint64_t>(index) < capacity_ ? data()[index] : 0;
  }

 private:
  ZeroPages pages_;
  std::uint64_t capacity_ = 0;
};

}  // namespace riata
