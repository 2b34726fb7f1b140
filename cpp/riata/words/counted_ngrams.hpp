// The n-grams of a text as features of a row: each once, with a value for how often it occurs.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "riata/block/named_row_builder.hpp"
#include "riata/simd/exp.hpp"
#include "riata/words/tokeniser.hpp"

namespace riata::words {

// What n-grams that occur so often are worth: 1 + log of it, those of small counts looked up.
class LogCounts {
 public:
  static const LogCounts& table() noexcept {
    static const LogCounts made;
    return made;
  }
  float operator()(float count) const noexcept {
    return count < kCount ? values_[static_cast<std::int32_t>(count)] : of(count);
  }

 private:
  static constexpr std::int32_t kCount = 256;
  LogCounts() noexcept {
    for (std::int32_t count = 1; count < kCount; ++count) values_[count] = of(static_cast<float>(count));
  }
  static float of(float count) noexcept {
    return count == 1 ? 1 : static_cast<float>(1 + riata::log(static_cast<double>(count)));
  }
  float values_[kCount] = {};
};

// Memory for the n-grams of texts of so many bytes in all, as a first guess: a word has five letters and a blank.
inline bool prepare_ngrams(RowBuilder& row, const Ngrams& ngrams, std::size_t prefix,
                           std::size_t bytes) noexcept {
  std::size_t features = 0, name_bytes = 0;
  const auto count = [&](std::size_t n, std::size_t size) {
    features += n, name_bytes += n * (prefix + size);
  };
  for (int n = ngrams.words_low; n != 0 && n <= ngrams.words_high; ++n)
    count(bytes / 6, 6 * static_cast<std::size_t>(n));
  for (int n = ngrams.chars_low; n != 0 && n <= ngrams.chars_high; ++n)
    count(bytes / 2, static_cast<std::size_t>(n));
  return row.prepare(features + 16, name_bytes);
}

// A sink for the n-grams of one text after another. Those of a text go to the row, behind what it holds. No other
// feature of the row may have the prefix of the text.
template <bool kNames>
class CountedNgrams {
 public:
  // `distinct`: as RowBuilder::close has it.
  CountedNgrams(RowBuilder& row, const TextSpec& spec, bool distinct = true) noexcept
      : row_(row), weight_(spec.weight), norm_(spec.norm), distinct_(distinct) {}

  void begin_text() noexcept {
    stamp_ += kStamp;
    count_ = 0;
    mask_ = 0;
    if (stamp_ == 0) clear();
  }

  bool reserve(std::size_t count, std::size_t bytes) noexcept {
    if (!close()) return false;
    open_ = row_.open(count, bytes, room_);
    start_ = room_.size - count_;
    return open_ && keys_.reserve(count) && make_room(count);
  }

  void add(const NgramTexts& texts, const Ngram* ngrams, std::size_t n) noexcept {
    std::int64_t* const keys = keys_.data();
    for (std::size_t k = 0; k < n; ++k) {
      const Prefixed& prefix = *texts.prefix[ngrams[k].chars];
      const char* const text = texts.text[ngrams[k].chars] + ngrams[k].begin;
      const char* const end = text + ngrams[k].size;
      // Single words are short, most of them. They take turns with others, which is foreseen.
      keys[k] = static_cast<std::int64_t>(ngrams[k].single != 0 ? prefix.key<false>(text, end)
                                                                : prefix.key_of_any(text, end));
    }
    for (std::size_t k = 0; k < n;) k += add_some(texts, ngrams + k, keys + k, n - k);
  }

  // What was added of a text stays open until the row is dropped.
  void drop_text() noexcept { open_ = false; }

  // False: no memory.
  bool end_text() noexcept {
    float* const values = room_.values + start_;
    if (weight_ == NgramWeight::presence) std::fill_n(values, count_, 1.0F);
    for (std::size_t k = 0; weight_ == NgramWeight::log && k < count_; ++k) values[k] = logs_(values[k]);
    if (norm_) divide_by_length();
    return close();
  }

 private:
  void divide_by_length() noexcept {
    double squares = 0;
    for (std::size_t k = 0; k < count_; ++k)
      squares += static_cast<double>(room_.values[start_ + k]) * room_.values[start_ + k];
    const double length = std::sqrt(squares);
    for (std::size_t k = 0; k < count_; ++k)
      room_.values[start_ + k] = static_cast<float>(room_.values[start_ + k] / length);
  }

  // A slot holds the stamp of the text that it is in use for, and the place of the feature among those of the text.
  static constexpr std::uint64_t kStamp = std::uint64_t{1} << 32;
  static constexpr std::size_t kSmall =
      4096;  // n-grams of a text whose slots lie close by even if most are empty

  // Up to the first n-gram whose slot others are in, and that one; how many. Whether an n-gram is new is a matter
  // of chance: there is no branch on it.
  std::size_t add_some(const NgramTexts& texts, const Ngram* ngrams, const std::int64_t* keys,
                       std::size_t n) noexcept {
    const RowBuilder::Room room = room_;
    const std::uint64_t stamp = stamp_;
    const SecretHash hash = hash_;
    const int shift = shift_;
    const std::size_t start = start_;
    std::uint64_t* const slots = slots_.data();
    std::size_t size = room.size, name_end = room.name_end, k = 0;
    for (; k < n; ++k) {
      const auto key = static_cast<std::uint64_t>(keys[k]);
      const std::size_t home = hash.home(key, shift);
      const std::uint64_t slot = slots[home];
      const std::uint64_t is_new = (slot ^ stamp) >> 32 != 0 ? 1 : 0;
      const std::uint64_t now = ((stamp | (size - start)) & -is_new) | (slot & (is_new - 1));
      const std::size_t place = start + static_cast<std::uint32_t>(now);
      room.keys[size] = keys[k];
      if (room.keys[place] != keys[k]) [[unlikely]]
        break;
      slots[home] = now;
      room.values[size] = 0;
      room.values[place] += 1;
      size += is_new;
      if constexpr (kNames) {
        const Prefixed& prefix = *texts.prefix[ngrams[k].chars];
        const char* const text = texts.text[ngrams[k].chars] + ngrams[k].begin;
        prefix.write(text, text + ngrams[k].size, room.names + name_end);
        name_end += (prefix.size() + ngrams[k].size) & -is_new;
        room.name_ends[size] = static_cast<std::int64_t>(name_end);
      }
    }
    count_ += size - room_.size;
    room_.size = size;
    room_.name_end = name_end;
    if (k == n) return n;
    add_one(texts, ngrams[k], keys[k]);
    return k + 1;
  }

  std::size_t home_of(std::uint64_t key) const noexcept { return hash_.home(key, shift_); }

  // An n-gram that is looked for further on.
  void add_one(const NgramTexts& texts, const Ngram& ngram, std::int64_t key) noexcept {
    std::uint64_t* const slots = slots_.data();
    std::size_t at = home_of(static_cast<std::uint64_t>(key));
    for (; (slots[at] ^ stamp_) >> 32 == 0; at = (at + 1) & mask_) {
      const std::size_t place = start_ + static_cast<std::uint32_t>(slots[at]);
      if (room_.keys[place] != key) continue;
      room_.values[place] += 1;
      return;
    }
    slots[at] = stamp_ | count_++;
    room_.keys[room_.size] = key;
    room_.values[room_.size++] = 1;
    if constexpr (kNames) {
      const Prefixed& prefix = *texts.prefix[ngram.chars];
      const char* const text = texts.text[ngram.chars] + ngram.begin;
      prefix.write(text, text + ngram.size, room_.names + room_.name_end);
      room_.name_end += prefix.size() + ngram.size;
      room_.name_ends[room_.size] = static_cast<std::int64_t>(room_.name_end);
    }
  }

  bool close() noexcept {
    const bool closed = !open_ || row_.close(room_, distinct_);
    open_ = false;
    return closed;
  }

  // Slots enough for so many n-grams more, with the ones so far in them: few texts fill them, and a small table
  // stays close by.
  bool make_room(std::size_t more) noexcept {
    std::size_t wanted = 256;
    const std::size_t most = count_ + more, sparse = most < kSmall ? 6 : 3;
    while (wanted < sparse * most) wanted *= 2;
    if (wanted <= mask_ + 1) return true;
    if (wanted > slots_.capacity()) {
      if (!slots_.reserve(wanted)) return false;
      clear();
    } else {
      stamp_ += kStamp;
      if (stamp_ == 0) clear();
    }
    mask_ = wanted - 1;
    shift_ = 64 - std::countr_zero(wanted);
    for (std::size_t k = 0; k < count_; ++k) {
      const auto key = static_cast<std::uint64_t>(room_.keys[start_ + k]);
      std::size_t at = home_of(key);
      while ((slots_.data()[at] ^ stamp_) >> 32 == 0) at = (at + 1) & mask_;
      slots_.data()[at] = stamp_ | k;
    }
    return true;
  }
  void clear() noexcept {
    std::fill_n(slots_.data(), slots_.capacity(), std::uint64_t{0});
    stamp_ = kStamp;
  }

  RowBuilder& row_;
  const NgramWeight weight_;
  const bool norm_, distinct_;
  const LogCounts& logs_ = LogCounts::table();
  RowBuilder::Room room_{};
  bool open_ = false;
  std::size_t start_ = 0;  // where the features of the text begin in the room
  std::size_t count_ = 0;  // how many there are
  std::uint64_t stamp_ = 0;
  std::size_t mask_ = 0;
  int shift_ = 0;
  const SecretHash hash_ = SecretHash::of_process();
  Array<std::uint64_t> slots_;
  Array<std::int64_t> keys_;  // of the n-grams that are being added
};

}  // namespace riata::words
