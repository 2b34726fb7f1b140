// Features numbered as they come: a cache holds each name once, and then only its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "riata/base/array.hpp"
#include "riata/base/hash.hpp"
#include "riata/base/probe_table.hpp"
#include "riata/base/utf8.hpp"

namespace riata {

class NameNumbers {
 public:
  // As many as a reader should have to hold in memory: a cache starts anew then.
  static constexpr std::size_t kManyNames = std::size_t{1} << 20, kManyBytes = std::size_t{24} << 20;

  // The first feature gets the number `base`. Where names must be text, one that is none ends `number`.
  explicit NameNumbers(std::uint32_t base = 0, bool text = false, HashKey hash_key = {}) noexcept
      : base_(base), text_(text), hash_key_(hash_key) {}

  bool full() const noexcept { return size() >= kManyNames || names.size() >= kManyBytes; }
  std::size_t size() const noexcept { return ends.size() == 0 ? 0 : ends.size() - 1; }

  enum class Done { all, no_memory, no_numbers, no_text };

  // The numbers of n features. The same key under another name, as somebody's own file may have it, is
  // another feature here. Unless all is done, no number is good, but those given before are.
  Done number(const std::int64_t* from, std::size_t n, const char* text, const std::int64_t* offsets,
              std::uint32_t* out) noexcept {
    constexpr std::size_t kAhead = 16;
    for (std::size_t k = 0; k < n; ++k) {
      if (!make_room()) return Done::no_memory;
      // Until another one is new.
      for (; k < n; ++k) {
        if (k + kAhead < n) cells_.prefetch(static_cast<std::uint64_t>(from[k + kAhead]));
        const Cell& cell = *first_of(from[k]);
        if (cell.state != kOwn) [[unlikely]]
          break;
        out[k] = cell.number;
      }
      if (k == n) break;
      const std::string_view name(text + offsets[k], static_cast<std::size_t>(offsets[k + 1] - offsets[k]));
      if (const Done done = number_new(from[k], name, out[k]); done != Done::all) return done;
    }
    return Done::all;
  }

  Array<char> names;
  Array<std::int64_t> ends;  // of the names; a 0 before them

 private:
  static constexpr std::uint32_t kMost = 0x7fffffff;  // Arrow has signed numbers

  // What a cell is: empty; a key that is the hash of its name, which needs no second look at names; a key
  // that has come with another name, whose features lie where key and name say; or, odd, such a feature, by
  // 31 bits of its name's hash.
  static constexpr std::uint32_t kEmpty = 0, kOwn = 2, kByName = 4;

  struct Cell {
    std::int64_t key;
    std::uint32_t number, state;
  };
  static bool is_empty(const Cell& cell) noexcept { return cell.state == kEmpty; }

  // Where features by name lie.
  static std::uint64_t mixed(std::int64_t key, std::uint32_t state) noexcept {
    return static_cast<std::uint64_t>(key) ^ fold(state, 0x9e3779b97f4a7c15ULL) ^
           static_cast<std::uint64_t>(state) << 32;
  }
  static std::uint64_t place_of(const Cell& cell) noexcept {
    return cell.state % 2 == 1 ? mixed(cell.key, cell.state) : static_cast<std::uint64_t>(cell.key);
  }

  bool make_room() noexcept { return !cells_.is_full() || cells_.grow(is_empty, place_of); }
  Cell* first_of(std::int64_t key) const noexcept {
    return cells_.find(static_cast<std::uint64_t>(key), [key](const Cell& cell) {
      return is_empty(cell) || (cell.key == key && cell.state % 2 == 0);
    });
  }

  // A feature whose key alone does not say which it is.
  Done number_new(std::int64_t key, std::string_view name, std::uint32_t& out) noexcept {
    const std::uint64_t hash = key_of_name(name.data(), name.size(), hash_key_);
    Cell* const first = first_of(key);
    if (is_empty(*first)) {
      const bool own = hash == static_cast<std::uint64_t>(key);
      if (own) return put(first, {key, 0, kOwn}, name, out);
      cells_.put(first, static_cast<std::uint64_t>(key), {key, 0, kByName});
      if (!make_room()) return Done::no_memory;
    }
    const std::uint32_t state = static_cast<std::uint32_t>(hash) | 1;
    Cell* const cell = cells_.find(mixed(key, state), [key, state](const Cell& other) {
      return is_empty(other) || (other.key == key && other.state == state);
    });
    if (is_empty(*cell)) return put(cell, {key, 0, state}, name, out);
    out = cell->number;
    return Done::all;
  }
  Done put(Cell* to, Cell cell, std::string_view name, std::uint32_t& out) noexcept {
    if (const Done done = add(name); done != Done::all) return done;
    out = cell.number = base_ + static_cast<std::uint32_t>(size() - 1);
    cells_.put(to, place_of(cell), cell);
    return Done::all;
  }

  Done add(std::string_view name) noexcept {
    if (text_ && !is_utf8(name)) return Done::no_text;
    if (size() >= kMost - base_) return Done::no_numbers;
    const bool added = (ends.size() > 0 || ends.push_back(0)) && names.append(name.data(), name.size()) &&
                       ends.push_back(static_cast<std::int64_t>(names.size()));
    return added ? Done::all : Done::no_memory;
  }

  ProbeTable<Cell> cells_;
  std::uint32_t base_;
  bool text_;
  HashKey hash_key_;
};

}  // namespace riata
