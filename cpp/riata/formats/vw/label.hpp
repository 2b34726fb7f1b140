// What stands before the first bar of a line of Vowpal Wabbit text: `label weight initial 'tag`, each of
// which may be absent. The last word is the tag if it starts with a quote or touches the bar.
//
// Vowpal Wabbit puts labels of other kinds in the same place. They are told apart by their form, so that none
// of them is taken for a number.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "riata/text/number.hpp"

namespace riata::vw {

struct Label {
  double value = std::numeric_limits<double>::quiet_NaN();
  double weight = 1;
  double initial = 0;  // prediction: what the features are to add to
};

// nullptr if all is well, else what is wrong: a key of the messages.
using Kind = const char*;

// The words before the bar, as many as a label may have and one more.
struct Words {
  static constexpr int kMost = 4;
  std::string_view word[kMost];
  int count = 0;
  std::string_view tag;
};

inline bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

inline Kind foreign_label(std::string_view first) noexcept {
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

template <class Float>
Kind read_word(std::string_view word, Float& value, Kind syntax, Kind not_finite, Kind too_large) noexcept {
  const Number<Float> number = read_number<Float>(word.data());
  if (number.error == NumberError::not_finite) return not_finite;
  if (number.error == NumberError::syntax || number.end != word.data() + word.size()) return syntax;
  if (number.error == NumberError::too_large) return too_large;
  value = number.value;
  return nullptr;
}

// Splits what is before the bar, leaving p at the bar. On error p is where it is.
inline Kind split_words(const char*& p, Words& words) noexcept {
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

inline Kind read_label(const char*& p, bool labelled, Label& label) noexcept {
  const char* const start = p;
  Words words;
  Kind kind = split_words(p, words);
  if (words.count > 0) {
    if (const Kind foreign = foreign_label(words.word[0])) return p = start, foreign;
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
  kind = read_word(words.word[0], label.value, "label_syntax", "label_not_finite", "label_too_large");
  if (kind != nullptr || words.count == 1) return kind == nullptr ? (p = bar, kind) : kind;
  p = words.word[1].data();
  kind = read_word(words.word[1], label.weight, "weight_syntax", "weight_not_finite", "weight_not_finite");
  if (kind != nullptr) return kind;
  if (label.weight < 0) return "weight_negative";
  if (words.count > 2) {
    p = words.word[2].data();
    kind =
        read_word(words.word[2], label.initial, "initial_syntax", "initial_not_finite", "initial_too_large");
    if (kind != nullptr) return kind;
    if (std::fabs(label.initial) > std::numeric_limits<float>::max()) return "initial_too_large";
  }
  if (words.count > 3) return p = words.word[3].data(), "label_long";
  p = bar;
  return nullptr;
}

}  // namespace riata::vw
