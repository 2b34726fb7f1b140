// Rows by key against std::unordered_map: births, deaths, growth and shrinking, and what is guessed of where
// rows lie.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "check.hpp"
#include "riata/base/hash.hpp"
#include "riata/stores/hash_table.hpp"

namespace {

using riata::HashTable;
using Expected = std::unordered_map<std::uint64_t, double>;

// Every key is found, the others are not, and a guess is right or known to be wrong. Returned is the share of
// keys with a row whose guess was wrong.
template <class Index>
double same_rows(const HashTable& buckets, const Expected& expected, std::vector<Index> keys) {
  CHECK(buckets.size() == expected.size());
  std::vector<double*> rows(keys.size());
  std::vector<std::uint32_t> others(keys.size() + 1);
  buckets.guess(keys.data(), keys.size(), rows.data());
  const std::size_t count = buckets.check(keys.data(), keys.size(), rows.data(), others.data());
  std::size_t next = 0, present = 0, wrong = 0;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const auto key = static_cast<std::uint64_t>(keys[k]);
    const std::uint64_t at = buckets.find(key);
    const auto found = expected.find(key);
    CHECK((at == HashTable::kNone) == (found == expected.end()));
    const bool other = next < count && others[next] == k;
    next += other;
    if (at == HashTable::kNone) {
      CHECK(other);
      continue;
    }
    CHECK(buckets.key(at) == key && buckets.row(at)[0] == found->second);
    CHECK(other || rows[k] == buckets.row(at));
    ++present;
    wrong += other;
  }
  CHECK(next == count);
  return static_cast<double>(wrong) / static_cast<double>(present + 1);
}

std::size_t rows_in_groups(const HashTable& buckets) {
  std::size_t seen = 0;
  for (std::uint64_t group = 0; group < buckets.groups(); ++group)
    for (std::uint32_t some = buckets.occupied(group); some != 0; some &= some - 1) ++seen;
  return seen;
}

// `keys` are born and die, at first more of the former, then more of the latter.
template <class Index>
void births_and_deaths(const std::vector<Index>& keys, std::uint64_t words, int steps, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  HashTable buckets;
  CHECK(!buckets.is_open() && buckets.open(words) && buckets.is_open());
  Expected expected;
  for (int step = 1; step <= steps; ++step) {
    const auto key = static_cast<std::uint64_t>(keys[random() % keys.size()]);
    const std::uint64_t at = buckets.find(key);
    const bool birth = random() % 16 < (step < steps / 2 ? 13 : 3);
    if (birth && at == HashTable::kNone) {
      CHECK(buckets.reserve());
      const std::uint64_t place = buckets.add(key);
      for (std::uint64_t c = 1; c < words; ++c) buckets.row(place)[c - 1] = step;
      expected[key] = step;
    } else if (!birth && at != HashTable::kNone) {
      buckets.erase(at);
      buckets.tidy();
      buckets.shrink();
      expected.erase(key);
    } else if (at != HashTable::kNone) {
      buckets.promote(at);
    } else {
      buckets.tidy();
    }
    if (step % (steps / 20) != 0) continue;
    std::vector<Index> some;
    for (int i = 0; i < static_cast<int>(random() % 300); ++i) some.push_back(keys[random() % keys.size()]);
    same_rows(buckets, expected, some);
  }
  same_rows(buckets, expected, keys);
  CHECK(rows_in_groups(buckets) == expected.size());
  for (int i = 0; i < 100'000; ++i) {  // memory follows
    buckets.shrink_if_at_rest();
    buckets.tidy();
  }
  same_rows(buckets, expected, keys);
  CHECK(rows_in_groups(buckets) == expected.size());
  CHECK(buckets.bytes() <= (8 * words + 2) * (4 * buckets.size() + 512));
}

template <class Index>
std::vector<Index> keys_between(std::uint64_t least, std::uint64_t most, std::size_t n) {
  std::mt19937_64 random(n);
  std::vector<Index> keys(n);
  for (Index& key : keys) key = static_cast<Index>(least + random() % (most - least + 1));
  return keys;
}

// All of them at the very end of the table: it is longer than the hashes say, or nobody would be found.
std::vector<std::int64_t> keys_of_last_hashes(std::size_t n) {
  std::vector<std::int64_t> keys;
  for (std::uint64_t key = std::uint64_t{1} << 40; keys.size() < n; ++key)
    if (HashTable().hash(key) >= 0xFF000000) keys.push_back(static_cast<std::int64_t>(key));
  return keys;
}

// As many as there are, one after the other: never much more memory than they need.
void memory_while_growing() {
  HashTable buckets;
  CHECK(buckets.open(3));
  Expected expected;
  std::vector<std::int64_t> keys;
  for (std::uint64_t n = 1; n <= 200'000; ++n) {
    CHECK(buckets.reserve());
    keys.push_back(static_cast<std::int64_t>(n << 35));
    expected[n << 35] = buckets.row(buckets.add(n << 35))[0] = static_cast<double>(n);
    if (n > 8000) CHECK(buckets.bytes() <= 40 * n);
    if (n % 20'000 == 0) CHECK(same_rows(buckets, expected, keys) < 0.2);  // most guesses are right
  }
}

// Keys that all have one hash. Theirs is a function of lo * A + hi * B alone, for the two halves of a key:
// any sum whose own halves differ in the same bits will do, and A and B, which have no common factor, give
// it.
std::vector<std::uint64_t> keys_of_one_hash(std::size_t n) {
  constexpr std::uint64_t a = 0x9E3779B1, b = 0x85EBCA77;
  std::uint64_t inverse = 1;  // of A modulo B: A^(B - 2), B is a prime number
  for (std::uint64_t power = a % b, left = b - 2; left != 0; left >>= 1, power = power * power % b)
    if (left % 2 == 1) inverse = inverse * power % b;
  std::vector<std::uint64_t> keys;
  for (std::uint64_t h = std::uint64_t{1} << 29; keys.size() < n; ++h) {
    const std::uint64_t sum = h << 32 | (h ^ 0x1234567);
    const std::uint64_t lo = sum % b * inverse % b;
    if (lo > sum / a) continue;
    const std::uint64_t hi = (sum - lo * a) / b;
    if (hi < std::uint64_t{1} << 31) keys.push_back(hi << 32 | lo);
  }
  return keys;
}

// What they cost is bounded: beyond some number, each of them costs no more than any other key.
void chosen_keys() {
  const std::vector<std::uint64_t> keys = keys_of_one_hash(120'000);
  const std::uint32_t hash = HashTable().hash(keys[0]);
  for (const std::uint64_t key : keys) CHECK(HashTable().hash(key) == hash);
  HashTable buckets;
  CHECK(buckets.open(2));
  std::uint64_t passed_early = 0, moves = buckets.moves();
  for (std::size_t k = 0; k < keys.size(); ++k) {
    CHECK(buckets.reserve());
    CHECK(buckets.moves() >= moves);
    moves = buckets.moves();
    CHECK(buckets.find(keys[k]) == HashTable::kNone);
    buckets.row(buckets.add(keys[k]))[0] = static_cast<double>(k);
    if (k == 20'000) passed_early = buckets.groups_passed();
  }
  CHECK(buckets.groups_passed() - passed_early < 2 * keys.size());
  CHECK(passed_early < 20'000'000);
  CHECK(buckets.size() == keys.size() && rows_in_groups(buckets) == keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k)
    CHECK(buckets.row(buckets.find(keys[k]))[0] == static_cast<double>(k));
}

void all_of_them() {
  births_and_deaths(keys_between<std::int64_t>(0, riata::kKeyMask, 3), 2, 1000, 1);
  births_and_deaths(keys_between<std::int64_t>(0, riata::kKeyMask, 60'000), 3, 400'000, 2);
  births_and_deaths(keys_between<std::int64_t>(1LL << 40, (1LL << 40) + 30'000, 20'000), 4, 200'000, 3);
  births_and_deaths(keys_between<std::int32_t>(0, 0x7FFFFFFF, 20'000), 3, 200'000, 4);
  births_and_deaths(keys_of_last_hashes(1500), 3, 30'000, 5);
  memory_while_growing();
  chosen_keys();
}

}  // namespace

int main() {
  all_of_them();
  return check::failures();
}
