// Which namespace or column each name belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace riata {

// Groups are numbered as they come. Group 0 is that of names without a group.
class NameGroups {
 public:
  NameGroups(const std::vector<std::string>& columns, std::size_t most) : most_(most) {
    for (const std::string& column : columns) columns_.emplace(column, 0);
    names_.emplace_back();
  }

  // `namespace^feature`, `column=value`, or the column itself. Of groups beyond the most: -1.
  std::int32_t of(std::string_view name) {
    const std::size_t sign = name.find_first_of("^=");
    if (sign == std::string_view::npos && columns_.find(std::string(name)) == columns_.end()) return 0;
    const std::string_view group = name.substr(0, sign);
    if (group == last_ && last_number_ > 0) return last_number_;
    const auto found = numbers_.find(std::string(group));
    if (found != numbers_.end()) return remember(found);
    if (names_.size() > most_) return -1;
    names_.emplace_back(group);
    return remember(numbers_.emplace(group, static_cast<std::int32_t>(names_.size() - 1)).first);
  }

  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  using Numbers = std::unordered_map<std::string, std::int32_t>;

  std::int32_t remember(Numbers::iterator at) {
    last_ = at->first;
    last_number_ = at->second;
    return at->second;
  }

  std::size_t most_;
  std::unordered_map<std::string, int> columns_;
  Numbers numbers_;
  std::vector<std::string> names_;
  std::string_view last_;
  std::int32_t last_number_ = 0;
};

}  // namespace riata
