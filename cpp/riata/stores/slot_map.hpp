// From the keys of features to the slots where their state is, for slots that are only ever added. The keys
// themselves stay with their owner.
#pragma once

#include <cstdint>
#include <new>
#include <vector>

#include "riata/base/hash.hpp"
#include "riata/base/probe_table.hpp"

namespace riata {

class SlotMap {
 public:
  static bool possible(std::uint64_t key) noexcept { return key < kKeyMask; }  // features are counted, too

  // The slot of a key among `keys`, or 0.
  std::int64_t find(std::uint64_t key, const std::vector<std::int64_t>& keys) const noexcept {
    return table_.capacity() == 0 ? 0 : *cell(key, keys);
  }

  // keys.back() has come.
  void add(const std::vector<std::int64_t>& keys) { put(keys, keys.size() - 1); }

  // Keys that are below zero have no place.
  void rebuild(const std::vector<std::int64_t>& keys) {
    table_ = ProbeTable<std::int64_t>();
    for (std::size_t slot = 0; slot < keys.size(); ++slot)
      if (keys[slot] >= 0) put(keys, slot);
  }

 private:
  static std::uint64_t key_of(const std::vector<std::int64_t>& keys, std::int64_t slot) noexcept {
    return static_cast<std::uint64_t>(keys[static_cast<std::size_t>(slot)]);
  }
  std::int64_t* cell(std::uint64_t key, const std::vector<std::int64_t>& keys) const noexcept {
    return table_.find(key, [&](std::int64_t slot) { return slot == 0 || key_of(keys, slot) == key; });
  }
  void put(const std::vector<std::int64_t>& keys, std::size_t slot) {
    const auto is_empty = [](std::int64_t cell) { return cell == 0; };
    if (table_.is_full() && !table_.grow(is_empty, [&](std::int64_t cell) { return key_of(keys, cell); }))
      throw std::bad_alloc();
    const auto key = static_cast<std::uint64_t>(keys[slot]);
    table_.put(cell(key, keys), key, static_cast<std::int64_t>(slot));
  }

  ProbeTable<std::int64_t> table_;  // a cell of 0 is empty: slot 0 belongs to no key
};

}  // namespace riata
