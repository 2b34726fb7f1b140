// Named features, numbered as they come: from the 63-bit key of a name to 0, 1, 2, ... and back to the name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "riata/base/probe_table.hpp"

namespace riata {

class FeatureIndex {
 public:
  // The number of a key, or -1.
  std::int32_t find(std::int64_t key) const noexcept {
    return table_.capacity() == 0 ? -1 : cell(key)->place - 1;
  }
  // The same, among the few from this number on: keys may come in the order in which they came before.
  std::int32_t find_near(std::int32_t number, std::int64_t key) const noexcept {
    const auto first = static_cast<std::size_t>(number);
    const std::size_t end = std::min(first + kNear, keys_.size());
    for (std::size_t k = first; k < end; ++k)
      if (keys_[k] == key) return static_cast<std::int32_t>(k);
    return -1;
  }
  // The number of a key, which joins with its name if it is new.
  std::int32_t add(std::int64_t key, std::string_view name) {
    const auto is_empty = [](const Cell& cell) { return cell.place == 0; };
    if (table_.is_full() && !table_.grow(is_empty, [&](const Cell& cell) { return key_of(cell); }))
      throw std::bad_alloc();
    Cell* const found = cell(key);
    if (found->place == 0) {
      make_room(keys_, 1);
      make_room(offsets_, 1);
      make_room(names_, name.size());
      keys_.push_back(key);
      names_.insert(names_.end(), name.begin(), name.end());
      offsets_.push_back(static_cast<std::int64_t>(names_.size()));
      table_.put(found, static_cast<std::uint64_t>(key),
                 {static_cast<std::int32_t>(keys_.size()), tag_of(key)});
    }
    return found->place - 1;
  }
  std::string_view name(std::size_t number) const noexcept {
    const auto start = static_cast<std::size_t>(offsets_[number]),
               end = static_cast<std::size_t>(offsets_[number + 1]);
    return {reinterpret_cast<const char*>(names_.data()) + start, end - start};
  }
  std::size_t size() const noexcept { return keys_.size(); }
  struct Arrays {
    std::vector<std::int64_t> keys;
    std::vector<std::int64_t> offsets;  // where names begin among all their bytes; the last is where they end
    std::vector<std::uint8_t> names;
  };
  Arrays arrays() const { return {keys_, offsets_, names_}; }
  // The same without a copy: nothing is left.
  Arrays take() {
    table_ = ProbeTable<Cell>();
    return {std::exchange(keys_, {}), std::exchange(offsets_, {0}), std::exchange(names_, {})};
  }

  // Ask for what a key will be looked up in: first the cell, a while later the key that is there.
  void prefetch(std::int64_t key) const noexcept {
    if (table_.capacity() != 0) table_.prefetch(static_cast<std::uint64_t>(key));
  }
  void prefetch_key(std::int64_t key) const noexcept {
    if (table_.capacity() == 0) return;
    const Cell& cell = table_.likely(static_cast<std::uint64_t>(key));
    if (cell.place != 0) __builtin_prefetch(keys_.data() + cell.place - 1);
  }
  // The first features, so many, with so many bytes of names.
  void reserve(std::size_t features, std::size_t bytes) {
    keys_.reserve(features);
    offsets_.reserve(features + 1);
    names_.reserve(bytes);
  }

 private:
  // Large arrays grow by an eighth and not to twice their size.
  template <class T>
  static void make_room(std::vector<T>& in, std::size_t more) {
    if (in.size() + more > in.capacity() && in.size() > kLarge) in.reserve(in.size() + in.size() / 8 + more);
  }
  struct Cell {
    std::int32_t place;  // 1 + number, 0 for empty
    std::uint32_t tag;   // half of the key: others are told apart without a look at theirs
  };
  static std::uint32_t tag_of(std::int64_t key) noexcept { return static_cast<std::uint32_t>(key); }
  std::uint64_t key_of(const Cell& cell) const noexcept {
    return static_cast<std::uint64_t>(keys_[static_cast<std::size_t>(cell.place - 1)]);
  }
  Cell* cell(std::int64_t key) const noexcept {
    const auto wanted = static_cast<std::uint64_t>(key);
    const std::uint32_t tag = tag_of(key);
    return table_.find(wanted, [&](const Cell& cell) {
      return cell.place == 0 || (cell.tag == tag && key_of(cell) == wanted);
    });
  }

  static constexpr std::size_t kLarge = 1 << 16, kNear = 4;

  ProbeTable<Cell> table_;
  std::vector<std::int64_t> keys_, offsets_{0};
  std::vector<std::uint8_t> names_;
};

}  // namespace riata
