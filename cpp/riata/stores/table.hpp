// The table store: only what is alive.
//
// As long as keys are small numbers and most of them are alive, or the array is small, rows lie in the order
// of their keys. Otherwise they lie side by side in the order they came, the last one takes the place of one
// that dies, and a directory says where the row of a key is.
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
  using Place = Directory::Place;

  TableStore(int width, int) noexcept : width_(static_cast<std::uint64_t>(width)), stride_(width_) {}
  TableStore(const TableStore&) = delete;
  TableStore& operator=(const TableStore&) = delete;

  static bool possible(std::uint64_t key) noexcept { return key <= kKeyMask; }

  // Rows of an empty table can be given names; then all of them have one, kept for as long as the row is.
  bool named() const noexcept { return named_; }
  bool set_named() noexcept {
    if (named_) return true;
    if (size() != 0) return false;
    ZeroPages arena;
    if (!grow(arena, kLeast * (width_ + 2))) return false;
    if (by_number() && !directory_.open()) return false;
    arena_ = std::move(arena);
    top_ = touched_ = Directory::kFirst;
    swept_ = 0;
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

  // With a directory, for many keys at once. In a large table they are worth fetching long before.
  bool large() const noexcept { return top_ > kCached; }
  template <class Index>
  void fetch_rows(const Index* keys, std::size_t n, Place* places) const noexcept {
    const Directory::Home* const homes = directory_.homes();
    const std::uint64_t* const slots = arena_.as<std::uint64_t>();
    const std::uint64_t stride = stride_;
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint64_t place = Directory::guess(homes, scatter(static_cast<std::uint64_t>(keys[k])));
      places[k] = static_cast<Place>(place);
      __builtin_prefetch(slots + place * stride + 1);
    }
  }
  // Rows that are where they most likely are. The others' numbers come to `others`; returned is how many.
  template <class Index>
  std::size_t find_likely(const Index* keys, std::size_t n, double** rows,
                          std::uint32_t* others) const noexcept {
    const Directory::Home* const homes = directory_.homes();
    return find_where(keys, n, rows, others, [&](std::size_t k) {
      return Directory::guess(homes, scatter(static_cast<std::uint64_t>(keys[k])));
    });
  }
  template <class Index>
  std::size_t find_fetched(const Index* keys, std::size_t n, const Place* places, double** rows,
                           std::uint32_t* others) const noexcept {
    return find_where(keys, n, rows, others, [&](std::size_t k) -> std::uint64_t { return places[k]; });
  }
  // One of the others, or null. The next time it is likely to be found with the many.
  double* find_other(std::uint64_t key) noexcept {
    const std::uint64_t place = directory_.find_and_promote(
        scatter(key), [&](std::uint64_t at) { return slot(at)[0] == word_of_key(key); });
    return place == Directory::kEmpty ? nullptr : row(place);
  }
  // The same for a single key, in either order.
  void prefetch_entry(std::uint64_t key) const noexcept {
    if (!by_number()) directory_.prefetch(scatter(key));
  }
  void prefetch_row(std::uint64_t key) const noexcept {
    if (by_number()) {
      for (std::uint64_t word = 0; word < width_; word += 8) __builtin_prefetch(number(key) + word);
    } else {
      prefetch_slot(directory_.guess(scatter(key)));
    }
  }

  // The row of a key, put there if need be: zeros or uninitialised. Other rows may move as a whole. Null:
  // memory is exhausted, or 2^32 rows are alive; nothing has changed.
  double* insert(std::uint64_t key, std::string_view name) noexcept {
    if (by_number()) {
      if (!admit(key)) return nullptr;
      if (by_number()) return number(key);
    }
    const std::uint64_t scattered = scatter(key), place = top_;
    if (top_ >= capacity() && (top_ >= kMost || !grow(arena_, (top_ + top_ / 8 + kLeast) * stride_)))
      return nullptr;
    if (!reserve(directory_, arena_.as<std::uint64_t>(), stride_, scattered, place)) return nullptr;
    const std::uint64_t there = directory_.insert(
        scattered, place, [&](std::uint64_t other) { return slot(other)[0] == word_of_key(key); });
    if (there != place) return row(there);
    if (!write_key(key, name, place)) return nullptr;
    touched_ = std::max(touched_, ++top_);
    return row(place);
  }
  double* restore(std::uint64_t key, std::string_view name) noexcept {
    return possible(key) ? insert(key, name) : nullptr;
  }

  void erase(std::uint64_t key) noexcept {
    if (by_number()) {
      if (inside(key)) std::fill_n(number(key), width_, 0.0);
    } else if (const std::uint64_t place = place_of(key); place != kNone) {
      remove(static_cast<Place>(place));
    }
  }

  // With a directory, for a step that lets in some rows and shows out others. Looks at up to kBatch of the
  // next rows, finds those for which `needed` says no, and has their entries come from memory. Returns how
  // many; they are still there, to be replaced, removed (the last ones first) or met again.
  static constexpr std::uint64_t kBatch = 32;
  template <class Needed>
  std::size_t find_dead(std::uint64_t rows, Needed needed, Place* dead) noexcept {
    if (swept_ < Directory::kFirst || swept_ >= top_) swept_ = Directory::kFirst;
    const std::uint64_t end = std::min(swept_ + rows, top_);
    std::size_t count = 0;
    for (; swept_ < end; ++swept_) {
      dead[count] = static_cast<Place>(swept_);
      count += !needed(row(swept_));
    }
    for (std::size_t i = 0; i < count; ++i) directory_.prefetch(scatter(key_at(dead[i])));
    return count;
  }
  void look_again(Place place) noexcept { swept_ = place; }
  // Like insert, in the place of a dead row, unless the key has one already.
  double* replace(Place dead, std::uint64_t key, std::string_view name) noexcept {
    const std::uint64_t scattered = scatter(key);
    if (!reserve(directory_, arena_.as<std::uint64_t>(), stride_, scattered, dead)) return nullptr;
    const std::uint64_t there = directory_.insert(
        scattered, dead, [&](std::uint64_t other) { return slot(other)[0] == word_of_key(key); });
    if (there != dead) return row(there);
    forget(dead);
    return write_key(key, name, dead) ? row(dead) : nullptr;
  }
  // The last row takes the place of one that goes.
  void remove(Place place) noexcept {
    forget(place);
    drop_slot(place);
    if (top_ + top_ / 8 + kLeast < touched_) release();
  }

  // Looks at the next few rows, round and round, and erases those for which `needed` says no. Rows move.
  template <class Needed>
  void sweep(std::uint64_t rows, Needed needed) noexcept {
    if (!by_number()) {
      for (; rows > 0; rows -= std::min(rows, kBatch)) {
        Place dead[kBatch];
        for (std::size_t count = find_dead(std::min(rows, kBatch), needed, dead); count > 0;)
          remove(dead[--count]);
      }
      return;
    }
    for (std::uint64_t k = 0; k < rows && top_ > 0; ++k, ++swept_) {
      if (swept_ >= top_) end_round();
      if (!by_number()) return;
      double* row = number(swept_);
      const bool there = !blank(row);
      if (there && !needed(row)) {
        std::fill_n(row, width_, 0.0);
      } else {
        alive_ += there;
      }
    }
  }

  template <class Visit>  // visit(key, row), in no particular order
  void for_each(Visit visit) const {
    for (std::uint64_t place = by_number() ? 0 : Directory::kFirst; place < top_; ++place) {
      if (!by_number()) {
        visit(key_at(place), row(place));
      } else if (!blank(number(place))) {
        visit(place, number(place));
      }
    }
  }

  std::uint64_t size() const noexcept { return by_number() ? count(0, top_) : top_ - Directory::kFirst; }
  std::uint64_t bytes() const noexcept {
    if (by_number()) return arena_.bytes();
    return touched_ * stride_ * sizeof(std::uint64_t) + directory_.bytes();
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::uint64_t kNumbers = std::uint64_t{1} << 24;  // keys below may be places
  static constexpr std::uint64_t kSmall = std::uint64_t{1} << 23;    // bytes of an array that may be sparse
  static constexpr std::uint64_t kCached = std::uint64_t{1} << 15;   // up to here looking ahead does not pay
  static constexpr std::uint64_t kMost = (std::uint64_t{1} << 32) - 2;
  static constexpr std::uint64_t kLeast = 64;                     // slots
  static constexpr std::uint64_t kTiny = std::uint64_t{1} << 20;  // bytes

  std::uint64_t capacity() const noexcept { return arena_.bytes() / (stride_ * sizeof(std::uint64_t)); }

  // With a directory. A slot: the key and a bit that says occupied, the row, and where rows have names, a
  // word for the name. Places before the first hold none.
  std::uint64_t* slot(std::uint64_t place) const noexcept {
    return arena_.as<std::uint64_t>() + place * stride_;
  }
  static std::uint64_t word_of_key(std::uint64_t key) noexcept { return key << 1 | 1; }
  double* row(std::uint64_t place) const noexcept { return reinterpret_cast<double*>(slot(place) + 1); }
  std::uint64_t key_at(std::uint64_t place) const noexcept { return slot(place)[0] >> 1; }
  std::uint64_t& name_word(std::uint64_t place) const noexcept { return slot(place)[stride_ - 1]; }

  void prefetch_slot(std::uint64_t place) const noexcept {
    const std::uint64_t* first = slot(place);
    __builtin_prefetch(first);
    for (std::uint64_t word = 8; word < stride_; word += 8) __builtin_prefetch(first + word);
    __builtin_prefetch(first + width_);
  }
  template <class Index, class PlaceOf>
  std::size_t find_where(const Index* keys, std::size_t n, double** __restrict rows,
                         std::uint32_t* __restrict others, PlaceOf place_of) const noexcept {
    std::uint64_t* const slots = arena_.as<std::uint64_t>();
    const std::uint64_t stride = stride_;
    std::size_t missed = 0;
    const auto find_one = [&](std::size_t k) __attribute__((always_inline)) {
      const auto key = static_cast<std::uint64_t>(keys[k]);
      std::uint64_t* const slot = slots + place_of(k) * stride;
      rows[k] = reinterpret_cast<double*>(slot + 1);
      others[missed] = static_cast<std::uint32_t>(k);
      missed += slot[0] != word_of_key(key);
    };
    std::size_t k = 0;
    for (; k + 4 <= n; k += 4)
      for (std::size_t i = 0; i < 4; ++i) find_one(k + i);
    for (; k < n; ++k) find_one(k);
    return missed;
  }

  std::uint64_t place_of(std::uint64_t key) const noexcept {
    const std::uint64_t place =
        directory_.find(scatter(key), [&](std::uint64_t at) { return slot(at)[0] == word_of_key(key); });
    return place == Directory::kEmpty ? kNone : place;
  }

  // Room in the directory for one more key, whose rows lie in these slots.
  static bool reserve(Directory& directory, const std::uint64_t* slots, std::uint64_t stride,
                      std::uint64_t scattered, std::uint64_t place) noexcept {
    return directory.reserve(
        scattered, place, [=](std::uint64_t at) { return scatter(slots[at * stride] >> 1); },
        [=](std::uint64_t at) { __builtin_prefetch(slots + at * stride); });
  }

  // The key of a place, once the directory has it. False: memory is exhausted, and nobody has the place.
  bool write_key(std::uint64_t key, std::string_view name, std::uint64_t place) noexcept {
    if (named_) {
      const std::uint64_t word = names_.keep(name);
      if (word == 0) {
        directory_.erase(scatter(key), place);
        if (place != top_) drop_slot(place);
        return false;
      }
      name_word(place) = word;
    }
    slot(place)[0] = word_of_key(key);
    return true;
  }
  void forget(std::uint64_t place) noexcept {
    directory_.erase(scatter(key_at(place)), place);
    if (named_) names_.drop(name_word(place));
  }
  // The last row moves to a place that nobody has.
  void drop_slot(std::uint64_t place) noexcept {
    if (place != --top_) {
      directory_.move(scatter(key_at(top_)), top_, place);
      std::memcpy(slot(place), slot(top_), stride_ * sizeof(std::uint64_t));
    }
    slot(top_)[0] = 0;
  }
  // Few are left of those that were: their memory goes back.
  void release() noexcept {
    const std::uint64_t* const slots = arena_.as<std::uint64_t>();
    arena_.release_after(top_ * stride_ * sizeof(std::uint64_t));
    directory_.shrink([&](std::uint64_t at) { return scatter(slots[at * stride_] >> 1); });
    touched_ = top_;
  }

  // Room for so many words. Beyond some size it never moves again, and what is not written to costs nothing.
  static bool grow(ZeroPages& arena, std::uint64_t words) noexcept {
    const std::uint64_t bytes = words * sizeof(std::uint64_t);
    return bytes < kTiny ? arena.grow(2 * bytes) : arena.grow_packed(bytes);
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
    if (!grow(arena, (size + size / 8 + kLeast) * stride) || !directory.open()) return false;
    auto* const slots = arena.as<std::uint64_t>();
    std::uint64_t next = Directory::kFirst;
    for (std::uint64_t key = 0; key < top_; ++key) {
      if (blank(number(key))) continue;
      slots[next * stride] = word_of_key(key);
      std::memcpy(slots + next * stride + 1, number(key), width_ * sizeof(double));
      const std::uint64_t scattered = scatter(key);
      if (!reserve(directory, slots, stride, scattered, next)) return false;
      directory.insert(scattered, next++, [](std::uint64_t) { return false; });
    }
    arena_ = std::move(arena);
    directory_ = std::move(directory);
    stride_ = stride;
    top_ = touched_ = next;
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
  std::uint64_t top_ = 0;                // places up to here are in use
  std::uint64_t touched_ = 0;            // with a directory: places that take memory
  std::uint64_t swept_ = 0, alive_ = 0;  // where the sweep is; in the order of keys, what it has seen alive
  Directory directory_;                  // not open: the place of a key is the key
  NameArena names_;
};

}  // namespace riata
