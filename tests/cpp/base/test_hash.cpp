// Keys of names: as they always were by the default hash, which can be attacked; not by a hash of one's own.
#include <cstdint>
#include <random>
#include <set>
#include <string>

#include "check.hpp"
#include "riata/base/hash.hpp"

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

}  // namespace

int main() {
  as_in_models_of_before();
  chosen_names();
  another_key_another_hash();
  return check::failures();
}
