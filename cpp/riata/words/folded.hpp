// A text with its characters folded, and what each of them is: a bit a byte, so that words are found by
// arithmetic on 64 bytes at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "riata/base/array.hpp"
#include "riata/words/ascii_kernels.hpp"
#include "riata/words/characters.hpp"

namespace riata::words {

// Of 64 bytes of folded text.
struct Masks {
  enum Which : std::uint8_t { letters, digits, ideographs, begins, apostrophes, connectors, points, kCount };
  std::uint64_t of[kCount];  // begins: a word begins here if the byte is inside one
};

// A character of UTF-8: its point and how many bytes it takes; none where it is no such text.
struct Decoded {
  std::uint32_t point = 0;
  std::uint32_t bytes = 0;
};

inline Decoded decode(const unsigned char* p, std::size_t left) noexcept {
  const std::uint32_t first = p[0];
  const auto rest = [&](std::size_t i) { return static_cast<std::uint32_t>(p[i] & 0x3F); };
  const auto follows = [&](std::size_t i) { return (p[i] & 0xC0) == 0x80; };
  if (first < 0x80) return {first, 1};
  if (first >= 0xC2 && first <= 0xDF && left > 1 && follows(1)) return {(first & 0x1F) << 6 | rest(1), 2};
  if (first >= 0xE0 && first <= 0xEF && left > 2 && follows(1) && follows(2)) {
    const std::uint32_t point = (first & 0x0F) << 12 | rest(1) << 6 | rest(2);
    return point < 0x800 || (point >= 0xD800 && point <= 0xDFFF) ? Decoded{} : Decoded{point, 3};
  }
  if (first >= 0xF0 && first <= 0xF4 && left > 3 && follows(1) && follows(2) && follows(3)) {
    const std::uint32_t point = (first & 0x07) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3);
    return point < 0x10000 || point > 0x10FFFF ? Decoded{} : Decoded{point, 4};
  }
  return {};
}

inline std::uint32_t encode(std::uint32_t point, char* to) noexcept {  // four bytes may be written
  const auto put = [&](int i, std::uint32_t byte) { to[i] = static_cast<char>(byte); };
  const auto tail = [&](int shift) { return 0x80 | (point >> shift & 0x3F); };
  if (point < 0x80) return put(0, point), 1;
  if (point < 0x800) return put(0, 0xC0 | point >> 6), put(1, tail(0)), 2;
  if (point < 0x10000) return put(0, 0xE0 | point >> 12), put(1, tail(6)), put(2, tail(0)), 3;
  return put(0, 0xF0 | point >> 18), put(1, tail(12)), put(2, tail(6)), put(3, tail(0)), 4;
}

class Folded {
 public:
  explicit Folded(const AsciiKernels& kernels = best_ascii_kernels()) noexcept : kernels_(kernels) {}

  enum class Outcome : std::uint8_t { fine, not_text, no_memory };

  // Replaces what was there. Where it is no text, `where` is the first byte that is none.
  Outcome fold(std::string_view text, const char*& where) noexcept {
    size_ = 0;
    begin_ = false;
    const char* p = text.data();
    const char* const end = p + text.size();
    // A character takes one byte and a half more at most when it is folded: three for two.
    const std::size_t room = text.size() + text.size() / 2 + 2 * kBlock;
    if (!reserve(text_, room) || !reserve(masks_, room / kBlock + 2) || !reserve(ascii_, kRun)) {
      return Outcome::no_memory;
    }
    masks_.data()[0] = Masks{};
    while (p != end) {
      const auto left = static_cast<std::size_t>(end - p);
      if (left < kBlock) {
        alignas(kBlock) char last[kBlock] = {};
        std::memcpy(last, p, left);
        if (fold_ascii(last, 1, left) > 0) break;
      } else if (const std::size_t blocks = fold_ascii(p, std::min(left / kBlock, kRun), kBlock);
                 blocks > 0) {
        p += blocks * kBlock;
        continue;
      }
      const char* const stop = p + std::min(left, kBlock);
      if (!fold_some(p, stop, end)) return where = p, Outcome::not_text;
    }
    return Outcome::fine;
  }

  const char* text() const noexcept { return text_.data(); }
  std::size_t size() const noexcept { return size_; }
  // There is one block of masks at least, and one without any bits behind the last byte.
  const Masks* masks() const noexcept { return masks_.data(); }
  std::size_t blocks() const noexcept { return size_ / kBlock + 1; }

 private:
  static constexpr std::size_t kBlock = 64, kRun = 64;

  template <class T>
  static bool reserve(Array<T>& array, std::size_t room) noexcept {
    array.set_size(0);
    return array.reserve(room);
  }

  // Blocks of ASCII, the last of which has so many bytes; how many.
  std::size_t fold_ascii(const char* text, std::size_t blocks, std::size_t bytes_of_last) noexcept {
    const std::size_t found = kernels_.fold(text, blocks, text_.data() + size_, ascii_.data());
    for (std::size_t k = 0; k < found; ++k) {
      const AsciiMasks& now = ascii_.data()[k];
      const std::size_t bytes = k + 1 == blocks ? bytes_of_last : kBlock;
      append(Masks::letters, now.letters);
      append(Masks::digits, now.digits);
      append(Masks::apostrophes, now.apostrophes);
      append(Masks::connectors, now.connectors);
      append(Masks::points, now.points);
      advance(bytes);
    }
    return found;
  }

  // Characters one by one, from p up to `stop` at least.
  bool fold_some(const char*& p, const char* stop, const char* end) noexcept {
    while (p < stop) {
      const Decoded now = next(p, end);
      if (now.bytes == 0) return false;
      const Kind kind = characters_.kind(now.point);
      p += now.bytes;
      if (kind == Kind::left_out) continue;
      const std::uint32_t bytes = encode(characters_.fold(now.point), text_.data() + size_);
      // It stays with an ideograph before it, and what comes next still begins a word.
      if (kind == Kind::mark) {
        const bool begin = begin_;
        begin_ = false;
        put(Masks::letters, bytes);
        begin_ = begin;
        continue;
      }
      switch (kind) {
        case Kind::letter:
          put(Masks::letters, bytes);
          break;
        case Kind::digit:
          put(Masks::digits, bytes);
          break;
        case Kind::ideograph:
          begin_ = true;
          put(Masks::ideographs, bytes);
          begin_ = true;
          break;
        case Kind::apostrophe:
          put(Masks::apostrophes, bytes);
          break;
        case Kind::connector:
          put(Masks::connectors, bytes);
          break;
        case Kind::between_letters:
          put(joins(p, end, Masks::letters) ? Masks::letters : Masks::kCount, bytes);
          break;
        case Kind::between_digits:
          if (bytes == 1) {
            put(Masks::points, bytes);
          } else {
            put(joins(p, end, Masks::digits) ? Masks::digits : Masks::kCount, bytes);
          }
          break;
        default:
          put(Masks::kCount, bytes);
      }
    }
    return true;
  }

  static Decoded next(const char* p, const char* end) noexcept {
    return decode(reinterpret_cast<const unsigned char*>(p), static_cast<std::size_t>(end - p));
  }

  // Whether a letter, or a digit, stands before this place and behind it.
  bool joins(const char* p, const char* end, Masks::Which which) const noexcept {
    const std::size_t last = size_ - 1;
    if (size_ == 0 || (masks_[last / kBlock].of[which] >> (last % kBlock) & 1) == 0) return false;
    while (p < end) {
      const Decoded now = next(p, end);
      if (now.bytes == 0) return false;
      const Kind kind = characters_.kind(now.point);
      p += now.bytes;
      if (kind == Kind::left_out) continue;
      return which == Masks::letters ? kind == Kind::letter || kind == Kind::mark : kind == Kind::digit;
    }
    return false;
  }

  // A character that stands at the end of the text already; kCount: no part of a word.
  void put(Masks::Which which, std::uint32_t bytes) noexcept {
    if (which != Masks::kCount) append(which, (std::uint64_t{1} << bytes) - 1);
    advance(bytes);
  }

  // Bits from the end of the text on. Blocks are zero as far as the one behind it.
  void append(Masks::Which which, std::uint64_t bits) noexcept {
    const std::size_t at = size_ / kBlock, shift = size_ % kBlock;
    Masks* const here = masks_.data() + at;
    here[0].of[which] |= bits << shift;
    over_[which] = shift == 0 ? 0 : bits >> (kBlock - shift);
  }
  void advance(std::size_t bytes) noexcept {
    const std::size_t at = size_ / kBlock;
    if (begin_) masks_.data()[at].of[Masks::begins] |= std::uint64_t{1} << (size_ % kBlock);
    begin_ = false;
    size_ += bytes;
    if (size_ / kBlock != at) {
      Masks& behind = masks_.data()[at + 1];
      for (int which = 0; which < Masks::kCount; ++which) behind.of[which] = over_[which];
    }
    for (std::uint64_t& bits : over_) bits = 0;
  }

  const AsciiKernels& kernels_;
  const Characters characters_;
  Array<char> text_;
  Array<Masks> masks_;
  Array<AsciiMasks> ascii_;
  std::uint64_t over_[Masks::kCount] = {};  // bits that belong to the next block
  std::size_t size_ = 0;
  bool begin_ = false;  // the next character begins a word: an ideograph was before it
};

}  // namespace riata::words
