// Where words begin and end in a folded text.
#pragma once

#include <cstddef>
#include <cstdint>

#include "riata/base/array.hpp"
#include "riata/words/folded.hpp"

namespace riata::words {

class WordPlaces {
 public:
  explicit WordPlaces(const AsciiKernels& kernels = best_ascii_kernels()) noexcept : kernels_(kernels) {}

  // The words of the text, which has less than 4 GiB; false: no memory.
  bool find(const Folded& folded) noexcept {
    count_ = 0;
    // Ideographs have three bytes, words one.
    const std::size_t most = folded.size() / 2 + 2 + folded.size() / 4;
    const std::size_t blocks = folded.blocks();
    for (auto* const places : {&begins_, &ends_}) {
      places->set_size(0);
      if (!places->reserve(most + 64)) return false;
    }
    bits_.set_size(0);
    if (!bits_.reserve(2 * blocks)) return false;
    std::uint64_t *const begins = bits_.data(), *const ends = begins + blocks;
    const Masks* const masks = folded.masks();
    constexpr Masks kNone{};
    std::uint64_t inside_before = 0;
    Masks before{};
    for (std::size_t i = 0; i < blocks; ++i) {
      const Masks& now = masks[i];
      const Masks& behind = i + 1 < blocks ? masks[i + 1] : kNone;
      const std::uint64_t inside = inside_of(before, now, behind);
      const std::uint64_t last = inside << 1 | inside_before, starts = now.of[Masks::begins];
      begins[i] = inside & (~last | starts);
      ends[i] = last & (~inside | starts);
      inside_before = inside >> 63;
      before = now;
    }
    kernels_.list_bits(begins, blocks, begins_.data());
    count_ = static_cast<std::size_t>(kernels_.list_bits(ends, blocks, ends_.data()) - ends_.data());
    return true;
  }

  std::size_t count() const noexcept { return count_; }
  const std::uint32_t* begins() const noexcept { return begins_.data(); }
  const std::uint32_t* ends() const noexcept { return ends_.data(); }

 private:
  // Letters, digits and ideographs, and what stands between two of them for that reason only.
  static std::uint64_t inside_of(const Masks& before, const Masks& now, const Masks& behind) noexcept {
    const std::uint64_t letters = now.of[Masks::letters], digits = now.of[Masks::digits];
    const std::uint64_t runs = letters | digits | now.of[Masks::ideographs];
    const std::uint64_t joins =
        now.of[Masks::apostrophes] | now.of[Masks::connectors] | now.of[Masks::points];
    if (joins == 0) return runs;
    const auto both = [&](auto of) {  // such a byte is before it and behind it
      return (of(now) << 1 | of(before) >> 63) & (of(now) >> 1 | of(behind) << 63);
    };
    const auto letter = [](const Masks& m) { return m.of[Masks::letters]; };
    const auto digit = [](const Masks& m) { return m.of[Masks::digits]; };
    const auto either = [](const Masks& m) { return m.of[Masks::letters] | m.of[Masks::digits]; };
    return runs | (now.of[Masks::apostrophes] & both(letter)) | (now.of[Masks::points] & both(digit)) |
           (now.of[Masks::connectors] & both(either));
  }

  const AsciiKernels& kernels_;
  Array<std::uint64_t> bits_;  // a bit where a word begins, and then where one has ended
  Array<std::uint32_t> begins_, ends_;
  std::size_t count_ = 0;
};

}  // namespace riata::words
