// The way back from the numbers of a cache: names, each once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace riata {

// A view: owns nothing. Numbers and offsets come from a file: each is checked when it is used.
struct NameListView {
  std::size_t size = 0;
  std::uint32_t base = 0;  // the number of the first feature
  const char* names = nullptr;
  std::size_t names_size = 0;
  const std::int64_t* name_offsets = nullptr;  // one more than there are features

  // Nobody has looked at the numbers of a file yet.
  bool holds(const std::uint32_t* numbers, std::size_t n) const noexcept {
    std::uint32_t least = ~std::uint32_t{0}, most = 0;
    for (std::size_t k = 0; k < n; ++k) {
      least = std::min(least, numbers[k]);
      most = std::max(most, numbers[k]);
    }
    return n == 0 || (least >= base && most - base < size);
  }
  // The name of a feature; empty for what is not there.
  std::string_view name(std::uint32_t number) const noexcept {
    const std::size_t i = static_cast<std::uint32_t>(number - base);
    if (i >= size) return {};
    const std::int64_t begin = name_offsets[i], end = name_offsets[i + 1];
    if (begin < 0 || end < begin || static_cast<std::uint64_t>(end) > names_size) return {};
    return {names + begin, static_cast<std::size_t>(end - begin)};
  }
  // Where the names of such features begin and end when they lie one behind another.
  void offsets_of(const std::uint32_t* numbers, std::size_t n, std::int64_t* out) const noexcept {
    out[0] = 0;
    for (std::size_t k = 0; k < n; ++k)
      out[k + 1] = out[k] + static_cast<std::int64_t>(name(numbers[k]).size());
  }
  // To where `ends` has them.
  void names_of(const std::uint32_t* numbers, std::size_t n, const std::int64_t* ends,
                char* out) const noexcept {
    for (std::size_t k = 0; k < n; ++k) {
      const std::string_view found = name(numbers[k]);
      const auto room = static_cast<std::size_t>(ends[k + 1] - ends[k]), some = std::min(room, found.size());
      if (some > 0) std::memcpy(out + ends[k], found.data(), some);
      if (some < room) std::memset(out + ends[k] + some, 0, room - some);
    }
  }
};

}  // namespace riata
