// The table store: only what is alive. Rows lie side by side in the order they came, those of the dead are
// used again, and a directory says where the row of a key is: an array by number while all keys are small,
// then a hash table in 64 parts that grow one at a time, at loads spread from part to part, so that no growth
// is a long pause.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "riata/hash.hpp"
#include "riata/stores/dense.hpp"
#include "riata/stores/directory.hpp"
#include "riata/stores/names.hpp"

namespace riata {

class TableStore {
 public:
  static constexpr bool kDirect = false;  // a row must be looked for, and may not be there
  static constexpr bool kDistinct = true;

  TableStore(int width, int) noexcept : stride_(static_cast<std::uint64_t>(width) + 1) {}
  TableStore(const TableStore&) = delete;
  TableStore& operator=(const TableStore&) = delete;
  ~TableStore() {
    for (std::uint64_t place = 0; named_ && place < top_; ++place)
      if (occupied(place)) drop_name(name_word(place));
  }

  static bool possible(std::uint64_t key) noexcept { return key <= kKeyMask; }

  // Rows of an empty table can be given names; then all of them have one, kept for as long as the row is.
  bool named() const noexcept { return named_; }
  bool set_named() noexcept {
    if (named_) return true;
    if (size_ != 0) return false;
    top_ = 0;
    free_ = kNone;
    named_ = true;
    ++stride_;
    return true;
  }
  std::string_view name(std::uint64_t key) const noexcept {
    const std::uint64_t place = place_of(key);
    return named_ && place != kNone ? name_at(name_word(place)) : std::string_view{};
  }

  // The row of a key, or null. Valid until a row is inserted.
  double* find(std::uint64_t key) const noexcept {
    const std::uint64_t place = place_of(key);
    return place == kNone ? nullptr : row(place);
  }

  // For a key whose row will be looked for: first its entry in the directory, and once that has come, the
  // row.
  bool large() const noexcept { return size_ > kCached; }
  void prefetch_entry(std::uint64_t key) const noexcept {
    if (parts_ == nullptr) {
      if (key < numbers()) __builtin_prefetch(by_number_.as<std::uint32_t>() + key);
    } else {
      const std::uint64_t scattered = scatter(key);
      parts_[scattered >> 57].prefetch(scattered);
    }
  }
  void prefetch_row(std::uint64_t key) const noexcept {
    constexpr auto none = static_cast<std::uint32_t>(kNone);
    std::uint32_t place;
    if (parts_ == nullptr) {
      place = key < numbers() ? by_number_.as<std::uint32_t>()[key] - 1 : none;
    } else {
      const std::uint64_t scattered = scatter(key);
      place = parts_[scattered >> 57].guess(scattered, none);
    }
    if (place == none) return;
    for (std::uint64_t word = 0; word < stride_; word += 8) __builtin_prefetch(slot(place) + word);
  }

  // The row of a key, put there if need be, uninitialised. A table that is full first lets go of rows for
  // which `needed` says no. Null: memory is exhausted, or 2^32 rows are alive; nothing has changed.
  template <class Needed>
  double* insert(std::uint64_t key, std::string_view name, Needed needed) noexcept {
    if (const std::uint64_t place = place_of(key); place != kNone) return row(place);
    if (free_ == kNone && top_ == capacity() && !make_room(needed)) return nullptr;
    const std::uint64_t scattered = scatter(key);
    if (!ready(key, scattered)) return nullptr;
    const std::uint64_t word = named_ ? keep_name(name) : 0;
    if (named_ && word == 0) return nullptr;

    const std::uint64_t place = free_ == kNone ? top_++ : free_;
    if (place == free_) free_ = slot(place)[1];
    slot(place)[0] = key << 1 | 1;
    if (named_) name_word(place) = word;
    if (parts_ == nullptr) {
      by_number_.as<std::uint32_t>()[key] = static_cast<std::uint32_t>(place) + 1;
    } else {
      parts_[scattered >> 57].insert(scattered, static_cast<std::uint32_t>(place));
    }
    ++size_;
    return row(place);
  }
  double* restore(std::uint64_t key, std::string_view name) noexcept {
    return possible(key) ? insert(key, name, [](const double*) { return true; }) : nullptr;
  }

  void erase(std::uint64_t key) noexcept {
    const std::uint64_t place = place_of(key);
    if (place != kNone) erase_place(key, place);
  }

  // Looks at the next few rows, round and round, and erases those for which `needed` says no.
  template <class Needed>
  void sweep(std::uint64_t rows, Needed needed) noexcept {
    for (std::uint64_t k = 0; k < rows && top_ > 0; ++k) {
      if (swept_ >= top_) swept_ = 0;
      if (occupied(swept_) && !needed(row(swept_))) erase_place(key_at(swept_), swept_);
      ++swept_;
    }
  }

  template <class Visit>  // visit(key, row), in no particular order
  void for_each(Visit visit) const {
    for (std::uint64_t place = 0; place < top_; ++place)
      if (occupied(place)) visit(key_at(place), row(place));
  }

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t bytes() const noexcept {
    std::uint64_t directory = by_number_.bytes();
    for (int p = 0; parts_ != nullptr && p < kParts; ++p) directory += parts_[p].bytes();
    return arena_.bytes() + directory;
  }

 private:
  static constexpr int kParts = 64;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::uint64_t kNumbers = std::uint64_t{1} << 24;  // keys below may have an entry each
  static constexpr std::uint64_t kCached = std::uint64_t{1} << 14;   // up to here looking ahead does not pay
  static constexpr std::uint64_t kMost = (std::uint64_t{1} << 32) - 2;

  // A slot: the key and a bit that says occupied, the row, and where rows have names, a word for the name.
  // A free slot: 0, and the place of the next one.
  std::uint64_t* slot(std::uint64_t place) const noexcept {
    return arena_.as<std::uint64_t>() + place * stride_;
  }
  double* row(std::uint64_t place) const noexcept { return reinterpret_cast<double*>(slot(place) + 1); }
  bool occupied(std::uint64_t place) const noexcept { return slot(place)[0] != 0; }
  std::uint64_t key_at(std::uint64_t place) const noexcept { return slot(place)[0] >> 1; }
  std::uint64_t& name_word(std::uint64_t place) const noexcept { return slot(place)[stride_ - 1]; }
  std::uint64_t capacity() const noexcept { return arena_.bytes() / (stride_ * sizeof(std::uint64_t)); }
  std::uint64_t numbers() const noexcept { return by_number_.bytes() / sizeof(std::uint32_t); }

  std::uint64_t place_of(std::uint64_t key) const noexcept {
    if (parts_ == nullptr) {
      const std::uint32_t entry = key < numbers() ? by_number_.as<std::uint32_t>()[key] : 0;
      return static_cast<std::uint64_t>(entry) - 1;
    }
    const std::uint64_t scattered = scatter(key);
    const std::uint32_t* entry = parts_[scattered >> 57].find(
        scattered, [&](std::uint32_t place) { return slot(place)[0] == (key << 1 | 1); });
    return entry == nullptr ? kNone : *entry;
  }

  void erase_place(std::uint64_t key, std::uint64_t place) noexcept {
    if (parts_ == nullptr) {
      by_number_.as<std::uint32_t>()[key] = 0;
    } else {
      const std::uint64_t scattered = scatter(key);
      Part& part = parts_[scattered >> 57];
      part.erase(part.find(scattered, [&](std::uint32_t other) { return other == place; }));
    }
    if (named_) drop_name(name_word(place));
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
    const std::uint64_t wanted = capacity() + capacity() / 8 + 1024;
    return (capacity() < kMost && arena_.grow(wanted * stride_ * sizeof(std::uint64_t))) || free_ != kNone;
  }

  // The directory has room for this key.
  bool ready(std::uint64_t key, std::uint64_t scattered) noexcept {
    if (parts_ == nullptr) {
      if (key < numbers()) return true;
      if (key < kNumbers) return by_number_.grow(std::bit_ceil(key + 1) * sizeof(std::uint32_t));
      if (!to_parts()) return false;
    }
    Part& part = parts_[scattered >> 57];
    if (!part.full() && (part.bytes() == 0 || part.has_end())) {
      if (part.bytes() != 0) return true;
    }
    return part.rebuild(scattered >> 57, [&](std::uint32_t place) { return scatter(key_at(place)); });
  }

  bool to_parts() noexcept {
    std::unique_ptr<Part[]> parts(new (std::nothrow) Part[kParts]);
    if (parts == nullptr) return false;
    const auto scattered_at = [&](std::uint32_t place) { return scatter(key_at(place)); };
    for (std::uint64_t place = 0; place < top_; ++place) {
      if (!occupied(place)) continue;
      const std::uint64_t scattered = scattered_at(static_cast<std::uint32_t>(place));
      Part& part = parts[scattered >> 57];
      if ((part.bytes() == 0 || part.full() || !part.has_end()) &&
          !part.rebuild(scattered >> 57, scattered_at))
        return false;
      part.insert(scattered, static_cast<std::uint32_t>(place));
    }
    parts_ = std::move(parts);
    by_number_ = ZeroPages();
    return true;
  }

  std::uint64_t stride_;  // words in a slot
  bool named_ = false;
  ZeroPages arena_;
  std::uint64_t top_ = 0, free_ = kNone;  // places up to top_ have been used; the first that is free again
  std::uint64_t size_ = 0, swept_ = 0;
  ZeroPages by_number_;            // one more than the place, or 0
  std::unique_ptr<Part[]> parts_;  // null: the directory goes by number
};

}  // namespace riata
