// Which namespace or column each name belongs to.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace riata {

// Groups are numbered as they come. Group 0 is that of names without a group.
class NameGroups {
 public:
  NameGroups(const std::vector<std::string>& columns, std::size_t most)
      : most_(most), columns_(columns.begin(), columns.end()) {
    names_.emplace_back();
  }

  // `namespace^feature`, `column=value`, or the column itself. Of groups beyond the most: -1.
  std::int32_t of(std::string_view name) {
    std::size_t sign = 0;
    std::uint32_t sum = 0;
    for (; sign < name.size() && name[sign] != '^' && name[sign] != '='; ++sign)
      sum = std::rotl(sum, 5) ^ static_cast<unsigned char>(name[sign]);
    if (sign == name.size() && columns_.find(name) == columns_.end()) return 0;
    const std::string_view group = name.substr(0, sign);
    Numbers::const_pointer& recent = recent_[(sum ^ sum >> 8) % kRecent];
    if (recent != nullptr && recent->first == group) return recent->second;
    auto found = numbers_.find(group);
    if (found == numbers_.end()) {
      if (names_.size() > most_) return -1;
      names_.emplace_back(group);
      found = numbers_.emplace(group, static_cast<std::int32_t>(names_.size() - 1)).first;
    }
    recent = &*found;  // which stays where it is
    return found->second;
  }

  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  struct Hash {  // of strings and of parts of others
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>()(text);
    }
  };

  std::size_t most_;
  std::unordered_set<std::string, Hash, std::equal_to<>> columns_;
  using Numbers = std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>>;
  static constexpr std::size_t kRecent = 256;

  Numbers numbers_;
  std::array<Numbers::const_pointer, kRecent> recent_{};  // found before, by a sum of their bytes
  std::vector<std::string> names_;
};

}  // namespace riata
