// What a store is: rows of state by key. The concepts are the contract; models check them.
//
//   kDirect                every possible key has a row, at most a reserve() away (ArrayStore); otherwise a row must
//                          be inserted, and may be erased (KeyedStore)
//   kDistinct              no two keys share a row
//   kGroups                for_each visits whole groups of kGroupRows rows, which lie one behind the other
//   possible(key)          a key that the store could ever have a row for
//   find(key)              its row, or null
//   restore(key, name)     the row that for_each knew by this key, for putting a saved model back; null: impossible
//   for_each(visit)        visit(key, row) for every row that may have been written to
//   bytes()                memory taken
//
// ArrayStore:
//   inside(key)            the place of the row exists: also of some keys, where the bitwise or of them is inside
//   has(key)               the row is there to be written to; if not:
//   reserve(key)           makes room for a possible key; false: memory is exhausted
//   at(key)                the row of a key that has one
//   note_write(key)        to be called, while tracks_writes() is true, for every row that is written to
//   paged()                rows are kept in pieces: the place of a row is not a multiple of its key
//
// KeyedStore:
//   insert(key, name)      the row, put there if need be; others may move; null: memory is exhausted
//   erase(key)
//   moves()                changes whenever a row may have moved
//   named(), set_named(), name(key)     rows of an empty store can be given names
//   sweep(rows, is_live)   looks at the next few rows, round and round, and erases those that are not live
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace riata {

template <class S>
concept RowStore = requires(S store, const S& still, std::uint64_t key, std::string_view name) {
  requires std::same_as<decltype(S::kDirect), const bool>;
  requires std::same_as<decltype(S::kDistinct), const bool>;
  requires std::same_as<decltype(S::kGroups), const bool>;
  { S::possible(key) } -> std::same_as<bool>;
  { still.find(key) } -> std::convertible_to<const double*>;
  { store.restore(key, name) } -> std::same_as<double*>;
  still.for_each([](std::uint64_t, double*) {});
  { still.bytes() } -> std::same_as<std::uint64_t>;
};

template <class S>
concept ArrayStore = RowStore<S> && S::kDirect && requires(S store, const S& still, std::uint64_t key) {
  { still.inside(key) } -> std::same_as<bool>;
  { still.has(key) } -> std::same_as<bool>;
  { store.reserve(key) } -> std::same_as<bool>;
  { still.at(key) } -> std::same_as<double*>;
  { still.tracks_writes() } -> std::same_as<bool>;
  store.note_write(key);
  { still.paged() } -> std::same_as<bool>;
};

template <class S>
concept KeyedStore = RowStore<S> && !S::kDirect &&
                     requires(S store, const S& still, std::uint64_t key, std::string_view name) {
                       { store.insert(key, name) } -> std::same_as<double*>;
                       store.erase(key);
                       { still.moves() } -> std::same_as<std::uint64_t>;
                       { still.named() } -> std::same_as<bool>;
                       { store.set_named() } -> std::same_as<bool>;
                       { still.name(key) } -> std::same_as<std::string_view>;
                     };

template <class S>
concept AnyStore = ArrayStore<S> || KeyedStore<S>;

// What sweep() asks: whether a row is live, and which rows of a group of kGroupRows are, a bit each.
inline constexpr int kGroupRows = 16;
template <class L>
concept LiveTest = requires(const L& is_live, const double* row, std::uint64_t stride) {
  { is_live(row) } -> std::same_as<bool>;
  { is_live.group(row, stride) } -> std::same_as<std::uint32_t>;
};
template <class IsLive>
std::uint32_t live_one_by_one(const IsLive& is_live, const double* first, std::uint64_t stride) noexcept {
  std::uint32_t live = 0;
  for (unsigned i = 0; i < kGroupRows; ++i) live |= std::uint32_t{is_live(first + i * stride)} << i;
  return live;
}
// A function of one row as such a test.
template <class IsLive>
struct LiveIf {
  IsLive is_live;
  bool operator()(const double* row) const noexcept { return is_live(row); }
  std::uint32_t group(const double* first, std::uint64_t stride) const noexcept {
    return live_one_by_one(is_live, first, stride);
  }
};
template <class IsLive>
LiveIf(IsLive) -> LiveIf<IsLive>;

}  // namespace riata
