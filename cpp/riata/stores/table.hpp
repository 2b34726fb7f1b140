// The table store: only what is alive.
//
// As long as keys are small numbers and most of them are alive, or the array is small, rows lie in the order
// of their keys. Otherwise they lie side by side in the order they came, those of the dead are used again,
// and a directory says where the row of a key is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>

#include "riata/hash.hpp"
#include "riata/stores/dense.hpp"
#include "riata/stores/directory.hpp"
#include "riata/stores/names.hpp"

namespace riata {

class TableStore {
 public:
  static constexpr bool kDirect = false;  // a row must be looked for, and may not be there
  static constexpr bool kDistinct = true;
  static constexpr std::uint32_t kNowhere = Directory::kNone;

  TableStore(int width, int) noexcept : width_(static_cast<std::uint64_t>(width)), stride_(width_) {}
  TableStore(const TableStore&) = delete;
  TableStore& operator=(const TableStore&) = delete;

  static bool possible(std::uint64_t key) noexcept { return key <= kKeyMask; }

  // Rows of an empty table can be given names; then all of them have one, kept for as long as the row is.
  bool named() const noexcept { return named_; }
  bool set_named() noexcept {
    if (named_) return true;
    if (by_number() ? count(0, top_) != 0 || !directory_.open() : size_ != 0) return false;
    arena_ = ZeroPages();
    top_ = size_ = 0;
    free_ = kNone;
    named_ = true;
    stride_ = width_ + 2;
    return true;
  }
  std::string_view name(std::uint64_t key) const noexcept {
    const std::uint64_t place = named_ ? place_of(key) : kNone;
    return place == kNone ? std::string_view{} : names_.name(name_word(place));
  }

  // The row of a key, or null. Valid until a row is inserted. In the order of keys it may be one of zeros.
  double* find(std::uint64_t key) const noexcept {
    if (by_number()) return inside(key) ? number(key) : nullptr;
    const std::uint64_t place = place_of(key);
    return place == kNone ? nullptr : row(place);
  }

  // In the order of keys.
  bool by_number() const noexcept { return !directory_.is_open(); }
  bool inside(std::uint64_t key) const noexcept { return key < top_; }
  double* number(std::uint64_t key) const noexcept { return arena_.as<double>() + key * width_; }
  // Room for a key, in the same order or, from now on, with a directory. False: memory is exhausted.
  bool admit(std::uint64_t key) noexcept { return inside(key) || grow_array(key) || leave_array(); }

  // With a directory, for many keys at once. In a large table they are worth fetching long before: first the
  // entry of each, then the row.
  bool large() const noexcept { return (by_number() ? top_ : size_) > kCached; }
  template <class Index>
  void fetch_entries(const Index* keys, std::size_t n) const noexcept {
    const Part* const parts = directory_.parts();
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint64_t scattered = scatter(static_cast<std::uint64_t>(keys[k]));
      parts[Directory::number_of(scattered)].prefetch(scattered);
    }
  }
  template <class Index>
  void fetch_rows(const Index* keys, std::size_t n, std::uint32_t* places) const noexcept {
    const Part* const parts = directory_.parts();
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint64_t scattered = scatter(static_cast<std::uint64_t>(keys[k]));
      places[k] = parts[Directory::number_of(scattered)].guess(scattered);
      prefetch_slot(places[k]);
    }
  }
  // Rows that are where they most likely are. The others' numbers come to `others`; returned is how many.
  template <class Index>
  std::size_t find_likely(const Index* keys, std::size_t n, double** rows,
                          std::uint32_t* others) const noexcept {
    const Part* const parts = directory_.parts();
    return find_where(keys, n, rows, others, [&](std::size_t k) {
      const std::uint64_t scattered = scatter(static_cast<std::uint64_t>(keys[k]));
      return parts[Directory::number_of(scattered)].guess(scattered);
    });
  }
  template <class Index>
  std::size_t find_fetched(const Index* keys, std::size_t n, const std::uint32_t* places, double** rows,
                           std::uint32_t* others) const noexcept {
    return find_where(keys, n, rows, others, [&](std::size_t k) { return places[k]; });
  }
  // The same for a single key, in either order.
  void prefetch_entry(std::uint64_t key) const noexcept {
    const std::uint64_t scattered = scatter(key);
    if (!by_number()) directory_.part(scattered).prefetch(scattered);
  }
  void prefetch_row(std::uint64_t key) const noexcept {
    if (by_number()) {
      for (std::uint64_t word = 0; word < width_; word += 8) __builtin_prefetch(number(key) + word);
    } else {
      const std::uint64_t scattered = scatter(key);
      prefetch_slot(directory_.part(scattered).guess(scattered));
    }
  }

  // The row of a key, put there if need be: zeros or uninitialised. A table that is full first lets go of
  // rows for which `needed` says no. Null: memory is exhausted, or 2^32 rows are alive; nothing has changed.
  template <class Needed>
  double* insert(std::uint64_t key, std::string_view name, Needed needed) noexcept {
    if (by_number()) {
      if (!admit(key)) return nullptr;
      if (by_number()) return number(key);
    }
    const std::uint64_t scattered = scatter(key);
    if (free_ == kNone && top_ == capacity() && !make_room(needed)) return nullptr;
    if (!directory_.reserve(scattered, [&](std::uint32_t at) { return scatter(key_at(at)); })) return nullptr;

    const std::uint64_t place = free_ == kNone ? top_ : free_;
    Part& part = directory_.part(scattered);
    const std::uint32_t there =
        part.insert(scattered, static_cast<std::uint32_t>(place),
                    [&](std::uint32_t other) { return slot(other)[0] == word_of_key(key); });
    if (there != place) return row(there);
    if (named_) {
      const std::uint64_t word = names_.keep(name);
      if (word == 0) {
        part.erase(scattered, there);
        return nullptr;
      }
      name_word(place) = word;
    }
    if (place == free_) {
      free_ = slot(place)[1];
    } else {
      ++top_;
    }
    slot(place)[0] = word_of_key(key);
    ++size_;
    return row(place);
  }
  double* restore(std::uint64_t key, std::string_view name) noexcept {
    return possible(key) ? insert(key, name, [](const double*) { return true; }) : nullptr;
  }

  void erase(std::uint64_t key) noexcept {
    if (by_number()) {
      if (inside(key)) std::fill_n(number(key), width_, 0.0);
    } else if (const std::uint64_t place = place_of(key); place != kNone) {
      erase_place(key, place);
    }
  }

  // Looks at the next few rows, round and round, and erases those for which `needed` says no.
  template <class Needed>
  void sweep(std::uint64_t rows, Needed needed) noexcept {
    for (std::uint64_t k = 0; k < rows && top_ > 0; ++k, ++swept_) {
      if (swept_ >= top_) end_round();
      if (by_number()) {
        double* row = number(swept_);
        const bool there = !blank(row);
        if (there && !needed(row)) {
          std::fill_n(row, width_, 0.0);
        } else {
          alive_ += there;
        }
      } else if (occupied(swept_) && !needed(row(swept_))) {
        erase_place(key_at(swept_), swept_);
      }
    }
  }

  template <class Visit>  // visit(key, row), in no particular order
  void for_each(Visit visit) const {
    for (std::uint64_t place = 0; place < top_; ++place) {
      if (by_number()) {
        if (!blank(number(place))) visit(place, number(place));
      } else if (occupied(place)) {
        visit(key_at(place), row(place));
      }
    }
  }

  std::uint64_t size() const noexcept { return by_number() ? count(0, top_) : size_; }
  std::uint64_t bytes() const noexcept { return arena_.bytes() + directory_.bytes(); }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::uint64_t kNumbers = std::uint64_t{1} << 24;  // keys below may be places
  static constexpr std::uint64_t kSmall = std::uint64_t{1} << 23;    // bytes of an array that may be sparse
  static constexpr std::uint64_t kCached = std::uint64_t{1} << 15;   // up to here looking ahead does not pay
  static constexpr std::uint64_t kMost = (std::uint64_t{1} << 32) - 2;

  std::uint64_t capacity() const noexcept { return arena_.bytes() / (stride_ * sizeof(std::uint64_t)); }

  // With a directory. A slot: the key and a bit that says occupied, the row, and where rows have names, a
  // word for the name. A free slot: 0, and the place of the next one.
  std::uint64_t* slot(std::uint64_t place) const noexcept {
    return arena_.as<std::uint64_t>() + place * stride_;
  }
  static std::uint64_t word_of_key(std::uint64_t key) noexcept { return key << 1 | 1; }
  double* row(std::uint64_t place) const noexcept { return reinterpret_cast<double*>(slot(place) + 1); }
  bool occupied(std::uint64_t place) const noexcept { return slot(place)[0] != 0; }
  std::uint64_t key_at(std::uint64_t place) const noexcept { return slot(place)[0] >> 1; }
  std::uint64_t& name_word(std::uint64_t place) const noexcept { return slot(place)[stride_ - 1]; }

  void prefetch_slot(std::uint64_t place) const noexcept {
    const std::uint64_t* first = slot(place);
    __builtin_prefetch(first);
    for (std::uint64_t word = 8; word < stride_; word += 8) __builtin_prefetch(first + word);
    __builtin_prefetch(first + width_);
  }
  template <class Index, class Place>
  std::size_t find_where(const Index* keys, std::size_t n, double** rows, std::uint32_t* others,
                         Place place) const noexcept {
    std::uint64_t nothing[1] = {0};
    std::uint64_t* const slots = top_ == 0 ? nothing : arena_.as<std::uint64_t>();
    const std::uint64_t stride = stride_;
    std::size_t missed = 0;
    for (std::size_t k = 0; k < n; ++k) {
      std::uint64_t* const slot = slots + place(k) * stride;
      rows[k] = reinterpret_cast<double*>(slot + 1);
      others[missed] = static_cast<std::uint32_t>(k);
      missed += slot[0] != word_of_key(static_cast<std::uint64_t>(keys[k]));
    }
    return missed;
  }

  std::uint64_t place_of(std::uint64_t key) const noexcept {
    const std::uint64_t scattered = scatter(key);
    const std::uint32_t place = directory_.part(scattered).find(
        scattered, [&](std::uint32_t at) { return slot(at)[0] == word_of_key(key); });
    return place == kNowhere ? kNone : place;
  }

  void erase_place(std::uint64_t key, std::uint64_t place) noexcept {
    const std::uint64_t scattered = scatter(key);
    directory_.part(scattered).erase(scattered, static_cast<std::uint32_t>(place));
    if (named_) names_.drop(name_word(place));
    slot(place)[0] = 0;
    slot(place)[1] = free_;
    free_ = place;
    --size_;
  }

  // Room for one more row: the dead make it if they are many, else the arena grows by an eighth.
  template <class Needed>
  bool make_room(Needed needed) noexcept {
    std::uint64_t dead = 0;
    for (std::uint64_t place = 0; place < top_; ++place) {
      if (!occupied(place) || needed(row(place))) continue;
      erase_place(key_at(place), place);
      ++dead;
    }
    if (dead > top_ / 8) return true;
    const std::uint64_t wanted = capacity() + capacity() / 8 + 64;
    return (capacity() < kMost && arena_.grow(wanted * stride_ * sizeof(std::uint64_t))) || free_ != kNone;
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
  // An array of so many rows takes more than rows with a directory would.
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
    return true;
  }

  // From now on with a directory. False: memory is exhausted, and nothing has changed.
  bool leave_array() noexcept {
    const std::uint64_t stride = width_ + 1, size = count(0, top_);
    ZeroPages arena;
    Directory directory;
    const auto scattered_at = [&](std::uint64_t at) {
      return scatter(arena.as<std::uint64_t>()[at * stride] >> 1);
    };
    if (!arena.grow((size + size / 8 + 64) * stride * sizeof(std::uint64_t)) || !directory.open())
      return false;
    std::uint64_t moved = 0;
    for (std::uint64_t key = 0; key < top_; ++key) {
      if (blank(number(key))) continue;
      std::uint64_t* slot = arena.as<std::uint64_t>() + moved * stride;
      slot[0] = word_of_key(key);
      std::memcpy(slot + 1, number(key), width_ * sizeof(double));
      const std::uint64_t scattered = scatter(key);
      if (!directory.reserve(scattered, scattered_at)) return false;
      directory.part(scattered).insert(scattered, static_cast<std::uint32_t>(moved++),
                                       [](std::uint32_t) { return false; });
    }
    arena_ = std::move(arena);
    directory_ = std::move(directory);
    stride_ = stride;
    top_ = size_ = size;
    swept_ = 0;
    return true;
  }

  // The sweep has seen all rows.
  void end_round() noexcept {
    if (by_number() && wasteful(top_, alive_)) leave_array();  // if there is memory for both; else later
    swept_ = alive_ = 0;
  }

  std::uint64_t width_, stride_;  // words in a row; from one to the next
  bool named_ = false;
  ZeroPages arena_;
  std::uint64_t top_ = 0, free_ = kNone;  // places up to top_ have been used; the first that is free again
  std::uint64_t size_ = 0;                // with a directory: rows that are there
  std::uint64_t swept_ = 0, alive_ = 0;   // where the sweep is; in the order of keys, what it has seen alive
  Directory directory_;                   // not open: the place of a key is the key
  NameArena names_;
};

}  // namespace riata
