// Pairs by ascending key, against sorting them.
#include <random>

#include "check.hpp"
#include "riata/base/key_order.hpp"

using namespace riata;

namespace {

void same_as_sorted(std::vector<std::uint64_t> keys) {
  const auto found = by_ascending_key<std::size_t>([&](auto visit) {
    for (std::size_t k = 0; k < keys.size(); ++k) visit(keys[k], k);
  });
  CHECK(found.size() == keys.size());
  for (const auto& [key, place] : found) CHECK(keys[place] == key);
  std::sort(keys.begin(), keys.end());
  for (std::size_t k = 0; k < keys.size(); ++k) CHECK(found[k].first == keys[k]);
}

}  // namespace

int main() {
  std::mt19937_64 random(1);
  for (const std::size_t size : {0u, 1u, 15u, 16u, 17u, 5000u}) {
    for (const int bits : {1, 8, 20, 63, 64}) {  // hashes, small numbers, and many equals
      std::vector<std::uint64_t> keys(size);
      for (std::uint64_t& key : keys) key = random() >> (64 - bits);
      same_as_sorted(keys);
    }
  }
  std::vector<std::uint64_t> one_bucket(3000, std::uint64_t{1} << 63);
  for (std::size_t k = 1; k < one_bucket.size(); ++k) one_bucket[k] = 3000 - k;
  same_as_sorted(one_bucket);
  return check::failures();
}
