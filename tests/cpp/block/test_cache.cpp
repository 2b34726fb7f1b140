// What a cache is made of, there and back, and with damage that no checksum kept away, under sanitizers.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "riata/base/utf8.hpp"
#include "riata/block/name_list.hpp"
#include "riata/block/name_numbers.hpp"
#include "riata/simd/checksum.hpp"

namespace {

using namespace riata;

void numbers_there_and_back() {
  std::mt19937_64 random(2);
  constexpr std::uint32_t kBase = 1000;
  NameNumbers name_numbers(kBase);
  std::vector<std::string> all_names;
  std::vector<std::uint32_t> all_numbers;
  for (int turn = 0; turn < 200; ++turn) {
    const std::size_t n = random() % 500;
    std::vector<std::int64_t> keys(n), offsets{0};
    std::string text;
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint64_t which = random() % (std::uint64_t{1} << (random() % 16));
      std::string name = std::to_string(which) + std::string(which % 30, 'x');
      keys[k] = static_cast<std::int64_t>(key_of_name(name.data(), name.size()));
      if (which % 50 == 49) keys[k] = 7;  // one key, many names
      if (which == 5) name.clear();
      text += name;
      offsets.push_back(static_cast<std::int64_t>(text.size()));
      all_names.push_back(name);
    }
    text.shrink_to_fit();
    std::vector<std::uint32_t> numbers(n);
    CHECK(name_numbers.number(keys.data(), n, text.data(), offsets.data(), numbers.data()) ==
          NameNumbers::Done::all);
    all_numbers.insert(all_numbers.end(), numbers.begin(), numbers.end());
  }
  std::vector<std::int64_t> offsets(name_numbers.ends.data(),
                                    name_numbers.ends.data() + name_numbers.ends.size());
  const std::size_t size = name_numbers.names.size();
  const NameListView name_list{name_numbers.size(), kBase, name_numbers.names.data(), size, offsets.data()};
  const std::size_t n = all_names.size();
  CHECK(name_list.holds(all_numbers.data(), n));
  CHECK(name_list.holds(nullptr, 0));
  for (const std::uint32_t bad :
       {std::uint32_t{0}, kBase - 1, kBase + static_cast<std::uint32_t>(name_list.size), ~std::uint32_t{0}}) {
    const std::uint32_t both[] = {kBase, bad};
    CHECK(!name_list.holds(both, 2));
    CHECK(name_list.name(bad).empty());
  }
  std::vector<std::int64_t> ends(n + 1);
  name_list.offsets_of(all_numbers.data(), n, ends.data());
  std::string names(static_cast<std::size_t>(ends.back()), ' '), wanted;
  name_list.names_of(all_numbers.data(), n, ends.data(), names.data());
  for (const std::string& name : all_names) wanted += name;
  CHECK(names == wanted);
  // Whatever becomes of the offsets, or of the numbers, after the room for names was made.
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<std::int64_t> lost = offsets;
    std::vector<std::uint32_t> numbers = all_numbers;
    for (std::size_t i = random() % lost.size(), some = random() % 600; some > 0 && i < lost.size();
         ++i, --some)
      lost[i] = turn % 2 == 0 ? 0 : static_cast<std::int64_t>(random());
    for (std::size_t k = random() % n, some = random() % 600; some > 0 && k < n; ++k, --some) numbers[k] = 0;
    NameListView damaged = name_list;
    damaged.name_offsets = lost.data();
    damaged.names_of(numbers.data(), n, ends.data(), names.data());
  }
}

void only_text_is_text() {
  const std::string_view good[] = {"",
                                   "a",
                                   "caf\xc3\xa9",
                                   "\xe2\x82\xac",
                                   "\xf0\x9f\x98\x80",
                                   "\xed\x9f\xbf",
                                   "\xee\x80\x80",
                                   "\xf4\x8f\xbf\xbf",
                                   "eight by\xc3\xa9 eight"};
  for (const std::string_view text : good) CHECK(is_utf8(text));
  const std::string_view bad[] = {"\x80",
                                  "caf\xe9",
                                  "\xc3",
                                  "\xc0\x80",
                                  "\xc1\xbf",
                                  "\xe0\x9f\xbf",
                                  "\xed\xa0\x80",
                                  "\xf0\x8f\xbf\xbf",
                                  "\xf4\x90\x80\x80",
                                  "\xf5\x80\x80\x80",
                                  "\xff",
                                  "\xe2\x82",
                                  "\xf0\x9f\x98",
                                  "eight bytes, and \xe9"};
  for (const std::string_view text : bad) CHECK(!is_utf8(text));
  NameNumbers texts(0, true);
  const std::int64_t keys[] = {5, 6}, ends[] = {0, 1, 2};
  std::uint32_t numbers[2];
  CHECK(texts.number(keys, 2, "ab", ends, numbers) == NameNumbers::Done::all);
  const std::int64_t others[] = {7, 8};
  CHECK(texts.number(others, 2, "c\xe9", ends, numbers) == NameNumbers::Done::no_text);
  CHECK(texts.number(keys, 2, "ab", ends, numbers) == NameNumbers::Done::all);
  CHECK(numbers[0] == 0 && numbers[1] == 1);
  NameNumbers last(0x7ffffffe);
  CHECK(last.number(keys, 1, "a", ends, numbers) == NameNumbers::Done::all);
  CHECK(numbers[0] == 0x7ffffffe);
  CHECK(last.number(keys, 2, "ab", ends, numbers) == NameNumbers::Done::no_numbers);
}

// Whatever happens to a few bytes, the sum is another; and it is the same on every machine.
void every_byte_counts() {
  std::mt19937 random(3);
  std::vector<char> data(1000);
  for (char& byte : data) byte = static_cast<char>(random() % 4 == 0 ? random() : 0);
  CHECK(checksum(nullptr, 0) == 0xee38ce4ba90694c4ULL);
  CHECK(checksum("riata", 5) == 0x3d3daaaadb072e94ULL);
  for (std::size_t size = 0; size < data.size(); ++size) {
    const std::uint64_t before = checksum(data.data(), size);
    CHECK(before != checksum(data.data(), size + 1));
    Checksum pieces;
    for (std::size_t at = 0; at < size;) {
      const std::size_t some = std::min<std::size_t>(size - at, random() % 150);
      pieces.add(data.data() + at, some);
      at += some;
    }
    CHECK(pieces.end() == before);
    for (int turn = 0; size > 0 && turn < 20; ++turn) {
      const std::size_t at = random() % size, other = random() % size;
      const char was = data[at];
      data[at] = static_cast<char>(was ^ 1 << random() % 8);
      CHECK(checksum(data.data(), size) != before);
      data[at] = was;
      std::swap(data[at], data[other]);
      CHECK(data[at] == data[other] || checksum(data.data(), size) != before);
      std::swap(data[at], data[other]);
    }
    if (size >= 128) {  // two steps change places
      std::swap_ranges(data.begin(), data.begin() + 64, data.begin() + 64);
      CHECK(checksum(data.data(), size) != before);
      std::swap_ranges(data.begin(), data.begin() + 64, data.begin() + 64);
    }
  }
}

}  // namespace

int main() {
  only_text_is_text();
  numbers_there_and_back();
  every_byte_counts();
  return check::failures();
}
