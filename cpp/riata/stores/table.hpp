// The table store: only what is alive. Rows by 63-bit key, open addressing.
//
// Keys are scattered one to one, and a row's home is its scattered key, scaled down to the table's size: home
// addresses ascend with keys. Rows are kept in that order (linear probing, sorted), so a search for what is
// not there ends as soon as one for what is, growth is a sequential copy, and any size will do, not only
// powers of two. The table is 256 parts that grow one at a time, at loads spread from part to part: no long
// pause, and only one part is ever held twice.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "riata/hash.hpp"
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
    for (Part& part : parts_) {
      if (part.slots == nullptr) continue;
      for (std::uint64_t* slot = part.slots; named_ && slot != end_of(part); slot += stride_)
        if (*slot != 0) drop_name(name_word(slot));
      std::free(part.slots);
    }
  }

  // Rows of an empty table can be given names; then all of them have one, kept for as long as the row is.
  bool named() const noexcept { return named_; }
  bool set_named() noexcept {
    if (named_) return true;
    if (size_ != 0) return false;
    for (Part& part : parts_) {
      std::free(part.slots);
      part = Part{};
    }
    named_ = true;
    ++stride_;
    return true;
  }
  std::string_view name(std::uint64_t key) const noexcept {
    const std::uint64_t tag = tag_of(key);
    std::uint64_t* slot = seek(parts_[tag >> 56], tag);
    return named_ && slot != nullptr && *slot == tag ? name_at(name_word(slot)) : std::string_view{};
  }

  // A tag is the scattered key and a low bit of 1: an empty slot is 0.
  static std::uint64_t tag_of(std::uint64_t key) noexcept { return scatter(key) << 1 | 1; }
  static bool possible(std::uint64_t key) noexcept { return key <= kKeyMask; }

  // The row of a key, or null. Valid until a row is inserted or erased.
  double* find(std::uint64_t key) const noexcept { return find_tag(tag_of(key)); }
  double* find_tag(std::uint64_t tag) const noexcept {
    std::uint64_t* slot = seek(parts_[tag >> 56], tag);
    return slot != nullptr && *slot == tag ? row_of(slot) : nullptr;
  }
  void prefetch(std::uint64_t tag) const noexcept {
    const Part& part = parts_[tag >> 56];
    if (part.slots == nullptr) return;
    const std::uint64_t* slot = part.slots + home(part, tag) * stride_;
    __builtin_prefetch(slot);
    __builtin_prefetch(slot + 3 * stride_);
  }

  // The row of a key, put there if need be, uninitialised. A part that is full first lets go of the rows for
  // which `needed` says no. Null: memory is exhausted, and nothing has changed.
  template <class Needed>
  double* insert(std::uint64_t key, std::string_view name, Needed needed) noexcept {
    const std::uint64_t tag = tag_of(key);
    Part& part = parts_[tag >> 56];
    if (part.slots == nullptr || part.size >= part.most) {
      if (!resize(part, 0, needed)) return nullptr;
    }
    for (;;) {
      std::uint64_t* slot = seek(part, tag);
      if (*slot == tag) return row_of(slot);
      std::uint64_t* gap = slot;
      while (*gap != 0) gap += stride_;
      if (gap == end_of(part)) {  // the run reaches the end of the part: a larger one spreads it
        if (!resize(part, part.capacity / 8 + 8, needed)) return nullptr;
        continue;
      }
      const std::uint64_t word = named_ ? keep_name(name) : 0;
      if (named_ && word == 0) return nullptr;
      std::memmove(slot + stride_, slot, static_cast<std::size_t>(gap - slot) * sizeof(std::uint64_t));
      *slot = tag;
      if (named_) name_word(slot) = word;
      ++part.size;
      ++size_;
      return row_of(slot);
    }
  }

  double* restore(std::uint64_t key, std::string_view name) noexcept {
    return possible(key) ? insert(key, name, [](const double*) { return true; }) : nullptr;
  }

  void erase(std::uint64_t key) noexcept {
    const std::uint64_t tag = tag_of(key);
    Part& part = parts_[tag >> 56];
    std::uint64_t* slot = seek(part, tag);
    if (slot != nullptr && *slot == tag) erase_slot(part, slot);
  }

  // Looks at the next few slots, round and round, and erases the rows for which `needed` says no.
  template <class Needed>
  void sweep(std::uint64_t slots, Needed needed) noexcept {
    for (std::uint64_t k = 0; k < slots; ++k) {
      Part& part = parts_[sweep_part_];
      if (part.slots == nullptr || sweep_slot_ >= part.capacity + kTail) {
        if (part.size * 2 < part.most && part.most > 64) resize(part, 0, needed);
        sweep_part_ = (sweep_part_ + 1) % kParts;
        sweep_slot_ = 0;
        continue;
      }
      std::uint64_t* slot = part.slots + sweep_slot_ * stride_;
      if (*slot != 0 && !needed(row_of(slot))) {
        erase_slot(part, slot);  // another row may have moved here: look again
      } else {
        ++sweep_slot_;
      }
    }
  }

  template <class Visit>  // visit(key, row), in the order of scattered keys
  void for_each(Visit visit) const {
    for (const Part& part : parts_) {
      if (part.slots == nullptr) continue;
      for (std::uint64_t* slot = part.slots; slot != end_of(part); slot += stride_)
        if (*slot != 0) visit(gather_back(*slot >> 1), row_of(slot));
    }
  }

  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t bytes() const noexcept {
    std::uint64_t slots = 0;
    for (const Part& part : parts_)
      if (part.slots != nullptr) slots += part.capacity + kTail + 4;
    return slots * stride_ * sizeof(std::uint64_t);
  }

 private:
  static constexpr int kParts = 256;
  static constexpr std::uint64_t kTail = 16;  // slots behind the last home, for runs that start at the end

  struct Part {
    std::uint64_t* slots = nullptr;  // capacity + kTail of them, and four that stay empty
    std::uint64_t capacity = 0;      // homes
    std::uint64_t size = 0;          // rows
    std::uint64_t most = 0;          // rows before it grows
  };

  // A slot: tag, row, and where rows have names, a word for the name.
  static double* row_of(std::uint64_t* slot) noexcept { return reinterpret_cast<double*>(slot + 1); }
  std::uint64_t& name_word(std::uint64_t* slot) const noexcept { return slot[stride_ - 1]; }
  std::uint64_t* end_of(const Part& part) const noexcept {
    return part.slots + (part.capacity + kTail) * stride_;
  }
  static std::uint64_t home(const Part& part, std::uint64_t tag) noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(tag << 8) * part.capacity) >> 64);
  }

  // The slot of the tag, or the one before which it belongs.
  std::uint64_t* seek(const Part& part, std::uint64_t tag) const noexcept {
    if (part.slots == nullptr) return nullptr;
    std::uint64_t* slot = part.slots + home(part, tag) * stride_;
    // Four at a time without a branch: where a search ends cannot be predicted. Empty slots wrap around.
    for (;;) {
      const int less = (slot[0] - 1 < tag - 1) + (slot[stride_] - 1 < tag - 1) +
                       (slot[2 * stride_] - 1 < tag - 1) + (slot[3 * stride_] - 1 < tag - 1);
      slot += static_cast<std::uint64_t>(less) * stride_;
      if (less < 4) return slot;
    }
  }

  void erase_slot(Part& part, std::uint64_t* slot) noexcept {
    if (named_) drop_name(name_word(slot));
    std::uint64_t* last = slot;  // rows that stand behind their home move up by one
    for (std::uint64_t* next = slot + stride_; *next != 0; next += stride_) {
      const auto place = static_cast<std::uint64_t>(next - part.slots) / stride_;
      if (home(part, *next) == place) break;
      last = next;
    }
    std::memmove(slot, slot + stride_, static_cast<std::size_t>(last - slot) * sizeof(std::uint64_t));
    *last = 0;
    --part.size;
    --size_;
  }

  // The part anew, with the rows that are needed, at a load of 60 to 72 % by the part's number and `extra`
  // homes; it is full at 80 %.
  template <class Needed>
  bool resize(Part& part, std::uint64_t extra, Needed needed) noexcept {
    const auto number = static_cast<std::uint64_t>(&part - parts_);
    Part fresh;
    if (part.slots != nullptr) {
      for (std::uint64_t* slot = part.slots; slot != end_of(part); slot += stride_)
        fresh.size += *slot != 0 && needed(row_of(slot));
    }
    fresh.capacity = (fresh.size + 1) * 100 / (60 + number % 13) + 4 + extra;
    for (;;) {
      fresh.most = fresh.capacity * 4 / 5;
      const std::uint64_t words = (fresh.capacity + kTail + 4) * stride_;
      fresh.slots = static_cast<std::uint64_t*>(std::calloc(words, sizeof(std::uint64_t)));
      if (fresh.slots == nullptr) return false;
      if (copy(part, fresh, needed)) break;
      std::free(fresh.slots);
      fresh.capacity += fresh.capacity / 8 + 1;
    }
    if (named_ && part.slots != nullptr) {
      for (std::uint64_t* slot = part.slots; slot != end_of(part); slot += stride_)
        if (*slot != 0 && !needed(row_of(slot))) drop_name(name_word(slot));
    }
    std::free(part.slots);
    size_ -= part.size - fresh.size;
    part = fresh;
    return true;
  }

  template <class Needed>
  bool copy(const Part& from, Part& to, Needed needed) const noexcept {
    if (from.slots == nullptr) return true;
    std::uint64_t* next = to.slots;
    for (std::uint64_t* slot = from.slots; slot != end_of(from); slot += stride_) {
      if (*slot == 0 || !needed(row_of(slot))) continue;
      std::uint64_t* place = to.slots + home(to, *slot) * stride_;
      if (place < next) place = next;
      if (place >= end_of(to)) return false;
      std::memcpy(place, slot, stride_ * sizeof(std::uint64_t));
      next = place + stride_;
    }
    return true;
  }

  std::uint64_t stride_;  // words in a slot
  bool named_ = false;
  Part parts_[kParts];
  std::uint64_t size_ = 0;
  int sweep_part_ = 0;
  std::uint64_t sweep_slot_ = 0;
};

}  // namespace riata
