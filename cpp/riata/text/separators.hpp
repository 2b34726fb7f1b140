// Where cells of a text end: the places of separators, found 64 bytes at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "riata/base/array.hpp"
#include "riata/simd/instructions.hpp"
#include "riata/text/number.hpp"

#if defined(RIATA_HAS_WIDE)
#include <immintrin.h>
#endif

namespace riata {

struct Marks {
  char delimiter;
  char end, other_end;  // of a record, or of what is plain about it; may be the same
};

// Where separators are, and which of them are not delimiters: `places` and places in `places`, ascending.
struct Found {
  std::uint32_t* places;
  std::uint32_t* ends;
};

// Looks at the `size` bytes at p, a multiple of 64, whose first is byte `base` of the text; `count`
// separators were found before. Returns one past what it wrote; 8 words behind it may be overwritten.
inline Found find_marks_plain(const char* p, std::size_t size, Marks marks, std::uint32_t base,
                              std::uint32_t count, Found out) noexcept {
  for (std::size_t at = 0; at < size; at += 16) {
    std::uint32_t bits = 0, ends = 0;
#if defined(__SSE2__)
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + at));
    const __m128i end = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(marks.end)),
                                     _mm_cmpeq_epi8(x, _mm_set1_epi8(marks.other_end)));
    const __m128i any = _mm_or_si128(end, _mm_cmpeq_epi8(x, _mm_set1_epi8(marks.delimiter)));
    bits = static_cast<std::uint32_t>(_mm_movemask_epi8(any));
    ends = static_cast<std::uint32_t>(_mm_movemask_epi8(end));
#else
    for (std::uint32_t i = 0; i < 16; ++i) {
      const char c = p[at + i];
      const bool end = c == marks.end || c == marks.other_end;
      bits |= static_cast<std::uint32_t>(end || c == marks.delimiter) << i;
      ends |= static_cast<std::uint32_t>(end) << i;
    }
#endif
    for (; bits != 0; bits &= bits - 1, ++count) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(bits));
      *out.places++ = base + static_cast<std::uint32_t>(at) + i;
      if (ends >> i & 1) *out.ends++ = count;
    }
  }
  return out;
}

#if defined(RIATA_HAS_WIDE)
RIATA_FOR_AVX2 inline Found find_marks_avx2(const char* p, std::size_t size, Marks marks, std::uint32_t base,
                                            std::uint32_t count, Found out) noexcept {
  const __m256i a = _mm256_set1_epi8(marks.delimiter), b = _mm256_set1_epi8(marks.end),
                c = _mm256_set1_epi8(marks.other_end);
  for (std::size_t at = 0; at < size; at += 64) {
    std::uint64_t bits = 0, ends = 0;
    for (unsigned half = 0; half < 64; half += 32) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + at + half));
      const __m256i end = _mm256_or_si256(_mm256_cmpeq_epi8(x, b), _mm256_cmpeq_epi8(x, c));
      const __m256i any = _mm256_or_si256(end, _mm256_cmpeq_epi8(x, a));
      bits |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(any))) << half;
      ends |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(end))) << half;
    }
    for (; ends != 0; ends = _blsr_u64(ends)) {
      *out.ends++ = count + static_cast<std::uint32_t>(__builtin_popcountll(bits & (_blsi_u64(ends) - 1)));
    }
    // Eight at a time, whether there are as many or not: how many there are is hard to foresee.
    const auto start = base + static_cast<std::uint32_t>(at);
    const auto found = static_cast<std::uint32_t>(__builtin_popcountll(bits));
    for (std::uint32_t i = 0; i < found; i += 8) {
      for (std::uint32_t k = 0; k < 8; ++k) {
        out.places[i + k] = start + static_cast<std::uint32_t>(_tzcnt_u64(bits));
        bits = _blsr_u64(bits);
      }
    }
    out.places += found;
    count += found;
  }
  return out;
}
#endif

inline Found find_marks(const char* p, std::size_t size, Marks marks, std::uint32_t base, std::uint32_t count,
                        Found out) noexcept {
#if defined(RIATA_HAS_WIDE)
  if (best_instructions() != Instructions::plain) return find_marks_avx2(p, size, marks, base, count, out);
#endif
  return find_marks_plain(p, size, marks, base, count, out);
}

// The records of a text whose cells are nothing but separated, found a part of the text at a time. kPadding
// bytes behind it are readable.
class Separators {
 public:
  Separators(const char* begin, const char* end, Marks marks) noexcept
      : begin_(begin), size_(static_cast<std::size_t>(end - begin)), marks_(marks) {}

  static bool possible(const char* begin, const char* end) noexcept { return end - begin < (1ll << 31); }

  // Passes over the separators before byte `from`.
  void skip_to(std::size_t from) noexcept {
    do {
      while (first_ < last_ && places_[first_] < from) ++first_;
    } while (first_ == last_ && scanned_ < from && find_more(0));
    while (first_end_ < last_end_ && ends_[first_end_] < passed_ + first_) ++first_end_;
  }

  // The next `count` separators, to be read and changed, if exactly the last of them is the end of a record;
  // null if not, or if there is no memory for them.
  std::uint32_t* next(std::size_t count) noexcept {
    while (last_ - first_ < count) {
      if (!find_more(count)) return nullptr;
    }
    const bool whole = first_end_ < last_end_ && ends_[first_end_] == passed_ + first_ + count - 1;
    return whole ? places_.data() + first_ : nullptr;
  }

  void pass(std::size_t count) noexcept {
    first_ += count;
    ++first_end_;
  }

 private:
  static constexpr std::size_t kPart = std::size_t{1} << 13;
  static constexpr std::size_t kSlack = 72;
  static_assert(kPadding >= 64);

  bool find_more(std::size_t count) noexcept {
    if (scanned_ >= size_) return false;
    const std::size_t room = std::max(count, last_ - first_) + kPart + kSlack;
    if (!places_.reserve(room) || !ends_.reserve(room)) return false;
    std::uint32_t* const places = places_.data();
    std::uint32_t* const ends = ends_.data();
    std::copy(places + first_, places + last_, places);
    std::copy(ends + first_end_, ends + last_end_, ends);
    passed_ += first_;
    last_ -= first_;
    last_end_ -= first_end_;
    first_ = first_end_ = 0;
    const std::size_t part = std::min(kPart, (size_ - scanned_ + 63) / 64 * 64);
    const Found found =
        find_marks(begin_ + scanned_, part, marks_, static_cast<std::uint32_t>(scanned_),
                   static_cast<std::uint32_t>(passed_ + last_), {places + last_, ends + last_end_});
    last_ = static_cast<std::size_t>(found.places - places);
    last_end_ = static_cast<std::size_t>(found.ends - ends);
    scanned_ += part;
    while (last_ > 0 && places[last_ - 1] >= size_) --last_;  // what lies behind the text is nothing
    while (last_end_ > 0 && ends[last_end_ - 1] >= passed_ + last_) --last_end_;
    places_.set_size(last_);
    ends_.set_size(last_end_);
    return true;
  }

  const char* begin_;
  std::size_t size_;
  Marks marks_;
  std::size_t scanned_ = 0;
  std::size_t passed_ = 0;  // separators that are no longer in the list
  std::size_t first_ = 0, last_ = 0, first_end_ = 0, last_end_ = 0;
  Array<std::uint32_t> places_;
  Array<std::uint32_t> ends_;  // which separators they are, counted from the first of the text
};

}  // namespace riata
