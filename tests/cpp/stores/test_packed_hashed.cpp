// The packed hashed store: the rows of the hashed store, and what narrowing leaves of them.
#include <cstdint>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "riata/stores/packed_hashed.hpp"
#include "riata/stores/store.hpp"

using namespace riata;

static_assert(ArrayStore<PackedHashedStore>);

namespace {

constexpr int kWidth = 66, kBits = 12;

std::uint64_t key_of(std::uint64_t i) { return i * 7919 + 3; }

void fill(PackedHashedStore& store, std::uint64_t keys) {
  for (std::uint64_t i = 0; i < keys; ++i) {
    CHECK(store.has(key_of(i)) || store.reserve(key_of(i)));
    double* const row = store.at(key_of(i));
    for (int c = 0; c < kWidth; ++c) row[c] = static_cast<double>(hashed_place(key_of(i), kBits) * 100 + c);
  }
}

void rows_are_those_of_their_places() {
  PackedHashedStore store(kWidth, kBits);
  CHECK(!store.has(key_of(1)) && store.find(key_of(1)) == nullptr);
  fill(store, 3000);
  std::uint64_t last = 0, rows = 0;
  store.for_each([&](std::uint64_t place, const double* row) {
    CHECK(rows == 0 || place > last);
    CHECK(row[0] == static_cast<double>(place * 100) && row[kWidth - 1] == row[0] + kWidth - 1);
    last = place;
    ++rows;
  });
  CHECK(rows > 1500 && rows < 3000);  // some share one
  CHECK(store.find(key_of(5))[2] == static_cast<double>(hashed_place(key_of(5), kBits) * 100 + 2));
  CHECK(store.restore(std::uint64_t{1} << kBits, {}) == nullptr);
}

void narrowing_keeps_what_is_asked_for_and_new_rows_are_zero() {
  PackedHashedStore store(kWidth, kBits);
  fill(store, 1000);
  const std::uint64_t before = store.bytes();
  const std::vector<int> kept{0, 1, 5, 64};
  store.narrow(kept);
  CHECK(store.bytes() < before / 4);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const double* const row = store.find(key_of(i));
    for (std::size_t c = 0; c < kept.size(); ++c)
      CHECK(row[c] == static_cast<double>(hashed_place(key_of(i), kBits) * 100) + kept[c]);
  }
  int fresh = 0;
  for (std::uint64_t i = 1000; i < 3000; ++i) {
    if (store.has(key_of(i))) continue;
    CHECK(store.reserve(key_of(i)));
    for (int c = 0; c < 4; ++c) CHECK(store.at(key_of(i))[c] == 0);
    ++fresh;
  }
  CHECK(fresh > 500);
}

}  // namespace

int main() {
  rows_are_those_of_their_places();
  narrowing_keeps_what_is_asked_for_and_new_rows_are_zero();
  return check::failures();
}
