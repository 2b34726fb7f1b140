// From the keys of features to the slots where their state is, for slots that are only ever added: open
// addressing over slot numbers, the keys themselves stay with their owner.
#pragma once

#include <cstdint>
#include <vector>

#include "riata/base/hash.hpp"

namespace riata {

class SlotMap {
 public:
  static bool possible(std::uint64_t key) noexcept { return key <= kKeyMask; }

  // The slot of a key among `keys`, or 0.
  std::int64_t find(std::uint64_t key, const std::vector<std::int64_t>& keys) const noexcept {
    if (places_.empty()) return 0;
    for (std::uint64_t i = home(key);; i = (i + 1) & (places_.size() - 1)) {
      const std::int64_t slot = places_[i];
      if (slot == 0 || keys[static_cast<std::size_t>(slot)] == static_cast<std::int64_t>(key)) return slot;
    }
  }

  // keys.back() has come.
  void add(const std::vector<std::int64_t>& keys) {
    if (places_.size() < 2 * keys.size()) {
      rebuild(keys);
    } else {
      put(keys, keys.size() - 1);
    }
  }

  // Keys that are below zero have no place.
  void rebuild(const std::vector<std::int64_t>& keys) {
    std::size_t size = places_.empty() ? 64 : places_.size();
    while (size < 2 * keys.size()) size *= 2;
    places_.assign(size, 0);
    for (std::size_t slot = 0; slot < keys.size(); ++slot)
      if (keys[slot] >= 0) put(keys, slot);
  }

 private:
  std::uint64_t home(std::uint64_t key) const noexcept { return (scatter(key) >> 20) & (places_.size() - 1); }
  void put(const std::vector<std::int64_t>& keys, std::size_t slot) noexcept {
    std::uint64_t i = home(static_cast<std::uint64_t>(keys[slot]));
    while (places_[i] != 0) i = (i + 1) & (places_.size() - 1);
    places_[i] = static_cast<std::int64_t>(slot);
  }

  std::vector<std::int64_t> places_;  // a power of two of them; 0 is empty: slot 0 belongs to no key
};

}  // namespace riata
