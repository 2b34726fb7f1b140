// What stands before the first bar of a line of Vowpal Wabbit text: `label weight initial 'tag`, each of
// which may be absent. The last word is the tag if it starts with a quote or touches the bar.
//
// Vowpal Wabbit puts labels of other kinds in the same place. They are told apart by their form, so that none
// of them is taken for a number.
#pragma once

#include <cstring>
#include <string_view>

#include "riata/block/target.hpp"

namespace riata::vw {

// The words before the bar, as many as a label may have and one more.
struct Words {
  static constexpr int kMost = 4;
  std::string_view word[kMost];
  int count = 0;
  std::string_view tag;
};

inline ErrorKind foreign_label(std::string_view first) noexcept {
  if (first == "shared") return "label_shared";
  if (first == "ccb") return "label_ccb";
  if (first == "slates") return "label_slates";
  if (first == "ca") return "label_continuous";
  std::size_t colons = 0;
  for (const char c : first) {
    if (c == ',') return "label_several";
    colons += c == ':';
  }
  return colons == 0 ? nullptr : colons == 1 ? "label_costs" : "label_bandit";
}

// Splits what is before the bar, leaving p at the bar. On error p is where it is.
inline ErrorKind split_words(const char*& p, Words& words) noexcept {
  if (*p == '{') return "json";
  for (;;) {
    while (*p == ' ') ++p;
    if (*p == '|') return nullptr;
    if (*p == '\n' || *p == '\r') return "bar_missing";
    if (!words.tag.empty()) return "tag_not_last";
    const char* const start = p;
    while (*p != ' ' && *p != '|' && *p != '\n' && *p != '\r' && *p != '\t') ++p;
    if (*p == '\t') return "tab";
    const std::string_view word(start, static_cast<std::size_t>(p - start));
    if (*start == '\'' || *p == '|') {
      words.tag = word;
    } else {
      if (words.count == Words::kMost) return p = words.word[Words::kMost - 1].data(), "label_long";
      words.word[words.count++] = word;
    }
  }
}

inline ErrorKind read_label(const char*& p, bool labelled, Target& target) noexcept {
  const char* const start = p;
  Words words;
  ErrorKind kind = split_words(p, words);
  if (words.count > 0) {
    if (const ErrorKind foreign = foreign_label(words.word[0])) return p = start, foreign;
  }
  if (kind != nullptr) return kind;
  if (words.count == 0) {
    if (!labelled) return nullptr;
    const bool like_label =
        !words.tag.empty() && (is_digit(words.tag[0]) || words.tag[0] == '-' || words.tag[0] == '+');
    return p = start, like_label ? "label_touches_bar" : "label_missing";
  }
  const char* const bar = p;
  p = words.word[0].data();
  kind = read_word(words.word[0], target.label, "label_syntax", "label_not_finite", "label_too_large");
  if (kind != nullptr || words.count == 1) return kind == nullptr ? (p = bar, kind) : kind;
  p = words.word[1].data();
  kind = read_word(words.word[1], target.weight, "weight_syntax", "weight_not_finite", "weight_not_finite");
  if (kind != nullptr) return kind;
  if (const ErrorKind negative = check_weight(target.weight)) return negative;
  if (words.count > 2) {
    p = words.word[2].data();
    kind =
        read_word(words.word[2], target.offset, "initial_syntax", "initial_not_finite", "initial_too_large");
    if (kind != nullptr) return kind;
    if (!is_float(target.offset)) return "initial_too_large";
  }
  if (words.count > 3) return p = words.word[3].data(), "label_long";
  p = bar;
  return nullptr;
}

}  // namespace riata::vw
