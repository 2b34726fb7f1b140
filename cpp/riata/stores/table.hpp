// The table store: only what is alive.
//
// As long as keys are small numbers and most of them are alive, or the array is small, rows lie in the order
// of their keys. Otherwise they lie in buckets, by the hashes of their keys.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "riata/base/hash.hpp"
#include "riata/base/zero_pages.hpp"
#include "riata/stores/hash_table.hpp"
#include "riata/stores/names.hpp"
#include "riata/stores/narrow.hpp"
#include "riata/stores/store.hpp"

namespace riata {

class TableStore {
 public:
  static constexpr bool kDirect = false;  // a row must be looked for, and may not be there
  static constexpr bool kDistinct = true;
  static constexpr bool kGroups = false;

  TableStore(int width, int) noexcept : width_(static_cast<std::uint64_t>(width)) {}
  TableStore(const TableStore&) = delete;
  TableStore& operator=(const TableStore&) = delete;
  TableStore& operator=(TableStore&&) = default;  // what was moved from is fit to be destroyed only

  static bool possible(std::uint64_t key) noexcept { return key < kKeyMask; }  // features are counted, too

  // Rows of an empty table can be given names; then all of them have one, kept for as long as the row is.
  bool named() const noexcept { return named_; }
  bool set_named() noexcept {
    if (named_) return true;
    if (size() != 0) return false;
    HashTable buckets;
    if (!buckets.open(width_ + 2)) return false;
    table_ = std::move(buckets);
    arena_ = ZeroPages();
    top_ = swept_ = 0;
    named_ = true;
    return true;
  }
  std::string_view name(std::uint64_t key) const noexcept {
    const std::uint64_t at = named_ ? table_.find(key) : HashTable::kNone;
    return at == HashTable::kNone ? std::string_view{} : names_.name(name_word(at));
  }

  // The row of a key, or null. Valid until a row is inserted. In the order of keys it may be one of zeros.
  double* find(std::uint64_t key) const noexcept {
    if (by_number()) return inside(key) ? number(key) : nullptr;
    const std::uint64_t at = table_.find(key);
    return at == HashTable::kNone ? nullptr : table_.row(at);
  }

  // In the order of keys.
  bool by_number() const noexcept { return !table_.is_open(); }
  bool inside(std::uint64_t key) const noexcept { return key < top_; }
  double* number(std::uint64_t key) const noexcept { return arena_.as<double>() + key * width_; }
  // Room for a key, in the same order or, from now on, in buckets. False: memory is exhausted.
  bool admit(std::uint64_t key) noexcept { return inside(key) || grow_array(key) || leave_array(); }

  // Otherwise. For the many keys of an example: to guess, and to check.
  const HashTable& buckets() const noexcept { return table_; }
  void promote(std::uint64_t at) noexcept { table_.promote(at); }
  // Changes whenever a row may have moved.
  std::uint64_t moves() const noexcept { return moves_ + table_.moves(); }
  // A row that will soon be looked for; in a large table it is worth fetching long before.
  bool large() const noexcept { return bytes() > kCached; }
  void prefetch(std::uint64_t key) const noexcept {
    double* row = by_number() ? number(key) : nullptr;
    if (row == nullptr) table_.guess(&key, 1, &row);
    for (std::uint64_t word = 0; word < width_; word += 8) __builtin_prefetch(row + word);
  }

  // The row of a key, put there if need be: zeros or uninitialised. Other rows may move. Null: memory is
  // exhausted, or nearly 2^32 rows are alive; nothing has changed.
  double* insert(std::uint64_t key, std::string_view name) noexcept {
    if (by_number()) {
      if (!admit(key)) return nullptr;
      if (by_number()) return number(key);
    }
    if (const std::uint64_t at = table_.find(key); at != HashTable::kNone) return table_.row(at);
    return insert_new(key, name);
  }
  // The same in buckets, for a key that has no row.
  double* insert_new(std::uint64_t key, std::string_view name) noexcept {
    if (!table_.reserve()) return nullptr;
    const std::uint64_t word = named_ ? names_.keep(name) : 0;
    if (named_ && word == 0) return nullptr;
    const std::uint64_t at = table_.add(key);
    if (named_) name_word(at) = word;
    return table_.row(at);
  }
  double* restore(std::uint64_t key, std::string_view name) noexcept {
    return possible(key) ? insert(key, name) : nullptr;
  }

  void erase(std::uint64_t key) noexcept {
    if (by_number()) {
      if (inside(key)) std::fill_n(number(key), width_, 0.0);
    } else if (const std::uint64_t at = table_.find(key); at != HashTable::kNone) {
      remove(at);
      table_.tidy();
      table_.shrink();
    }
  }

  // Looks at the next few rows, round and round, and erases those for which `is_live` says no. Rows move.
  template <LiveTest IsLive>
  void sweep(std::uint64_t rows, IsLive is_live) noexcept {
    if (!by_number()) {
      due_ = std::min(due_ + rows, table_.groups() * HashTable::kGroup);
      for (; due_ >= HashTable::kGroup; due_ -= HashTable::kGroup) sweep_group(is_live);
      return;
    }
    for (std::uint64_t k = 0; k < rows && top_ > 0; ++k, ++swept_) {
      if (swept_ >= top_) end_round();
      if (!by_number()) return;
      double* row = number(swept_);
      const bool there = !blank(row);
      if (there && !is_live(row)) {
        std::fill_n(row, width_, 0.0);
      } else {
        alive_ += there;
      }
    }
  }

  // Of every row only the numbers that stand at these places, which ascend, in this order. Rows move.
  void narrow(const std::vector<int>& kept) {
    if (by_number()) {
      narrow_rows<double>(arena_, top_, width_, kept);
      ++moves_;
    } else {
      std::vector<int> words{0};  // the key, and behind the row its name
      for (const int place : kept) words.push_back(place + 1);
      if (named_) words.push_back(static_cast<int>(width_) + 1);
      table_.narrow(words);
    }
    width_ = kept.size();
  }

  template <class Visit>  // visit(key, row), in no particular order
  void for_each(Visit visit) const {
    for (std::uint64_t key = 0; key < top_; ++key)
      if (!blank(number(key))) visit(key, number(key));
    for (std::uint64_t group = 0; group < table_.groups(); ++group) {
      for (std::uint32_t some = table_.occupied(group); some != 0; some &= some - 1) {
        const std::uint64_t at = HashTable::first_of(group, some);
        visit(table_.key(at), table_.row(at));
      }
    }
  }

  std::uint64_t size() const noexcept { return by_number() ? count(0, top_) : table_.size(); }
  std::uint64_t bytes() const noexcept { return by_number() ? arena_.bytes() : table_.bytes(); }

 private:
  static constexpr std::uint64_t kNumbers = std::uint64_t{1} << 24;  // keys below may be places
  static constexpr std::uint64_t kSmall = std::uint64_t{1} << 23;    // bytes of an array that may be sparse
  static constexpr std::uint64_t kCached = std::uint64_t{1} << 20;   // bytes; looking ahead does not pay yet

  // In buckets. Where rows have names, a word for the name stands behind each.
  std::uint64_t& name_word(std::uint64_t at) const noexcept { return table_.slot(at)[width_ + 1]; }
  void remove(std::uint64_t at) noexcept {
    if (named_) names_.drop(name_word(at));
    table_.erase(at);
  }
  template <LiveTest IsLive>
  void sweep_group(IsLive is_live) noexcept {
    if (swept_ >= table_.groups()) {
      table_.shrink_if_at_rest();
      swept_ = 0;
    }
    // Of what lies in all of its slots, whatever that is: a branch would cost more.
    static_assert(HashTable::kGroup == kGroupRows);
    const std::uint32_t alive = is_live.group(table_.row(swept_ * HashTable::kGroup), table_.words());
    std::uint32_t dead = table_.occupied(swept_) & ~alive;
    if (dead != 0) due_ += HashTable::kGroup / 2;  // where some are, others may be near
    for (; dead != 0; dead &= dead - 1) remove(HashTable::first_of(swept_, dead));
    ++swept_;
    table_.tidy();
  }

  // In the order of keys. Rows without a bit that is set are not there.
  bool blank(const double* row) const noexcept {
    std::uint64_t all = 0, word;
    for (std::uint64_t c = 0; c < width_; ++c) {
      std::memcpy(&word, row + c, sizeof word);
      all |= word;
    }
    return all == 0;
  }
  std::uint64_t count(std::uint64_t from, std::uint64_t to) const noexcept {
    std::uint64_t there = 0;
    for (std::uint64_t key = from; key < to; ++key) there += !blank(number(key));
    return there;
  }
  // An array of so many rows takes more than rows in buckets would.
  bool wasteful(std::uint64_t rows, std::uint64_t alive) const noexcept {
    const std::uint64_t bytes = rows * width_ * sizeof(double);
    return bytes > kSmall && bytes > alive * (width_ + 3) * sizeof(double);
  }
  // To a power of two as long as that is small: keys are inside where the bitwise or of them is.
  bool grow_array(std::uint64_t key) noexcept {
    if (key >= kNumbers) return false;
    const std::uint64_t row_bytes = width_ * sizeof(double);
    std::uint64_t rows = std::bit_ceil(key + 1);
    if (rows * row_bytes > kSmall) rows = key + 1 + key / 4;
    const bool sparse = rows * row_bytes > kSmall && wasteful(rows, count(0, top_));
    if (sparse || !arena_.grow(rows * row_bytes)) return false;
    top_ = rows;
    ++moves_;
    return true;
  }

  // From now on in buckets. False: memory is exhausted, and nothing has changed.
  bool leave_array() noexcept {
    HashTable buckets;
    if (!buckets.open(width_ + 1)) return false;
    for (std::uint64_t key = 0; key < top_; ++key) {
      if (blank(number(key))) continue;
      if (!buckets.reserve()) return false;
      std::memcpy(buckets.row(buckets.add(key)), number(key), width_ * sizeof(double));
    }
    table_ = std::move(buckets);
    arena_ = ZeroPages();
    top_ = swept_ = 0;
    ++moves_;
    return true;
  }

  // The sweep has seen all rows.
  void end_round() noexcept {
    if (by_number() && wasteful(top_, alive_)) leave_array();  // if there is memory for both; else later
    swept_ = alive_ = 0;
  }

  std::uint64_t width_;  // words in a row
  bool named_ = false;
  ZeroPages arena_;                      // in the order of keys
  std::uint64_t top_ = 0;                // up to here
  std::uint64_t swept_ = 0, alive_ = 0;  // where the sweep is; in the order of keys, what it has seen alive
  std::uint64_t due_ = 0;                // in buckets: slots that it has still to look at
  std::uint64_t moves_ = 0;
  HashTable table_;  // not open: the place of a key is the key
  NameArena names_;
};

}  // namespace riata
