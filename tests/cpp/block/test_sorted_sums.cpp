#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "riata/block/sorted_sums.hpp"

using namespace riata;

namespace {

constexpr std::size_t kWidth = 3;
using Known = std::map<std::int64_t, std::pair<std::string, std::vector<double>>>;

struct List {
  std::vector<std::int64_t> keys, offsets{0};
  std::vector<double> rows;
  std::vector<std::uint8_t> names;
};

// Random keys below a limit, ascending, with rows and names; also summed up in a map.
List random_list(std::mt19937& random, std::int64_t limit, double chance, Known& known) {
  List made;
  std::uniform_real_distribution<double> uniform;
  for (std::int64_t key = 0; key < limit; ++key) {
    if (uniform(random) >= chance) continue;
    const std::string name(static_cast<std::size_t>(key % 5), static_cast<char>('a' + key % 26));
    made.keys.push_back(key);
    made.names.insert(made.names.end(), name.begin(), name.end());
    made.offsets.push_back(static_cast<std::int64_t>(made.names.size()));
    auto [at, is_new] = known.try_emplace(key, name, std::vector<double>(kWidth));
    for (std::size_t j = 0; j < kWidth; ++j) {
      made.rows.push_back(uniform(random));
      at->second.second[j] = is_new ? made.rows.back() : at->second.second[j] + made.rows.back();
    }
  }
  return made;
}

void lists_in_pieces(std::int64_t limit, double chance, std::size_t piece) {
  std::mt19937 random(static_cast<unsigned>(limit));
  SortedSums sums(kWidth);
  Known known;
  for (int list = 0; list < 5; ++list) {
    const List more = random_list(random, limit, chance, known);
    const SortedRows all{more.keys.size(), more.keys.data(), more.rows.data(), more.names.data(),
                         more.offsets.data()};
    sums.rewind();
    for (std::size_t k = 0; k < all.size; k += piece)
      sums.add(all.from(k, std::min(piece, all.size - k), kWidth));
  }
  CHECK(sums.size() == known.size());
  std::vector<double> rows(known.size() * kWidth);
  std::vector<std::int64_t> keys(known.size()), offsets(known.size() + 1);
  std::vector<std::uint8_t> names(sums.name_bytes());
  int given_back = 0;
  sums.take_rows(rows.data(), [&] { ++given_back; });
  CHECK(given_back > 0);
  sums.take_names(names.data());
  sums.take_keys(keys.data());
  sums.take_offsets(offsets.data());
  std::size_t k = 0;
  bool good = true;
  for (const auto& [key, value] : known) {
    good = good && keys[k] == key;
    for (std::size_t j = 0; j < kWidth; ++j) good = good && rows[k * kWidth + j] == value.second[j];
    good = good && std::string(names.data() + offsets[k], names.data() + offsets[k + 1]) == value.first;
    ++k;
  }
  CHECK(good);
}

}  // namespace

int main() {
  lists_in_pieces(50, 0.3, 7);
  lists_in_pieces(3000, 0.5, 1000000);
  lists_in_pieces(100000, 0.6, 30000);
  lists_in_pieces(100000, 0.1, 1000);
  return check::failures();
}
