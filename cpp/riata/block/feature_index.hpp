// Named features, numbered as they come: from the 63-bit key of a name to 0, 1, 2, ... and back to the name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "riata/base/hash.hpp"

namespace riata {

class FeatureIndex {
 public:
  // The number of a key, or -1.
  std::int32_t find(std::int64_t key) const noexcept {
    if (cells_.empty()) return -1;
    const std::int32_t cell = cells_[place(key)];
    return cell - 1;
  }
  // The number of a key, which joins with its name if it is new.
  std::int32_t add(std::int64_t key, std::string_view name) {
    if ((keys_.size() + 1) * 2 > cells_.size()) grow();
    std::int32_t& cell = cells_[place(key)];
    if (cell == 0) {
      keys_.push_back(key);
      names_.append(name);
      ends_.push_back(static_cast<std::int64_t>(names_.size()));
      cell = static_cast<std::int32_t>(keys_.size());
    }
    return cell - 1;
  }
  std::string_view name(std::size_t number) const noexcept {
    const auto start = static_cast<std::size_t>(number == 0 ? 0 : ends_[number - 1]);
    return std::string_view(names_).substr(start, static_cast<std::size_t>(ends_[number]) - start);
  }
  std::size_t size() const noexcept { return keys_.size(); }
  const std::vector<std::int64_t>& keys() const noexcept { return keys_; }
  const std::vector<std::int64_t>& ends() const noexcept { return ends_; }
  const std::string& names() const noexcept { return names_; }

 private:
  std::size_t place(std::int64_t key) const noexcept {
    const std::size_t mask = cells_.size() - 1;
    std::size_t at = scatter(static_cast<std::uint64_t>(key)) >> 20 & mask;
    while (cells_[at] != 0 && keys_[static_cast<std::size_t>(cells_[at] - 1)] != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    cells_.assign(cells_.empty() ? 64 : cells_.size() * 2, 0);
    for (std::size_t k = 0; k < keys_.size(); ++k) cells_[place(keys_[k])] = static_cast<std::int32_t>(k + 1);
  }

  std::vector<std::int32_t> cells_;  // 1 + number, 0 for empty
  std::vector<std::int64_t> keys_, ends_;
  std::string names_;
};

}  // namespace riata
