// Texts to n-grams of words and of characters, with the keys that their names have as features.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "riata/block/prefixed_keys.hpp"
#include "riata/block/text_spec.hpp"
#include "riata/words/word_places.hpp"

namespace riata::words {

inline constexpr std::size_t kLongestWord = 256;                   // bytes; a longer run is no word
static_assert(Ngrams::kMostWords * (kLongestWord + 1) < 1 << 16);  // an n-gram's size

struct Ngram {
  std::uint32_t begin;
  std::uint16_t size;
  std::uint8_t chars;   // 1: of characters; its text, and its prefix, are the second of each
  std::uint8_t single;  // 1: it is one word
};

struct NgramTexts {  // before and behind each n-gram as many bytes are readable as Prefixed needs
  const char* text[2];
  const Prefixed* prefix[2];
};

// What n-grams are given to, many at a time:
//
//   sink.reserve(count, bytes)      there will be up to so many, whose names have up to so many bytes in all;
//                                   false: no memory;
//   sink.add(texts, ngrams, count)  some of them, in their order.
template <class Sink>
concept NgramSink = requires(Sink& sink, const NgramTexts& texts, const Ngram* ngrams) {
  { sink.reserve(std::size_t{}, std::size_t{}) } noexcept -> std::same_as<bool>;
  { sink.add(texts, ngrams, std::size_t{}) } noexcept;
};

struct TextError {
  enum class Kind : std::uint8_t { none, not_text, no_memory } kind = Kind::none;
  const char* where = nullptr;  // the first byte that is no UTF-8
};

class Tokeniser {
 public:
  Tokeniser(const Ngrams& ngrams, std::string_view prefix,
            const AsciiKernels& kernels = best_ascii_kernels()) noexcept(false)
      : ngrams_(ngrams),
        word_prefix_(prefix),
        char_prefix_(std::string(prefix) + "~"),
        front_(prefix.size() + 1),
        folded_(kernels),
        places_(kernels) {}

  // All n-grams of a text, in order: those that end with its first word, its second, ...; what came before an
  // error has been added.
  template <NgramSink Sink>
  TextError read(std::string_view text, Sink& sink) noexcept {
    n_kept_ = 0;
    while (!text.empty()) {
      const std::string_view window = text.substr(0, window_of(text));
      text.remove_prefix(window.size());
      const char* where = nullptr;
      const Folded::Outcome outcome = folded_.fold(window, where);
      if (outcome == Folded::Outcome::not_text) return {TextError::Kind::not_text, where};
      const bool fine = outcome == Folded::Outcome::fine && places_.find(folded_) && prepare() &&
                        sink.reserve(n_ngrams_, name_bytes_);
      if (!fine) return {TextError::Kind::no_memory};
      copy_words();
      list_ngrams();
      sink.add({{words_.data(), padded_.data()}, {&word_prefix_, &char_prefix_}}, list_.data(), n_ngrams_);
    }
    return {};
  }

 private:
  static constexpr std::size_t kWindow = std::size_t{1} << 14, kSlack = 64;

  // As much as is looked at at once: not much, and up to a blank, where no word goes on.
  static std::size_t window_of(std::string_view text) noexcept {
    if (text.size() <= kWindow) return text.size();
    const std::size_t blank = text.find_first_of(" \n\t\r", kWindow);
    return blank == std::string_view::npos ? text.size() : blank + 1;
  }

  // Room for the words of the window, behind those that n-grams may yet begin with, and for their n-grams.
  bool prepare() noexcept {
    const std::size_t count = places_.count(), bytes = folded_.size();
    const std::size_t from = n_kept_ == 0 ? 0 : starts_[0], kept = n_kept_ == 0 ? 0 : starts_[n_kept_] - from;
    if (kept > 0) std::memmove(words_.data() + front_, words_.data() + from, kept);
    for (std::size_t k = 0; k <= n_kept_ && kept > 0; ++k)
      starts_.data()[k] -= static_cast<std::uint32_t>(from - front_);
    words_.set_size(kept == 0 ? 0 : front_ + kept);
    starts_.set_size(kept == 0 ? 0 : n_kept_ + 1);
    padded_.set_size(0);
    list_.set_size(0);
    const std::size_t orders = span(ngrams_.words_low, ngrams_.words_high);
    const std::size_t chars = span(ngrams_.chars_low, ngrams_.chars_high);
    const auto most = static_cast<std::size_t>(ngrams_.words_high);
    const std::size_t of_words = orders * count, of_chars = chars * (bytes + 2 * count);
    n_ngrams_ = of_words + of_chars;
    name_bytes_ = of_words * (front_ + most) + orders * most * (bytes + kept) +
                  of_chars * (front_ + 4 * static_cast<std::size_t>(ngrams_.chars_high));
    return words_.reserve(front_ + kept + bytes + count + kSlack) && starts_.reserve(n_kept_ + count + 2) &&
           list_.reserve(n_ngrams_ + 1) &&
           (chars == 0 || padded_.reserve(front_ + bytes + 2 * count + kSlack));
  }

  static std::size_t span(int low, int high) noexcept {
    return high == 0 ? 0 : static_cast<std::size_t>(high - low + 1);
  }

  // The words of the window one behind another, with a blank between.
  void copy_words() noexcept {
    const char* const text = folded_.text();
    char* const words = words_.data();
    std::uint32_t* const starts = starts_.data();
    std::size_t count = n_kept_, end = n_kept_ == 0 ? front_ : starts[n_kept_];
    for (std::size_t k = 0; k < places_.count(); ++k) {
      const char* const from = text + places_.begins()[k];
      const std::size_t size = places_.ends()[k] - places_.begins()[k];
      if (size > kLongestWord) [[unlikely]]
        continue;
      std::memcpy(words + end, from, 16);
      if (size > 16) [[unlikely]]
        std::memcpy(words + end + 16, from + 16, size - 16);
      starts[count++] = static_cast<std::uint32_t>(end);
      end += size;
      words[end++] = ' ';
    }
    starts[count] = static_cast<std::uint32_t>(end);
    n_words_ = count;
  }

  // Those that end with words of this window; leaves as many words as others may yet follow on.
  void list_ngrams() noexcept {
    const std::uint32_t* const starts = starts_.data();
    const auto low = static_cast<std::size_t>(ngrams_.words_low);
    const auto high = static_cast<std::size_t>(ngrams_.words_high);
    Ngram* to = list_.data();
    std::size_t padded = front_;
    for (std::size_t k = n_kept_; k < n_words_; ++k) {
      const std::uint32_t end = starts[k + 1] - 1;
      for (std::size_t n = low; high > 0 && n <= std::min(high, k + 1); ++n) {
        const std::uint32_t begin = starts[k + 1 - n];
        *to++ = {begin, static_cast<std::uint16_t>(end - begin), 0, static_cast<std::uint8_t>(n == 1)};
      }
      if (ngrams_.chars_high > 0) {
        to = list_characters({words_.data() + starts[k], end - starts[k]}, padded, to);
        padded += end - starts[k] + 2;
      }
    }
    n_ngrams_ = static_cast<std::size_t>(to - list_.data());
    const std::size_t keep = std::min(n_words_, high > 0 ? high - 1 : 0);
    for (std::size_t k = 0; k <= keep; ++k) starts_.data()[k] = starts_[n_words_ - keep + k];
    n_kept_ = keep;
  }

  // The pieces of <word>, which is put at this place.
  Ngram* list_characters(std::string_view word, std::size_t at, Ngram* to) noexcept {
    char* const begin = padded_.data() + at;
    begin[0] = '<';
    std::memcpy(begin + 1, word.data(), word.size());
    begin[word.size() + 1] = '>';
    std::uint32_t starts[kLongestWord + 3];
    std::size_t count = 0;
    for (std::size_t i = 0; i < word.size() + 2; ++i) {
      if ((begin[i] & 0xC0) != 0x80) starts[count++] = static_cast<std::uint32_t>(at + i);
    }
    starts[count] = static_cast<std::uint32_t>(at + word.size() + 2);
    const auto low = std::min(static_cast<std::size_t>(ngrams_.chars_low), count);
    for (std::size_t n = low; n <= std::min(static_cast<std::size_t>(ngrams_.chars_high), count); ++n) {
      for (std::size_t k = 0; k + n <= count; ++k)
        *to++ = {starts[k], static_cast<std::uint16_t>(starts[k + n] - starts[k]), 1, 0};
    }
    return to;
  }

  const Ngrams ngrams_;
  const Prefixed word_prefix_, char_prefix_;
  const std::size_t front_;  // bytes before the words, for prefixes to be laid over
  Folded folded_;
  WordPlaces places_;
  Array<char> words_;            // one behind another, with a blank between
  Array<char> padded_;           // the same between signs that mark their ends
  Array<std::uint32_t> starts_;  // of the words, and where one more would start
  Array<Ngram> list_;
  std::size_t n_words_ = 0, n_kept_ = 0;  // words there, and those of them that are from windows before
  std::size_t n_ngrams_ = 0, name_bytes_ = 0;
};

}  // namespace riata::words
