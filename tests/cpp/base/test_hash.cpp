// Keys of names: as they always were by the default hash, which can be attacked; not by a hash of one's own. Hashes of
// tables.
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "riata/base/hash.hpp"
#include "riata/base/random_word.hpp"

using namespace riata;

namespace {

constexpr std::uint64_t kB = 0xe7037ed1a0b428dbULL, kA = 0xa0761d6478bd642fULL;

std::string bytes_of(std::uint64_t word) { return {reinterpret_cast<const char*>(&word), sizeof word}; }
std::uint64_t key_of(const std::string& name, HashKey key) {
  return key_of_name(name.data(), name.size(), key);
}

void as_in_models_of_before() {
  CHECK(key_of("", {}) == 7808118802096904150ULL);
  CHECK(key_of("age", {}) == 4582727857601090277ULL);
  CHECK(key_of("a name of more than sixteen bytes", {}) == 3892790723125956950ULL);
}

// 8 bytes as one likes, then those of the constant: a factor of the product is zero, and what came before is
// forgotten.
std::string chosen(std::uint64_t i, const std::string& rest) { return bytes_of(i) + bytes_of(kB) + rest; }
// The two words of the last 16 bytes, the other way round: the same product.
std::string exchanged(std::uint64_t i) { return bytes_of(~i ^ kA ^ kB) + bytes_of(i ^ kA ^ kB); }

void chosen_names() {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    const HashKey own{random(), random()};
    std::set<std::uint64_t> by_default, by_own;
    for (std::uint64_t i = 0; i < 2000; ++i) {
      by_default.insert(key_of(chosen(i, "the rest"), {}));
      by_own.insert(key_of(chosen(i, "the rest"), own));
      const std::string first = bytes_of(i) + bytes_of(~i);
      CHECK(key_of(first, {}) == key_of(exchanged(i), {}));
      CHECK(key_of(first, own) != key_of(exchanged(i), own));
    }
    CHECK(by_default.size() == 1);  // the attack
    CHECK(by_own.size() == 2000);
  }
}

void another_key_another_hash() {
  std::set<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 64; ++i) {
    keys.insert(key_of("a feature", {std::uint64_t{1} << i, 0}));
    keys.insert(key_of("a feature", {0, std::uint64_t{1} << i}));
  }
  CHECK(keys.size() == 128);
  for (std::size_t size = 0; size <= 8; ++size) {  // as events have them
    const HashKey own{12345, 67890};
    const std::string name = std::string("abcdefgh").substr(0, size);
    std::uint64_t low = 0, high = 0;
    key_seeds(size, low, high, own);
    CHECK(fold(word_of(name.data(), size) ^ low, high) >> 1 == key_of(name, own));
  }
}

// How many slots are looked at in vain until keys with these differences are in a table that they fill by half.
std::size_t steps_in_vain(const SecretHash& hash, std::uint64_t first, std::uint64_t difference) {
  constexpr int kBits = 12;
  constexpr std::size_t kSlots = std::size_t{1} << kBits;
  std::vector<bool> full(kSlots);
  std::size_t steps = 0;
  for (std::uint64_t i = 0; i < kSlots / 2; ++i) {
    std::size_t at = hash.home(first + i * difference, 64 - kBits);
    for (; full[at]; at = (at + 1) % kSlots) ++steps;
    full[at] = true;
  }
  return steps;
}

void no_secret_hash_is_crowded_by_evenly_spaced_keys() {
  std::mt19937_64 random(2);
  std::size_t worst = 0;
  for (int round = 0; round < 1000; ++round) {
    const SecretHash hash{random() | 1, random() | 1};
    for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1} << 62})
      for (const std::uint64_t difference :
           {std::uint64_t{1}, std::uint64_t{0x61c88647}, std::uint64_t{1} << 32, std::uint64_t{1} << 45})
        worst = std::max(worst, steps_in_vain(hash, first, difference));
  }
  CHECK(worst < 2048);  // one a key; by chance it is half a key
}

}  // namespace

int main() {
  as_in_models_of_before();
  chosen_names();
  another_key_another_hash();
  no_secret_hash_is_crowded_by_evenly_spaced_keys();
  return check::failures();
}
