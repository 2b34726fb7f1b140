// Open addressing with linear probing, for what is only ever added: cells by 64-bit keys.
//
// A cell of zero bytes is empty; what a full one holds, and whether its key is in it, is its owner's matter.
// The hash multiplies by a number that everybody may know. Where a cell lies farther from its place than
// chance would have it, somebody has chosen the keys: then the next growth takes a hash that nobody knows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "riata/base/memory_pool.hpp"
#include "riata/base/random_word.hpp"

namespace riata {

template <class Cell>
class ProbeTable {
  static_assert(std::is_trivially_copyable_v<Cell>);

 public:
  ProbeTable() noexcept = default;
  ProbeTable(const ProbeTable& other)
      : cells_(other.capacity_ == 0 ? nullptr : allocate(other.capacity_)),
        capacity_(other.capacity_),
        used_(other.used_),
        room_(other.room_),
        used_at_rehash_(other.used_at_rehash_),
        hash_(other.hash_),
        shift_(other.shift_) {
    if (capacity_ == 0) return;
    if (cells_ == nullptr) throw std::bad_alloc();
    std::memcpy(cells_, other.cells_, bytes());
  }
  ProbeTable(ProbeTable&& other) noexcept { *this = std::move(other); }
  ProbeTable& operator=(ProbeTable&& other) noexcept {
    std::swap(cells_, other.cells_);
    std::swap(capacity_, other.capacity_);
    std::swap(used_, other.used_);
    std::swap(room_, other.room_);
    std::swap(used_at_rehash_, other.used_at_rehash_);
    std::swap(hash_, other.hash_);
    std::swap(shift_, other.shift_);
    return *this;
  }
  ~ProbeTable() { release(cells_, capacity_); }

  std::size_t size() const noexcept { return used_; }
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t bytes() const noexcept { return capacity_ * sizeof(Cell); }
  // What it takes once it has grown for more cells than it has room for.
  std::size_t bytes_when_grown() const noexcept { return std::max(2 * capacity_, kLeast) * sizeof(Cell); }
  const Cell* begin() const noexcept { return cells_; }
  const Cell* end() const noexcept { return cells_ + capacity_; }

  // There is none for one more cell: the owner calls `grow`, after which there is.
  bool is_full() const noexcept { return used_ >= room_; }

  void prefetch(std::uint64_t key) const noexcept { __builtin_prefetch(cells_ + home(key)); }
  // The cell where the key would be best: its own, most of the time.
  const Cell& likely(std::uint64_t key) const noexcept { return cells_[home(key)]; }

  // The first cell on the key's way for which `stop` holds; it must hold for empty ones. There are some
  // unless the table has never grown.
  template <class Stop>
  Cell* find(std::uint64_t key, Stop stop) const noexcept {
    const std::size_t mask = capacity_ - 1;
    std::size_t at = home(key);
    while (!stop(cells_[at])) at = (at + 1) & mask;
    return cells_ + at;
  }
  // To the empty cell that `find` has found for this key; the table is not full.
  void put(Cell* to, std::uint64_t key, const Cell& cell) noexcept {
    *to = cell;
    ++used_;
    const std::size_t distance = (static_cast<std::size_t>(to - cells_) - home(key)) & (capacity_ - 1);
    if (distance > kFarthest && used_ >= 2 * used_at_rehash_) [[unlikely]]
      room_ = 0;  // the keys are chosen: hash anew, at most once for every doubling
  }

  // Room for at least one more. key_of(cell) is the key of a cell that is not empty. False: there is no
  // memory, and nothing has changed.
  template <class IsEmpty, class KeyOf>
  bool grow(IsEmpty is_empty, KeyOf key_of) noexcept {
    const bool crowded = room_ == 0 && capacity_ != 0;
    const std::size_t wanted = capacity_ == 0 ? kLeast : crowded ? capacity_ : 2 * capacity_;
    Cell* const cells = allocate(wanted);
    if (cells == nullptr) return false;
    Cell* const old = std::exchange(cells_, cells);
    const std::size_t old_capacity = std::exchange(capacity_, wanted);
    room_ = wanted / 8 * 5;
    shift_ = 64 - std::countr_zero(wanted);
    if (crowded) {
      hash_ = SecretHash::draw(cells_);
      used_at_rehash_ = used_;
    }
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (is_empty(old[i])) continue;
      *find(key_of(old[i]), is_empty) = old[i];
    }
    release(old, old_capacity);
    return !is_full() || grow(is_empty, key_of);
  }

 private:
  static constexpr std::size_t kLeast = 16;
  static constexpr std::size_t kFarthest =
      1024;  // at this load, not reached by chance in any table that fits

  std::size_t home(std::uint64_t key) const noexcept {
    if (hash_.second != 0) [[unlikely]]
      return hash_.home(key, shift_);
    return static_cast<std::size_t>(key * hash_.first >> shift_);
  }

  // Large tables in large pages: cells are looked up all over the place.
  static Cell* allocate(std::size_t capacity) noexcept {
    const std::size_t bytes = capacity * sizeof(Cell);
    if (bytes < pages::kLargePage) return static_cast<Cell*>(std::calloc(capacity, sizeof(Cell)));
    return static_cast<Cell*>(MemoryPool::allocate_pages(pages::round_up(bytes)));
  }
  static void release(Cell* cells, std::size_t capacity) noexcept {
    const std::size_t bytes = capacity * sizeof(Cell);
    if (bytes < pages::kLargePage) {
      std::free(cells);
    } else {
      MemoryPool::free_pages(cells, pages::round_up(bytes));
    }
  }

  Cell* cells_ = nullptr;
  std::size_t capacity_ = 0;  // a power of two
  std::size_t used_ = 0, room_ = 0;
  std::size_t used_at_rehash_ = 0;
  SecretHash hash_{0x9e3779b97f4a7c15ULL, 0};  // a second number of 0: the keys have not been chosen
  int shift_ = 63;  // the highest bits of the product: those that all bits of a key have a part in
};

}  // namespace riata
