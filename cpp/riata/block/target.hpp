// What a row has beside its features: label, weight and offset.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "riata/text/scan.hpp"

namespace riata {

struct Target {
  double label = std::numeric_limits<double>::quiet_NaN();
  double weight = 1;
  double offset = 0;  // added to the score, not learned
};

// The label that a word stands for: its place among `names`, or the number that it is where there are none. What is
// neither is an error, or, where rows need no labels, none.
inline ErrorKind read_label(std::string_view word, const std::vector<std::string>& names, bool needed,
                            double& label) noexcept {
  ErrorKind kind = "label_unknown";
  if (names.empty()) kind = read_word(word, label, "label_syntax", "label_not_finite", "label_too_large");
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == word) return label = static_cast<double>(i), nullptr;
  }
  if (kind == nullptr || needed) return kind;
  return label = Target{}.label, nullptr;
}

inline ErrorKind check_weight(double weight) noexcept { return weight < 0 ? "weight_negative" : nullptr; }

// Scores must stay finite.
inline bool is_float(double offset) noexcept {
  return std::fabs(offset) <= std::numeric_limits<float>::max();
}
inline ErrorKind check_offset(double offset) noexcept {
  return is_float(offset) ? nullptr : "offset_too_large";
}

}  // namespace riata
