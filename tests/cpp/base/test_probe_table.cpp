// The table of cells by keys against std::unordered_map, and keys that somebody has chosen.
#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include "check.hpp"
#include "riata/base/probe_table.hpp"

using namespace riata;

namespace {

struct Cell {
  std::uint64_t key;
  std::uint32_t value, full;
};
bool is_empty(const Cell& cell) { return cell.full == 0; }
std::uint64_t key_of(const Cell& cell) { return cell.key; }

Cell* find(const ProbeTable<Cell>& table, std::uint64_t key) {
  return table.find(key, [key](const Cell& cell) { return is_empty(cell) || cell.key == key; });
}
bool add(ProbeTable<Cell>& table, std::uint64_t key, std::uint32_t value) {
  if (table.is_full() && !table.grow(is_empty, key_of)) return false;
  Cell* const cell = find(table, key);
  if (is_empty(*cell)) table.put(cell, key, {key, value, 1});
  return true;
}

// Cells between those of these keys and where a search for them begins.
std::uint64_t steps(const ProbeTable<Cell>& table, const std::vector<std::uint64_t>& keys) {
  std::uint64_t count = 0;
  for (const std::uint64_t key : keys)
    (void)table.find(key,
                     [&](const Cell& cell) { return is_empty(cell) || cell.key == key || (++count, false); });
  return count;
}

void same_as_a_map() {
  for (const int shift : {0, 7, 32, 40}) {
    std::mt19937_64 random(static_cast<std::uint64_t>(shift));
    ProbeTable<Cell> table;
    std::unordered_map<std::uint64_t, std::uint32_t> expected;
    for (std::uint32_t i = 0; i < 300'000; ++i) {  // through small tables and large pages
      const std::uint64_t key = (random() % 200'000) << shift;
      CHECK(add(table, key, i));
      expected.emplace(key, i);
    }
    CHECK(table.size() == expected.size());
    std::size_t seen = 0;
    for (const Cell& cell : table) seen += !is_empty(cell);
    CHECK(seen == expected.size());
    for (std::uint64_t i = 0; i < 210'000; ++i) {
      const auto found = expected.find(i << shift);
      const Cell& cell = *find(table, i << shift);
      CHECK(is_empty(cell) == (found == expected.end()));
      if (found != expected.end()) CHECK(cell.value == found->second);
    }
    const ProbeTable<Cell> moved = std::move(table);
    CHECK(moved.size() == expected.size() && table.size() == 0);
  }
}

// Keys whose product with the public multiplier is small: all of them belong to the first cell. To look for
// them must cost about as much for many as for few.
void chosen_keys() {
  std::uint64_t inverse = 0x9e3779b97f4a7c15ULL;
  for (int i = 0; i < 6; ++i) inverse *= 2 - 0x9e3779b97f4a7c15ULL * inverse;
  for (const std::uint64_t n : {std::uint64_t{5'000}, std::uint64_t{20'000}, std::uint64_t{80'000}}) {
    ProbeTable<Cell> table;
    std::vector<std::uint64_t> keys;
    for (std::uint64_t i = 0; i < n; ++i) {
      keys.push_back(i * inverse);
      CHECK(add(table, keys.back(), static_cast<std::uint32_t>(i)));
    }
    for (std::uint64_t i = 0; i < n; ++i) CHECK(find(table, keys[i])->value == i);
    CHECK(steps(table, keys) < 10 * n);
  }
}

}  // namespace

int main() {
  same_as_a_map();
  chosen_keys();
  return check::failures();
}
