// Named features, numbered as they come: from the 63-bit key of a name to 0, 1, 2, ... and back to the name.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "riata/base/probe_table.hpp"

namespace riata {

class FeatureIndex {
 public:
  // The number of a key, or -1.
  std::int32_t find(std::int64_t key) const noexcept { return table_.capacity() == 0 ? -1 : *cell(key) - 1; }
  // The number of a key, which joins with its name if it is new.
  std::int32_t add(std::int64_t key, std::string_view name) {
    const auto is_empty = [](std::int32_t cell) { return cell == 0; };
    if (table_.is_full() && !table_.grow(is_empty, [&](std::int32_t cell) { return key_of(cell); }))
      throw std::bad_alloc();
    std::int32_t* const found = cell(key);
    if (*found == 0) {
      keys_.push_back(key);
      names_.append(name);
      ends_.push_back(static_cast<std::int64_t>(names_.size()));
      table_.put(found, static_cast<std::uint64_t>(key), static_cast<std::int32_t>(keys_.size()));
    }
    return *found - 1;
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
  std::uint64_t key_of(std::int32_t cell) const noexcept {
    return static_cast<std::uint64_t>(keys_[static_cast<std::size_t>(cell - 1)]);
  }
  std::int32_t* cell(std::int64_t key) const noexcept {
    const auto wanted = static_cast<std::uint64_t>(key);
    return table_.find(wanted, [&](std::int32_t cell) { return cell == 0 || key_of(cell) == wanted; });
  }

  ProbeTable<std::int32_t> table_;  // 1 + number, 0 for empty
  std::vector<std::int64_t> keys_, ends_;
  std::string names_;
};

}  // namespace riata
