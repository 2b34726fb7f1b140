// Rows by key: a hash table whose slots hold the rows themselves.
//
// Slots come in groups of sixteen, with a tag of eight bits for each: those of a group are compared at once,
// and the one that is equal leads to the row, which knows its key to the last bit. A row lies anywhere in the
// group that its key's hash says, or, if that was full, in one of the groups behind; then each group it has
// passed counts it. A search ends at a group that nobody has passed, and what goes leaves nothing behind.
//
// Groups are in the order of hashes, so with more of them each row lies further on: the table grows and
// shrinks where it is, a group at a time, and no growth is a pause. Meanwhile hashes below some bound are
// spread over one number of groups, and those above it over another.
//
// The hash is public and can be inverted, so that somebody may send keys that all belong to one group. Where
// a row lies farther from its group than chance would have it, all rows are hashed anew, with multipliers
// that nobody can know.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "riata/base/random_word.hpp"
#include "riata/base/zero_pages.hpp"
#include "riata/simd/intrinsics.hpp"
#include "riata/stores/lookup.hpp"
#include "riata/stores/narrow.hpp"

namespace riata {

class HashTable {
 public:
  static constexpr std::uint64_t kGroup = kLookupGroup;  // slots
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  // Slots of so many words, the first of which holds the key. False: memory is exhausted.
  bool open(std::uint64_t words) noexcept { return open(words, kLeast); }
  bool is_open() const noexcept { return groups_ != 0; }
  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t groups() const noexcept { return groups_; }
  std::uint64_t words() const noexcept { return words_; }
  std::uint64_t bytes() const noexcept {
    return groups_ * (sizeof(Head) + kGroup * words_ * sizeof(std::uint64_t));
  }
  // Changes whenever a row may have moved.
  std::uint64_t moves() const noexcept { return moves_; }

  std::uint64_t* slot(std::uint64_t at) const noexcept { return slots_.as<std::uint64_t>() + at * words_; }
  double* row(std::uint64_t at) const noexcept { return reinterpret_cast<double*>(slot(at) + 1); }
  std::uint64_t key(std::uint64_t at) const noexcept { return slot(at)[0] >> 1; }
  // Which slots of a group are occupied: a bit each.
  std::uint32_t occupied(std::uint64_t group) const noexcept { return match(group, 0) ^ 0xFFFF; }
  static std::uint64_t first_of(std::uint64_t group, std::uint32_t some) noexcept {
    return group * kGroup + static_cast<std::uint64_t>(std::countr_zero(some));
  }

  std::uint32_t hash(std::uint64_t key) const noexcept {
    const std::uint64_t sum = (key & kLow) * a_ + (key >> 32) * b_;
    const std::uint64_t mixed = ((sum ^ (sum >> 32)) & kLow) * kC;
    return static_cast<std::uint32_t>(mixed ^ (mixed >> 32));
  }

  // What kernels see of it.
  LookupView view() const noexcept {
    return {heads_.as<std::uint8_t>(), row(0), words_, low_, high_, bound_, a_, b_};
  }

  // Where the rows of many keys most likely lie. They are fetched from memory, and are to be checked.
  template <class Index>
  void guess(const Index* keys, std::size_t n, double** rows) const noexcept {
    const LookupKernels& kernels = best_lookup_kernels();
    if constexpr (sizeof(Index) == 4)
      kernels.guess32(view(), keys, n, rows);
    else
      kernels.guess64(view(), reinterpret_cast<const std::int64_t*>(keys), n, rows);
  }
  // Which rows are not those of the keys: their numbers come to `others`. Returned is how many.
  template <class Index>
  static std::size_t check(const Index* keys, std::size_t n, double* const* rows,
                           std::uint32_t* others) noexcept {
    const LookupKernels& kernels = best_lookup_kernels();
    if constexpr (sizeof(Index) == 4)
      return kernels.check32(keys, n, rows, others);
    else
      return kernels.check64(keys, n, rows, others);
  }

  // The slot of a key, or kNone.
  std::uint64_t find(std::uint64_t key) const noexcept {
    const std::uint32_t hash = this->hash(key);
    for (std::uint64_t group = group_of(hash);; ++group) {
      for (std::uint32_t some = match(group, tag_of(hash)); some != 0; some &= some - 1) {
        const std::uint64_t at = first_of(group, some);
        if (slot(at)[0] == word_of(key)) return at;
      }
      if (head(group).passed == 0) return kNone;
    }
  }

  // Room for one more key. Rows may move. False: memory is exhausted.
  bool reserve() noexcept {
    if (crowded_ && size_ >= 2 * size_when_hashed_) [[unlikely]]
      hash_anew();
    if (moving()) {
      move_some();
    } else if (size_ * 100 >= high_ * kGroup * kFull && !begin_growth()) {
      return false;
    }
    return end_ + 2 <= groups_ || map_groups(groups_ + kSpare);
  }
  // A slot for a key that has none, once there is room. All of it but the key is as it comes.
  std::uint64_t add(std::uint64_t key) noexcept {
    const std::uint64_t at = place(hash(key));
    slot(at)[0] = word_of(key);
    ++size_;
    return at;
  }
  void erase(std::uint64_t at) noexcept {
    leave(at, group_of(hash(key(at))));
    --size_;
  }

  // A row that was not where it was guessed to be comes to lie there. The row that was there takes its slot, which
  // lies on the way of both.
  void promote(std::uint64_t at) noexcept {
    const std::uint32_t hash = this->hash(key(at));
    const std::uint64_t group = group_of(hash);
    const std::uint32_t same = match(group, tag_of(hash));
    const std::uint64_t to = same != 0 ? first_of(group, same) : group * kGroup + (hash >> 8) % kGroup;
    ++moves_;
    if (tag(to) == 0) {
      tag(to) = tag(at);
      copy(at, to);
      leave(at, group);
    } else if (to != at) {
      std::swap(tag(to), tag(at));
      for (std::uint64_t word = 0; word < words_; ++word) std::swap(slot(to)[word], slot(at)[word]);
    }
  }

  // Of every slot only these words, which ascend, the key's first.
  void narrow(const std::vector<int>& kept) noexcept {
    narrow_rows<std::uint64_t>(slots_, groups_ * kGroup, words_, kept);
    words_ = kept.size();
    ++moves_;
  }

  // Groups that rows have passed on the way to their slots, so far: what collisions have cost.
  std::uint64_t groups_passed() const noexcept { return groups_passed_; }

  // Goes on with whatever growth or shrinking there is.
  void tidy() noexcept {
    if (moving()) move_some();
  }
  // Begins to shrink if few rows are left.
  void shrink() noexcept {
    const std::uint64_t least = high_ > 2 * kFew ? kSparse : kSparse / 2;
    if (moving() || size_ * 100 >= high_ * kGroup * least || high_ <= kLeast) return;
    low_ = std::max({size_ * 100 / (kDense * kGroup) + 1, high_ / 4 * 3, kLeast});
    bound_ = next_ = 0;
    grows_ = false;
  }
  // The same, unless the table has grown since it was last asked: then it may be about to fill up.
  void shrink_if_at_rest() noexcept {
    if (!std::exchange(grew_, false)) shrink();
  }

 private:
  using Head = LookupHead;
  struct Mover {
    std::uint64_t at;
    std::uint32_t hash;
  };
  static constexpr std::uint64_t kLow = 0xFFFFFFFF, kC = kLookupMultiplier;
  static constexpr std::uint64_t kA = 0x9E3779B1, kB = 0x85EBCA77;  // odd, bits at random
  // Groups between a row and where it belongs. At the load of kFull, a run of L full groups has a probability
  // of about exp(-0.09 L): in a table of 2^32 rows, that of so many is below 1e-11.
  static constexpr std::uint64_t kFarthest = 512;
  static constexpr std::uint64_t kLeast = 8, kSpare = 4;  // groups: at least; behind those of hashes
  static constexpr std::uint64_t kFew = 256;              // groups: memory hardly matters, growth does
  static constexpr std::uint64_t kWide = 8;  // words of slots that are not moved more than needed
  static constexpr std::uint64_t kLarge = std::uint64_t{1} << 26;  // bytes: from here memory matters more
  static constexpr std::uint64_t kMost = kLow / kGroup;            // groups
  static constexpr std::uint64_t kTiny = std::uint64_t{1} << 20;   // bytes
  // Loads in percent: at kFull a table of more than a few groups grows by kGrowth, which leaves little memory
  // unused; below kSparse it shrinks to kDense.
  static constexpr std::uint64_t kFull = 90, kGrowth = 140, kSparse = 68, kDense = 74;

  static std::uint64_t word_of(std::uint64_t key) noexcept { return key << 1 | 1; }
  static std::uint8_t tag_of(std::uint32_t hash) noexcept {
    return static_cast<std::uint8_t>(std::max(hash & 0xFF, 1u));
  }
  std::uint64_t group_of(std::uint32_t hash) const noexcept {
    return (hash * (hash < bound_ ? low_ : high_)) >> 32;
  }
  Head& head(std::uint64_t group) const noexcept { return heads_.as<Head>()[group]; }
  std::uint8_t& tag(std::uint64_t at) const noexcept { return head(at / kGroup).tags[at % kGroup]; }
  std::uint32_t match(std::uint64_t group, std::uint8_t tag) const noexcept {
#ifdef __SSE2__
    const __m128i tags = _mm_loadu_si128(reinterpret_cast<const __m128i*>(head(group).tags));
    const __m128i equal = _mm_cmpeq_epi8(tags, _mm_set1_epi8(static_cast<char>(tag)));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(equal));
#else
    std::uint32_t some = 0;
    for (std::uint64_t i = 0; i < kGroup; ++i) some |= std::uint32_t{head(group).tags[i] == tag} << i;
    return some;
#endif
  }

  // A slot for a hash, in its group or behind.
  std::uint64_t place(std::uint32_t hash) noexcept {
    const std::uint64_t first = group_of(hash);
    std::uint64_t group = first;
    std::uint32_t free = match(group, 0);
    for (; free == 0; free = match(++group, 0)) ++head(group).passed;
    groups_passed_ += group - first;
    crowded_ |= group - first > kFarthest;
    const std::uint64_t at = first_of(group, free);
    tag(at) = tag_of(hash);
    end_ = std::max(end_, group + 1);
    return at;
  }
  void copy(std::uint64_t from, std::uint64_t to) noexcept {
    for (std::uint64_t word = 0; word < words_; ++word) slot(to)[word] = slot(from)[word];
  }
  // Empties the slot of a key whose group is, or was, `from`.
  void leave(std::uint64_t at, std::uint64_t from) noexcept {
    tag(at) = 0;
    slot(at)[0] = 0;
    for (; from < at / kGroup; ++from) --head(from).passed;
  }

  // Memory for so many groups. Much of it never moves again, and what is not written to costs nothing.
  static bool map(ZeroPages& pages, std::uint64_t bytes) noexcept {
    return bytes < kTiny ? pages.grow(std::bit_ceil(2 * bytes)) : pages.grow_packed(bytes);
  }
  bool map_groups(std::uint64_t groups) noexcept {
    if (!map(slots_, groups * kGroup * words_ * sizeof(std::uint64_t))) return false;
    ++moves_;
    if (!map(heads_, groups * sizeof(Head))) return false;
    groups_ = groups;
    return true;
  }

  bool open(std::uint64_t words, std::uint64_t groups) noexcept {
    words_ = words;
    low_ = high_ = groups;
    end_ = size_ = 0;
    return map_groups(groups + kSpare);
  }

  // All rows by another hash, at most once for every doubling. If there is no memory for both tables, it
  // stays as it is, slow but right.
  void hash_anew() noexcept {
    crowded_ = false;
    size_when_hashed_ = size_;
    HashTable other;
    other.size_when_hashed_ = size_;
    const std::uint64_t random = random_word(slots_.as<void>());
    other.a_ = (random & kLow) | 1;  // 32 bits each: kernels multiply no more
    other.b_ = random >> 32 | 1;
    if (!other.open(words_, std::max(low_, high_))) return;
    for (std::uint64_t group = 0; group < groups_; ++group) {
      for (std::uint32_t some = occupied(group); some != 0; some &= some - 1) {
        const std::uint64_t* const from = slot(first_of(group, some));
        if (!other.reserve()) return;
        std::copy_n(from, words_, other.slot(other.add(from[0] >> 1)));
      }
    }
    other.moves_ += moves_ + 1;
    other.groups_passed_ += groups_passed_;
    other.grew_ = grew_;
    *this = std::move(other);
  }

  bool moving() const noexcept { return low_ != high_; }
  bool begin_growth() noexcept {
    const bool wide = words_ >= kWide && bytes() < kLarge;
    const std::uint64_t more = high_ < kFew || wide ? 2 * high_ : high_ * kGrowth / 100;
    if (more > kMost || !map_groups(std::max(groups_, more + kSpare))) return false;
    next_ = low_;
    high_ = more;
    bound_ = kLow + 1;
    grows_ = grew_ = true;
    return true;
  }
  // The keys of one more group are spread anew: of the last one that is left if the table grows, of the first
  // one if it shrinks.
  void move_some() noexcept {
    const std::uint64_t old = grows_ ? low_ : high_, group = grows_ ? next_ - 1 : next_;
    if (!collect(group, old)) return;  // later
    next_ = grows_ ? group : group + 1;
    bound_ = ((next_ << 32) + old - 1) / old;
    for (const Mover& mover : movers_) {
      copy(mover.at, place(mover.hash));
      leave(mover.at, group);
    }
    ++moves_;
    if (next_ != (grows_ ? 0 : old)) return;
    if (grows_) {
      low_ = high_;
    } else {
      high_ = low_;
      give_back();
    }
  }
  // The slots of all keys that belong to a group. False: there is no room to move them.
  bool collect(std::uint64_t group, std::uint64_t old) noexcept {
    try {
      movers_.clear();
      for (std::uint64_t near = group;; ++near) {
        for (std::uint32_t some = occupied(near); some != 0; some &= some - 1) {
          const std::uint64_t at = first_of(near, some);
          const std::uint32_t hash = this->hash(key(at));
          if ((hash * old) >> 32 == group) movers_.push_back({at, hash});
        }
        if (head(near).passed == 0) break;
      }
    } catch (const std::bad_alloc&) {
      return false;
    }
    const std::uint64_t needed = end_ + movers_.size() / kGroup + 2;
    return needed <= groups_ || map_groups(needed + kSpare);
  }
  void give_back() noexcept {
    while (end_ > 0 && occupied(end_ - 1) == 0) --end_;
    groups_ = std::max(high_, end_) + kSpare;
    slots_.release_after(groups_ * kGroup * words_ * sizeof(std::uint64_t));
    heads_.release_after(groups_ * sizeof(Head));
  }

  ZeroPages slots_, heads_;
  std::uint64_t words_ = 0;   // in a slot
  std::uint64_t groups_ = 0;  // that take memory
  std::uint64_t end_ = 0;     // groups behind are empty
  std::uint64_t size_ = 0, moves_ = 0, groups_passed_ = 0;
  std::uint64_t a_ = kA, b_ = kB;                 // multipliers of the hash
  bool crowded_ = false;                          // a row lies too far from its group
  std::uint64_t size_when_hashed_ = 0;            // how many rows there were when they were hashed anew
  std::uint64_t low_ = 0, high_ = 0, bound_ = 0;  // groups for hashes below the bound, and for the others
  bool grows_ = false, grew_ = false;             // what it does while it moves; whether it did of late
  std::uint64_t next_ = 0;  // which group of the old order moves next; if it grows, the one behind it
  std::vector<Mover> movers_;
};

}  // namespace riata
