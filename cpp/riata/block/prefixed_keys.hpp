// Keys of names that begin alike: `column=text` for one text after another, without putting the names
// together.
//
// A prefix is laid over the bytes before the text, in whole words: those bytes must be readable, whatever
// they hold, and so must 16 behind the text. The keys are those of hash.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "riata/base/hash.hpp"
#include "riata/block/named_row_builder.hpp"
#include "riata/text/number.hpp"

namespace riata {

namespace detail {

inline constexpr std::uint64_t kA = 0xa0761d6478bd642fULL, kB = 0xe7037ed1a0b428dbULL;  // as in hash.hpp

// What the hash of a name of up to 16 bytes starts with, and which bytes of two words are the name's.
struct NameLength {
  std::uint64_t low, high;              // masks
  std::uint64_t start_low, start_high;  // with the constants that are added to the words first
};

inline constexpr std::array<NameLength, 17> kNameLengths = [] {
  std::array<NameLength, 17> lengths{};
  for (std::uint64_t size = 0; size < lengths.size(); ++size) {
    const auto product = static_cast<unsigned __int128>(size ^ kA) * kB;
    const std::uint64_t start =
        kHashSeed ^ static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    lengths[size] = {static_cast<std::uint64_t>(kMasks.mask[size]),
                     static_cast<std::uint64_t>(kMasks.mask[size] >> 64), start ^ kA, start ^ kB};
  }
  return lengths;
}();

// What the hash of a name of up to 32 bytes starts with.
inline constexpr std::array<std::uint64_t, 33> kStarts = [] {
  std::array<std::uint64_t, 33> starts{};
  for (std::uint64_t size = 0; size < starts.size(); ++size) starts[size] = kHashSeed ^ fold(size ^ kA, kB);
  return starts;
}();

}  // namespace detail

class Prefixed {
 public:
  Prefixed() = default;
  explicit Prefixed(std::string_view prefix)
      : first_(word_of(prefix, 0)), second_(word_of(prefix, 8)), size_(prefix.size()) {
    for (std::size_t at = 16; at < prefix.size(); at += 8) more_.push_back(word_of(prefix, at));
  }

  std::size_t size() const noexcept { return size_; }

  // The key of the prefix and the text before `end`. The name is written to `name` where that is wanted; up
  // to 16 bytes behind it are overwritten.
  template <bool kWrite>
  std::uint64_t key(const char* text, const char* end, char* name = nullptr) const noexcept {
    const char* const p = text - size_;
    const auto length = static_cast<std::size_t>(end - p);
    const std::uint64_t low = (load8(p) & first_.keep) | first_.text;
    const std::uint64_t high = (load8(p + 8) & second_.keep) | second_.text;
    if constexpr (kWrite) {
      std::memcpy(name, &low, 8);
      std::memcpy(name + 8, &high, 8);
    }
    if (length > 16) [[unlikely]]
      return key_of_long<kWrite>(p, length, low, high, name);
    const detail::NameLength& with = detail::kNameLengths[length];
    return fold((low & with.low) ^ with.start_low, (high & with.high) ^ with.start_high) >> 1;
  }

  // The same, where it cannot be foreseen whether the name has more than 16 bytes: up to 32 there is no branch.
  // 32 bytes behind the text must be readable.
  std::uint64_t key_of_any(const char* text, const char* end) const noexcept {
    const char* const p = text - size_;
    const auto length = static_cast<std::size_t>(end - p);
    if (length > 32 || size_ > 16) [[unlikely]]
      return key<false>(text, end);
    const std::uint64_t low = (load8(p) & first_.keep) | first_.text;
    const std::uint64_t high = (load8(p + 8) & second_.keep) | second_.text;
    const std::uint64_t start = detail::kStarts[length];
    const std::uint64_t more = -static_cast<std::uint64_t>(length > 16);  // all bits or none
    const std::uint64_t step = fold(low ^ detail::kA ^ start, high ^ detail::kB);
    const std::uint64_t hash = (step & more) | (start & ~more);
    const detail::NameLength& with = detail::kNameLengths[length - (16 & more)];
    const std::uint64_t last_low = ((load8(p + 16) & more) | (low & ~more)) & with.low;
    const std::uint64_t last_high = ((load8(p + 24) & more) | (high & ~more)) & with.high;
    return fold(last_low ^ detail::kA ^ hash, last_high ^ detail::kB ^ hash) >> 1;
  }

  // Writes the name; up to 32 bytes behind it may be overwritten.
  void write(const char* text, const char* end, char* name) const noexcept {
    const char* const p = text - size_;
    const std::uint64_t low = (load8(p) & first_.keep) | first_.text;
    const std::uint64_t high = (load8(p + 8) & second_.keep) | second_.text;
    std::memcpy(name + 16, p + 16, 16);
    std::memcpy(name, &low, 8);
    std::memcpy(name + 8, &high, 8);
    if (end - p > 32 || size_ > 16) [[unlikely]]
      key<true>(text, end, name);
  }

 private:
  struct Word {  // eight bytes of the prefix, and which of the eight are behind it
    std::uint64_t text = 0, keep = ~std::uint64_t{0};
  };

  static Word word_of(std::string_view prefix, std::size_t from) noexcept {
    Word word;
    for (std::size_t i = from; i < std::min(from + 8, prefix.size()); ++i) {
      const auto shift = 8 * (i - from);
      word.text |= static_cast<std::uint64_t>(static_cast<unsigned char>(prefix[i])) << shift;
      word.keep &= ~(std::uint64_t{0xFF} << shift);
    }
    return word;
  }

  // Of the name of `length` bytes at p, the prefix laid over them, whose first two words are known.
  template <bool kWrite>
  std::uint64_t key_of_long(const char* p, std::size_t length, std::uint64_t low, std::uint64_t high,
                            char* name) const noexcept {
    std::uint64_t hash = kHashSeed ^ fold(static_cast<std::uint64_t>(length) ^ detail::kA, detail::kB);
    std::size_t at = 2;  // words so far
    const auto next = [&]() noexcept {
      std::uint64_t text = load8(p + 8 * at);
      if (at - 2 < more_.size()) text = (text & more_[at - 2].keep) | more_[at - 2].text;
      if constexpr (kWrite) std::memcpy(name + 8 * at, &text, 8);
      ++at;
      return text;
    };
    for (; length > 16; length -= 16) {
      hash = fold(low ^ detail::kA ^ hash, high ^ detail::kB);
      low = next();
      high = next();
    }
    low &= detail::kNameLengths[length].low;
    high &= detail::kNameLengths[length].high;
    return fold(low ^ detail::kA ^ hash, high ^ detail::kB ^ hash) >> 1;
  }

  Word first_, second_;
  std::size_t size_ = 0;
  std::vector<Word> more_;
};

}  // namespace riata
