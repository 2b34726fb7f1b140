// Lines whose names were chosen so that their keys look alike: they take no longer than others.
#include <chrono>
#include <cstdint>
#include <cstring>

#include "check.hpp"
#include "riata/block/named_row_builder.hpp"
#include "riata/words/document_counts.hpp"

using namespace riata;

namespace {

constexpr std::int64_t kNames = 100'000;  // one by one among all before it, that would be some 10^10 steps

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Keys with the same low bits, with the same high bits, and multiples of a number.
std::int64_t chosen(int kind, std::int64_t i) {
  return kind == 0 ? i << 40 : kind == 1 ? (std::int64_t{1} << 62) + i : i * 0x61c88647LL;
}

// One row of all names, each twice, which `fill` puts into the builder: they are added up, and soon.
template <class Fill>
void in_one_row(Fill fill) {
  for (int kind = 0; kind < 3; ++kind) {
    NamedRows rows;
    const Crosses none;
    RowBuilder builder(rows, none, false);
    CHECK(builder.prepare(std::size_t{100}));
    const auto start = std::chrono::steady_clock::now();
    fill(builder, kind);
    CHECK(builder.end_row({}) == Added::fine);
    CHECK(seconds_since(start) < 5);
    builder.finish();
    CHECK(rows.keys.size() == kNames && rows.keys[5] == chosen(kind, 5));
    for (std::size_t i = 0; i < rows.keys.size(); ++i) CHECK(rows.values[i] == 2);
  }
}

void one_by_one() {
  in_one_row([](RowBuilder& builder, int kind) {
    for (int turn = 0; turn < 2; ++turn)
      for (std::int64_t i = 0; i < kNames; ++i)
        CHECK(builder.add(static_cast<std::uint64_t>(chosen(kind, i)), 0, 1) == Added::fine);
  });
}

void all_at_once() {
  in_one_row([](RowBuilder& builder, int kind) {
    RowBuilder::Room room;
    CHECK(builder.open(2 * kNames, 0, room));
    for (int turn = 0; turn < 2; ++turn)
      for (std::int64_t i = 0; i < kNames; ++i) {
        room.keys[room.size] = chosen(kind, i);
        room.values[room.size++] = 1;
      }
    CHECK(builder.close(room));
  });
}

void n_grams_of_many_texts() {
  for (int kind = 0; kind < 3; ++kind) {
    words::DocumentTable table;
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < kNames; ++i) {
      CHECK(table.reserve(1));
      table.add(chosen(kind, i));
    }
    CHECK(table.size() == kNames && table.count(chosen(kind, 7)) == 1);
    CHECK(seconds_since(start) < 5);
  }
}

}  // namespace

int main() {
  one_by_one();
  all_at_once();
  n_grams_of_many_texts();
  return check::failures();
}
