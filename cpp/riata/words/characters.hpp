// What characters are to words, and how they are folded. The tables are those of one version of Unicode.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>

namespace riata::words {

enum class Kind : std::uint8_t {
  other,
  letter,
  digit,
  mark,
  ideograph,
  left_out,
  apostrophe,
  connector,
  between_letters,
  between_digits
};

struct KindRange {
  std::uint32_t first, last;
  std::uint8_t kind;
};
struct FoldRange {  // every `step`-th of them is folded to itself plus `by`
  std::uint32_t first, last;
  std::uint32_t step;
  std::int32_t by;
};

}  // namespace riata::words

#include "riata/words/unicode_tables.hpp"

namespace riata::words {

namespace detail {

template <class Range, std::size_t n>
const Range* range_of(const Range (&ranges)[n], std::uint32_t point) noexcept {
  const Range* const found =
      std::lower_bound(std::begin(ranges), std::end(ranges), point,
                       [](const Range& range, std::uint32_t value) { return range.last < value; });
  return found != std::end(ranges) && found->first <= point ? found : nullptr;
}

inline Kind kind_from_ranges(std::uint32_t point) noexcept {
  const KindRange* const range = range_of(kKindRanges, point);
  return range == nullptr ? Kind::other : static_cast<Kind>(range->kind);
}
inline std::uint32_t fold_from_ranges(std::uint32_t point) noexcept {
  const FoldRange* const range = range_of(kFoldRanges, point);
  const bool folds = range != nullptr && (point - range->first) % range->step == 0;
  return folds ? static_cast<std::uint32_t>(static_cast<std::int32_t>(point) + range->by) : point;
}

// Those of the first plane are looked up.
struct Planes {
  static constexpr std::uint32_t kCount = 0x10000;
  Kind kinds[kCount];
  std::uint16_t folded[kCount];

  Planes() noexcept {
    std::fill(std::begin(kinds), std::end(kinds), Kind::other);
    for (std::uint32_t point = 0; point < kCount; ++point) folded[point] = static_cast<std::uint16_t>(point);
    for (const KindRange& range : kKindRanges) {
      for (std::uint32_t point = range.first; point <= range.last && point < kCount; ++point)
        kinds[point] = static_cast<Kind>(range.kind);
    }
    for (const FoldRange& range : kFoldRanges) {
      for (std::uint32_t point = range.first; point <= range.last && point < kCount; point += range.step)
        folded[point] = static_cast<std::uint16_t>(static_cast<std::int32_t>(point) + range.by);
    }
  }
  static const Planes& tables() noexcept {
    static const Planes made;
    return made;
  }
};

}  // namespace detail

class Characters {
 public:
  Characters() noexcept : planes_(detail::Planes::tables()) {}
  Kind kind(std::uint32_t point) const noexcept {
    return point < detail::Planes::kCount ? planes_.kinds[point] : detail::kind_from_ranges(point);
  }
  std::uint32_t fold(std::uint32_t point) const noexcept {
    return point < detail::Planes::kCount ? planes_.folded[point] : detail::fold_from_ranges(point);
  }

 private:
  const detail::Planes& planes_;
};

}  // namespace riata::words
