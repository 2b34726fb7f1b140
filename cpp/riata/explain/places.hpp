// From the keys of features to the rows of a table of weights. Small numbers are looked up in an array, others by
// a hash.
#pragma once

#include <cstdint>
#include <new>
#include <vector>

#include "riata/base/probe_table.hpp"

namespace riata {

class Places {
 public:
  // keys: distinct, none below zero.
  explicit Places(std::vector<std::int64_t> keys) : keys_(std::move(keys)) {
    std::int64_t largest = -1;
    for (const std::int64_t key : keys_) largest = key > largest ? key : largest;
    const auto count = static_cast<std::int64_t>(keys_.size());
    if (largest < kSmall || largest / kSparse < count) {
      array_.assign(static_cast<std::size_t>(largest + 1), -1);
      for (std::size_t k = 0; k < keys_.size(); ++k)
        array_[static_cast<std::size_t>(keys_[k])] = static_cast<std::int32_t>(k);
      return;
    }
    const auto is_empty = [](std::int32_t cell) { return cell == 0; };
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      if (table_.is_full() && !table_.grow(is_empty, [&](std::int32_t cell) { return key_of(cell); }))
        throw std::bad_alloc();
      const auto key = static_cast<std::uint64_t>(keys_[k]);
      table_.put(cell(key), key, static_cast<std::int32_t>(k + 1));
    }
  }

  std::int32_t find(std::int64_t key) const noexcept {
    if (table_.capacity() == 0)
      return static_cast<std::uint64_t>(key) < array_.size() ? array_[static_cast<std::size_t>(key)] : -1;
    return *cell(static_cast<std::uint64_t>(key)) - 1;
  }
  void prefetch(std::int64_t key) const noexcept {
    if (table_.capacity() != 0) table_.prefetch(static_cast<std::uint64_t>(key));
  }

 private:
  static constexpr std::int64_t kSmall = 1 << 16, kSparse = 16;

  std::uint64_t key_of(std::int32_t cell) const noexcept {
    return static_cast<std::uint64_t>(keys_[static_cast<std::size_t>(cell - 1)]);
  }
  std::int32_t* cell(std::uint64_t key) const noexcept {
    return table_.find(key, [&](std::int32_t cell) { return cell == 0 || key_of(cell) == key; });
  }

  std::vector<std::int64_t> keys_;
  std::vector<std::int32_t> array_;  // by key: its place, or -1
  ProbeTable<std::int32_t> table_;   // 1 + place, 0 for empty
};

}  // namespace riata
