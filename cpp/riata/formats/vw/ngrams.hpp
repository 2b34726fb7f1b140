// Vowpal Wabbit text with the n-grams of its namespaces written out, and without those that are ignored.
//
// The n-grams of a line stand behind all else in it, as features `a^b` of their namespace: what was there keeps its
// column, and a line that cannot be read is found wrong where it is. A namespace that is ignored leaves its bar.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "riata/text/scan.hpp"

namespace riata::vw {

struct NgramOptions {
  std::vector<std::pair<std::string, int>> ngrams;  // up to so many features in a row, by namespace
  int all = 0;                                      // of namespaces that are not named there; 0: none
  std::vector<std::string> ignored;
};

class NgramText {
 public:
  explicit NgramText(const NgramOptions& options) : options_(options) {}

  // Whole lines to whole lines. Throws std::bad_alloc.
  std::string expand(std::string_view text) {
    std::string made;
    made.reserve(2 * text.size());
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      expand_line(text.substr(begin, end - begin), made);
      if (end < text.size()) made += '\n';
      begin = end + 1;
    }
    return made;
  }

 private:
  struct Space {
    std::string_view name;
    int most = 0;
    std::vector<std::string> features;  // in their order, those that are zero left out
  };

  void expand_line(std::string_view line, std::string& made) {
    std::size_t used = 0;
    std::size_t bar = line.find('|');
    made.append(line.substr(0, std::min(bar, line.size())));
    while (bar < line.size()) {
      const std::size_t next = std::min(line.find('|', bar + 1), line.size());
      const std::string_view section = line.substr(bar, next - bar);
      std::size_t name_end = 1;
      while (name_end < section.size() && !is_blank(section[name_end]) && section[name_end] != ':')
        ++name_end;
      const std::string_view name = section.substr(1, name_end - 1);
      if (is_ignored(name)) {
        made += '|';
        made.append(section.size() - 1, ' ');
      } else {
        made.append(section);
        if (const int most = most_of(name); most > 1)
          collect(space_of(name, most, used), section.substr(name_end));
      }
      bar = next;
    }
    for (std::size_t s = 0; s < used; ++s) write(spaces_[s], made);
  }

  bool is_ignored(std::string_view name) const noexcept {
    for (const std::string& ignored : options_.ignored)
      if (name == ignored) return true;
    return false;
  }

  int most_of(std::string_view name) const noexcept {
    for (const auto& [known, most] : options_.ngrams)
      if (name == known) return most;
    return options_.all;
  }

  // Those of one line: a namespace that it names again goes on.
  Space& space_of(std::string_view name, int most, std::size_t& used) {
    for (std::size_t s = 0; s < used; ++s)
      if (spaces_[s].name == name) return spaces_[s];
    if (used == spaces_.size()) spaces_.emplace_back();
    Space& space = spaces_[used++];
    space.name = name;
    space.most = most;
    space.features.clear();
    return space;
  }

  // The features behind the name of a namespace and its weight.
  static void collect(Space& space, std::string_view rest) {
    std::size_t at = 0;
    if (at < rest.size() && rest[at] == ':') {
      const std::size_t begin = ++at;
      while (at < rest.size() && !is_blank(rest[at])) ++at;
      if (is_zero(rest.substr(begin, at - begin))) return;
    }
    std::size_t unnamed = 0;
    while (at < rest.size()) {
      while (at < rest.size() && is_blank(rest[at])) ++at;
      const std::size_t begin = at;
      while (at < rest.size() && !is_blank(rest[at])) ++at;
      if (at == begin) break;
      const std::string_view word = rest.substr(begin, at - begin);
      const std::size_t colon = word.find(':');
      const bool zero = colon < word.size() && is_zero(word.substr(colon + 1));
      std::string name(word.substr(0, std::min(colon, word.size())));
      if (name.empty()) name = std::to_string(unnamed++);
      if (!zero) space.features.push_back(std::move(name));
    }
  }

  static bool is_zero(std::string_view number) noexcept {
    bool digit = false;
    for (const char c : number) {
      if (c == 'e' || c == 'E') break;
      if (c >= '1' && c <= '9') return false;
      digit = digit || c == '0';
    }
    return digit;
  }

  static void write(const Space& space, std::string& made) {
    const std::vector<std::string>& features = space.features;
    if (features.size() < 2) return;
    made += " |";
    made.append(space.name);
    for (int n = 2; n <= space.most; ++n) {
      for (std::size_t i = 0; i + static_cast<std::size_t>(n) <= features.size(); ++i) {
        made += ' ';
        for (int k = 0; k < n; ++k) {
          if (k > 0) made += '^';
          made += features[i + static_cast<std::size_t>(k)];
        }
      }
    }
  }

  const NgramOptions& options_;
  std::vector<Space> spaces_;
};

}  // namespace riata::vw
