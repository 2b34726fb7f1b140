// Rows of named features, as text readers put them together.
//
// A reader writes the name of a feature behind the names so far and adds it. A name that a row has already
// adds its value there: a row has each feature once, in the order of first appearance. Zeros are dropped.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "riata/base/hash.hpp"
#include "riata/base/random_word.hpp"
#include "riata/block/duplicate_keys.hpp"
#include "riata/block/named_rows.hpp"
#include "riata/block/target.hpp"

namespace riata {

class RowBuilder {
 public:
  static constexpr std::size_t kMostFeatures = std::size_t{1} << 26;  // in a row, crosses and all

  RowBuilder(NamedRows& rows, const Crosses& crosses, bool keep_names) noexcept
      : rows_(rows),
        crosses_(crosses),
        keep_names_(keep_names),
        crossing_(!crosses.products.empty()),
        naming_(keep_names_ || crossing_) {}

  // Memory for the rows of a text of so many bytes, as a first guess.
  bool prepare(std::size_t text_bytes) noexcept {
    return prepare(text_bytes / 8 + 16, text_bytes + text_bytes / 4);
  }
  bool prepare(std::size_t features, std::size_t name_bytes) noexcept {
    if (!rows_.indptr.push_back(0) || !grow_slots(256)) return false;
    if (!grow(features) || !rows_.names.reserve((keep_names_ ? name_bytes : 0) + 4096)) return false;
    if (naming_) rows_.name_offsets.data()[0] = 0;
    return true;
  }

  // Where to write a name of up to `size` bytes; nullptr if there is no memory. kNameSlack bytes more may be
  // written.
  char* name_room(std::size_t size) noexcept {
    const std::size_t need = name_end_ + size + kNameSlack;
    if (need > rows_.names.capacity()) {
      rows_.names.set_size(name_end_);
      if (!rows_.names.reserve(2 * need)) return nullptr;
    }
    return reinterpret_cast<char*>(rows_.names.data()) + name_end_;
  }

  void set_group(int group) noexcept { group_ = group; }

  // Where a fast reader writes features itself, at `size` and `name_end`, with kNameSlack bytes
  // behind each name. Repeated ones are found when the row ends. Names are wanted where naming() says so.
  struct Room {
    std::int64_t* keys;
    float* values;
    char* names;
    std::int64_t* name_ends;  // that of feature k is at k + 1
    std::size_t size;
    std::size_t name_end;
    bool zeros = false;  // one of the values is zero
  };
  bool naming() const noexcept { return naming_; }

  // Room for so many features more; false if there is no memory. Nothing may be added until it is closed.
  bool open(std::size_t features, std::size_t name_bytes, Room& room) noexcept {
    if (size_ + features + 1 >= capacity_ && !grow(2 * capacity_ + features)) return false;
    if (name_room(name_bytes) == nullptr) return false;
    room = {rows_.keys.data(),
            rows_.values.data(),
            reinterpret_cast<char*>(rows_.names.data()),
            rows_.name_offsets.data(),
            size_,
            name_end_,
            false};
    return true;
  }
  bool close(const Room& room, bool distinct = false) noexcept {  // distinct: none is twice in the row
    unchecked_ = unchecked_ || !distinct;
    zeros_ = zeros_ || room.zeros;
    for (; crossing_ && size_ < room.size; ++size_) {
      if (!groups_.push_back(group_)) return false;
    }
    size_ = room.size;
    name_end_ = room.name_end;
    return true;
  }

  // The feature whose name of `size` bytes stands at name_room(); whether the row has it already is found out
  // when the row ends.
  Added add_later(std::size_t size, float value) noexcept {
    if (value == 0) return Added::fine;
    const char* const name = reinterpret_cast<const char*>(rows_.names.data()) + name_end_;
    unchecked_ = true;
    if (crossing_ && !groups_.push_back(group_)) return Added::no_memory;
    return append(key_of_padded_name(name, size), size, value);
  }

  // The feature whose name of `size` bytes stands at name_room().
  Added add(std::size_t size, float value) noexcept {
    const char* const name = reinterpret_cast<const char*>(rows_.names.data()) + name_end_;
    return add(key_of_padded_name(name, size), size, value);
  }

  // The feature with this name of `size` bytes, up to 16.
  Added add_short(ShortName name, std::size_t size, float value) noexcept {
    char* const room = name_room(16);
    if (room == nullptr) return Added::no_memory;
    std::memcpy(room, &name, 16);
    const auto low = static_cast<std::uint64_t>(name), high = static_cast<std::uint64_t>(name >> 64);
    return add(key_of_words(low, high, size), size, value);
  }

  // The feature whose name, with this key, stands at name_room().
  Added add(std::uint64_t key, std::size_t size, float value) noexcept {
    if (value == 0) return Added::fine;
    const std::size_t count = size_ - row_start_;
    if (2 * count >= slot_mask_ && !grow_slots(4 * (slot_mask_ + 1))) return Added::no_memory;
    if (size_ + 1 >= capacity_ && !grow(2 * capacity_)) return Added::no_memory;
    const std::uint64_t stamp = static_cast<std::uint64_t>(stamp_) << 32;
    for (std::size_t slot = home(key);; slot = (slot + 1) & slot_mask_) {
      const std::uint64_t held = slots_.data()[slot];
      if ((held ^ stamp) >> 32 != 0) {
        slots_.data()[slot] = stamp | count;
        break;
      }
      const std::size_t entry = row_start_ + static_cast<std::uint32_t>(held);
      if (rows_.keys.data()[entry] == static_cast<std::int64_t>(key)) {
        float& sum = rows_.values.data()[entry];
        sum += value;
        repeated_ = true;
        return std::isfinite(sum) ? Added::fine : Added::too_large;
      }
    }
    put(key, size, value);
    if (crossing_ && !groups_.push_back(group_)) return Added::no_memory;
    return Added::fine;
  }

  // The same for a feature that the row is known not to have yet, where there are no crosses.
  Added append(std::uint64_t key, std::size_t size, float value) noexcept {
    if (size_ + 1 >= capacity_ && !grow(2 * capacity_)) return Added::no_memory;
    put(key, size, value);
    return Added::fine;
  }

  // Where the features of a row go, for a reader that writes several at once: no crosses, none of them twice,
  // none of them zero. Name offsets and names are theirs to write where names are kept.
  struct Tail {
    std::int64_t* keys = nullptr;
    float* values = nullptr;
    std::int64_t* name_offsets = nullptr;
    char* names = nullptr;
    std::size_t size = 0;      // features so far: the next goes to keys[size], its name's end to
    std::size_t name_end = 0;  // name_offsets[size + 1], its name to names + name_end
  };

  // The tail with room for so many features and bytes of names, and kNameSlack more; false: no memory.
  bool open_tail(std::size_t features, std::size_t name_bytes, Tail& tail) noexcept {
    const std::size_t need = size_ + features + 1;
    if (need >= capacity_ && !grow(std::max(need + 1, 2 * capacity_))) return false;
    char* const names = name_room(name_bytes);
    if (names == nullptr) return false;
    tail = {rows_.keys.data(), rows_.values.data(), rows_.name_offsets.data(), names - name_end_, size_,
            name_end_};
    return true;
  }

  void close_tail(const Tail& tail) noexcept {
    size_ = tail.size;
    name_end_ = tail.name_end;
  }

  Added end_row(const Target& target) noexcept {
    if (zeros_) squeeze();
    if (unchecked_) {
      if (const Added added = join_repeats(); added != Added::fine) return added;
    }
    if (repeated_) drop_zeros();
    if (crossing_) {
      if (const Added added = cross(); added != Added::fine) return added;
      if (repeated_) drop_zeros();
    }
    const bool stored = rows_.labels.push_back(target.label) && rows_.weights.push_back(target.weight) &&
                        rows_.lines.push_back(rows_.n_lines) &&
                        rows_.indptr.push_back(static_cast<std::int64_t>(size_));
    if (!stored || !put_offset(target.offset)) return Added::no_memory;
    row_start_ = size_;
    if (naming_ && !keep_names_) rows_.name_offsets.data()[size_] = 0, name_end_ = 0;
    row_name_start_ = name_end_;
    next_row();
    return Added::fine;
  }

  // Forgets what was added since the last row ended.
  void drop_row() noexcept {
    size_ = row_start_;
    name_end_ = row_name_start_;
    next_row();
  }

  void finish() noexcept {
    rows_.keys.set_size(size_);
    rows_.values.set_size(size_);
    rows_.names.set_size(keep_names_ ? name_end_ : 0);
    rows_.name_offsets.set_size(keep_names_ ? size_ + 1 : 0);
  }

 private:
  // Of the row that has just been stored; those before it had none if it is the first.
  bool put_offset(double offset) noexcept {
    if (offset == 0 && rows_.offsets.size() == 0) return true;
    while (rows_.offsets.size() + 1 < rows_.labels.size()) {
      if (!rows_.offsets.push_back(0)) return false;
    }
    return rows_.offsets.push_back(offset);
  }

  void put(std::uint64_t key, std::size_t size, float value) noexcept {
    rows_.keys.data()[size_] = static_cast<std::int64_t>(key);
    rows_.values.data()[size_] = value;
    ++size_;
    if (!naming_) return;
    name_end_ += size;
    rows_.name_offsets.data()[size_] = static_cast<std::int64_t>(name_end_);
  }

  void next_row() noexcept {
    ++stamp_;
    repeated_ = unchecked_ = zeros_ = false;
    groups_.set_size(0);
    group_ = Crosses::kNone;
  }

  bool grow(std::size_t capacity) noexcept {
    rows_.keys.set_size(size_);
    rows_.values.set_size(size_);
    rows_.name_offsets.set_size(capacity_ == 0 ? 0 : size_ + 1);
    if (!rows_.keys.reserve(capacity) || !rows_.values.reserve(capacity)) return false;
    if (naming_ && !rows_.name_offsets.reserve(capacity + 1)) return false;
    capacity_ = capacity;
    return true;
  }

  std::size_t home(std::uint64_t key) const noexcept { return hash_.home(key, slot_shift_); }

  // An empty table that finds the features of the current row again.
  bool grow_slots(std::size_t slots) noexcept {
    if (!slots_.reserve(slots)) return false;
    std::fill_n(slots_.data(), slots, std::uint64_t{0});
    slot_mask_ = slots - 1;
    slot_shift_ = 64 - std::countr_zero(slots);
    index_row([](std::size_t, std::size_t) {});
    return true;
  }

  // Calls join(place of the first, place of another) in the row for features that it has more than once.
  template <class Join>
  void index_row(Join join) noexcept {
    const std::uint64_t stamp = static_cast<std::uint64_t>(stamp_) << 32;
    const std::int64_t* const keys = rows_.keys.data() + row_start_;
    for (std::size_t place = 0; place < size_ - row_start_; ++place) {
      std::size_t slot = home(static_cast<std::uint64_t>(keys[place]));
      for (; (slots_[slot] ^ stamp) >> 32 == 0; slot = (slot + 1) & slot_mask_) {
        const auto first = static_cast<std::uint32_t>(slots_[slot]);
        if (keys[first] != keys[place]) continue;
        join(first, place);
        break;
      }
      if ((slots_[slot] ^ stamp) >> 32 != 0) slots_.data()[slot] = stamp | place;
    }
  }

  // Adds up what was added without a look at what the row has. A feature that came before leaves a zero.
  Added join_repeats() noexcept {
    unchecked_ = false;
    const std::size_t count = size_ - row_start_;
    const std::int64_t* const keys = rows_.keys.data() + row_start_;
    bool finite = true;
    const auto join = [&](std::size_t first, std::size_t again) {
      float* const values = rows_.values.data() + row_start_;
      values[first] += values[again];
      values[again] = 0;
      finite = finite && std::isfinite(values[first]);
      repeated_ = true;
    };
    const bool few = duplicates_.find(keys, count, join);
    if (!few || crossing_) {
      if (2 * count >= slot_mask_ && !grow_slots(std::bit_ceil(4 * count))) return Added::no_memory;
      ++stamp_;
      index_row(join);
    }
    return finite ? Added::fine : Added::too_large;
  }

  // A repeated feature may have summed up to nothing.
  void drop_zeros() noexcept {
    repeated_ = false;
    if (!squeeze() || !crossing_) return;
    ++stamp_;
    index_row([](std::size_t, std::size_t) {});
  }

  // Takes zeros out of the row; false if there are none.
  bool squeeze() noexcept {
    std::size_t kept = row_start_;
    for (std::size_t entry = row_start_; entry < size_; ++entry) {
      if (rows_.values[entry] == 0) continue;
      if (kept != entry) move_entry(entry, kept);
      ++kept;
    }
    if (kept == size_) return false;
    size_ = kept;
    if (naming_) name_end_ = static_cast<std::size_t>(rows_.name_offsets[kept]);
    if (crossing_) groups_.set_size(std::min(groups_.size(), kept - row_start_));
    return true;
  }

  void move_entry(std::size_t from, std::size_t to) noexcept {
    rows_.keys.data()[to] = rows_.keys[from];
    rows_.values.data()[to] = rows_.values[from];
    if (!naming_) return;
    std::uint8_t* const names = rows_.names.data();
    std::int64_t* const offsets = rows_.name_offsets.data();
    const std::int64_t size = offsets[from + 1] - offsets[from];
    std::memmove(names + offsets[to], names + offsets[from], static_cast<std::size_t>(size));
    offsets[to + 1] = offsets[to] + size;
    if (crossing_) groups_.data()[to - row_start_] = groups_[from - row_start_];
  }

  Added cross() noexcept {
    const std::size_t own = size_ - row_start_;  // features that are not products themselves
    group_ = Crosses::kNone;
    for (const std::vector<int>& product : crosses_.products) {
      std::size_t chosen[kMostFactors];
      if (const Added added = multiply(product, 0, own, chosen); added != Added::fine) return added;
    }
    return Added::fine;
  }

  // Every way to take one feature of each group, those before `which` being chosen. A group with itself gives
  // each pair once, and no squares.
  Added multiply(const std::vector<int>& product, std::size_t which, std::size_t own,
                 std::size_t* chosen) noexcept {
    if (which == product.size() || which == kMostFactors) return add_product(chosen, which);
    const bool again = which > 0 && product[which] == product[which - 1];
    for (std::size_t i = again ? chosen[which - 1] + 1 : 0; i < own; ++i) {
      if (groups_[i] != product[which]) continue;
      chosen[which] = i;
      if (const Added added = multiply(product, which + 1, own, chosen); added != Added::fine) return added;
    }
    return Added::fine;
  }

  // The product of features of the row; its name is theirs with a star between.
  Added add_product(const std::size_t* chosen, std::size_t factors) noexcept {
    if (size_ - row_start_ >= kMostFeatures) return Added::too_many;
    float value = 1;
    std::size_t size = 0;
    for (std::size_t k = 0; k < factors; ++k) {
      const std::size_t entry = row_start_ + chosen[k];
      const auto from = static_cast<std::size_t>(rows_.name_offsets[entry]);
      const std::size_t length = static_cast<std::size_t>(rows_.name_offsets[entry + 1]) - from;
      char* const name = name_room(size + length + 1);
      if (name == nullptr) return Added::no_memory;
      if (k > 0) name[size++] = '*';
      std::memcpy(name + size, rows_.names.data() + from, length);
      size += length;
      value *= rows_.values[entry];
    }
    return std::isfinite(value) ? add(size, value) : Added::too_large;
  }

  NamedRows& rows_;
  const Crosses& crosses_;
  const bool keep_names_, crossing_;
  const bool naming_;  // names are written, if only to make those of products
  int group_ = Crosses::kNone;
  bool repeated_ = false;
  bool unchecked_ = false;  // the row may have features twice
  bool zeros_ = false;      // or some that are zero, which count for nothing
  std::uint32_t stamp_ = 1;
  std::size_t size_ = 0, capacity_ = 0;  // features in all
  std::size_t row_start_ = 0, row_name_start_ = 0, name_end_ = 0;
  std::size_t slot_mask_ = 0;
  int slot_shift_ = 0;
  const SecretHash hash_ = SecretHash::of_process();
  DuplicateKeys duplicates_;
  Array<std::uint64_t> slots_;  // stamp of the row << 32 | place in the row
  Array<int> groups_;           // of the features of the row, where there are crosses
};

}  // namespace riata
