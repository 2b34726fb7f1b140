#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "padded.hpp"
#include "riata/text/separators.hpp"

using namespace riata;

namespace {

struct Lists {
  std::vector<std::uint32_t> places, ends;
  bool operator==(const Lists&) const = default;
};

template <class Find>
Lists found_by(Find find, const std::string& text, Marks marks, std::uint32_t base, std::uint32_t count) {
  Lists lists{std::vector<std::uint32_t>(text.size() + 8), std::vector<std::uint32_t>(text.size() + 8)};
  const Found end =
      find(text.data(), text.size(), marks, base, count, Found{lists.places.data(), lists.ends.data()});
  lists.places.resize(static_cast<std::size_t>(end.places - lists.places.data()));
  lists.ends.resize(static_cast<std::size_t>(end.ends - lists.ends.data()));
  return lists;
}

Lists one_by_one(const std::string& text, Marks marks, std::uint32_t base, std::uint32_t count) {
  Lists lists;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool end = text[i] == marks.end || text[i] == marks.other_end;
    if (!end && text[i] != marks.delimiter) continue;
    if (end) lists.ends.push_back(count + static_cast<std::uint32_t>(lists.places.size()));
    lists.places.push_back(base + static_cast<std::uint32_t>(i));
  }
  return lists;
}

std::string random_text(std::mt19937_64& random, std::size_t size) {
  const std::uint64_t density = 1 + random() % 12;
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += random() % density == 0 ? ",\n\""[random() % 3] : static_cast<char>(random());
  }
  return text;
}

// Wide and narrow looks find the same.
void all_ways_agree() {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random_text(random, 64 * (random() % 9));
    const Marks marks{',', '\n', random() % 2 == 0 ? '"' : '\n'};
    const auto base = static_cast<std::uint32_t>(random() % 100000), count = base / 7;
    const Lists expected = one_by_one(text, marks, base, count);
    CHECK(found_by(find_marks_plain, text, marks, base, count) == expected);
    CHECK(found_by(find_marks, text, marks, base, count) == expected);
#if defined(RIATA_HAS_WIDE)
    if (available_instructions() != Instructions::plain) {
      CHECK(found_by(find_marks_avx2, text, marks, base, count) == expected);
    }
#endif
  }
}

// Records of so many cells come out whole, wherever parts of the text begin.
void records() {
  std::mt19937_64 random(2);
  for (int round = 0; round < 50; ++round) {
    const std::size_t count = 1 + random() % 50;
    std::vector<std::uint32_t> expected;
    std::string text;
    for (int row = 0; row < 300; ++row) {
      for (std::size_t i = 0; i < count; ++i) {
        text += std::string(random() % 9, 'x');
        expected.push_back(static_cast<std::uint32_t>(text.size()));
        text += i + 1 < count ? ',' : '\n';
      }
    }
    const Padded padded(text);
    Separators separators(padded.begin(), padded.end(), {',', '\n', '\n'});
    const std::size_t skipped = random() % 300;
    if (skipped > 0) separators.skip_to(expected[skipped * count - 1] + 1);
    for (std::size_t row = skipped; row < 300; ++row) {
      const std::uint32_t* places = separators.next(count);
      CHECK(places != nullptr);
      if (places == nullptr) return;
      for (std::size_t i = 0; i < count; ++i) CHECK(places[i] == expected[row * count + i]);
      separators.pass(count);
    }
    CHECK(separators.next(count) == nullptr);
    Separators narrow(padded.begin(), padded.end(), {',', '\n', '\n'});
    CHECK(narrow.next(count + 1) == nullptr);
  }
}

}  // namespace

int main() {
  all_ways_agree();
  records();
  return check::failures();
}
