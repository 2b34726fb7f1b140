#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "padded.hpp"
#include "riata/text/delimiters.hpp"

using namespace riata;

namespace {

constexpr Delimiters kWords{{' ', ' '}, {'|', '|'}, ' '};
constexpr Delimiters kPairs{{' ', ':'}, {'\n', '\n'}, ' '};
constexpr Delimiters kCells{{',', ','}, {'\n', '"'}, 0};

struct Lists {
  std::vector<std::uint32_t> places, breaks, name_ends;
  std::string values;
  bool operator==(const Lists&) const = default;
};

// By definition, a byte at a time. Delimiters are counted from `count` on.
Lists expected(const std::string& text, const Delimiters& which, std::uint32_t count = 0) {
  Lists lists;
  const Padded padded(text);
  for (std::uint32_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool within = c == which.within[0] || c == which.within[1];
    const bool is_break = !within && (c == which.breaks[0] || c == which.breaks[1] ||
                                      static_cast<unsigned char>(c) <= which.low);
    if ((within || is_break || c == ':') && lists.name_ends.size() < lists.places.size()) {
      lists.name_ends.push_back(i);
      lists.values += padded.begin()[i + 1];
    }
    if (is_break) lists.breaks.push_back(count + static_cast<std::uint32_t>(lists.places.size()));
    if (within || is_break) lists.places.push_back(i);
  }
  return lists;
}

// In two goes, the second of which begins with what the first left open.
void check(const DelimiterKernels& kernels, const std::string& text, const Delimiters& which, bool names) {
  constexpr std::uint32_t kBefore = 1000;
  const std::size_t room = text.size() + kDelimiterSlack, middle = text.size() / 128 * 64;
  const Padded padded(text);
  using List = std::vector<std::uint32_t>;
  Lists lists{List(room), List(room), List(room), std::string(room, ' ')};
  const DelimiterKernels::Find find = names ? kernels.find_names : kernels.find;
  DelimiterLists end{lists.places.data(),    lists.breaks.data(), kBefore,
                     lists.name_ends.data(), lists.values.data(), false};
  end = find(padded.begin(), 0, middle, which, end);
  end = find(padded.begin(), middle, text.size(), which, end);
  lists.places.resize(static_cast<std::size_t>(end.places - lists.places.data()));
  lists.breaks.resize(static_cast<std::size_t>(end.breaks - lists.breaks.data()));
  lists.name_ends.resize(static_cast<std::size_t>(end.name_ends - lists.name_ends.data()));
  lists.values.resize(lists.name_ends.size());
  CHECK(end.count == kBefore + lists.places.size());
  if (names) CHECK(end.open == (lists.places.size() != lists.name_ends.size()));
  Lists wanted = expected(text, which, kBefore);
  if (!names) wanted.name_ends.clear(), wanted.values.clear();
  CHECK(lists == wanted);
}

std::string random_text(std::mt19937_64& random, std::size_t size) {
  constexpr std::string_view usual[] = {" :|\n", "abcdefg :", ",\n\"", "xyzxyzxyz,"};
  const std::string_view bytes = usual[random() % 4];
  const bool any = random() % 3 == 0;
  std::string text;
  while (text.size() < size)
    text += any && random() % 2 == 0 ? static_cast<char>(random()) : bytes[random() % bytes.size()];
  return text;
}

void all_instructions() {
  std::mt19937_64 random(1);
  for (int round = 0; round < 600; ++round) {
    const std::string text = random_text(random, 64 * (1 + random() % 9));
    for (const Instructions set : {Instructions::plain, Instructions::avx2, Instructions::avx512}) {
      const DelimiterKernels* const kernels = find_delimiter_kernels(set);
      if (kernels == nullptr) continue;
      for (const Delimiters& which : {kWords, kPairs, kCells}) check(*kernels, text, which, false);
      for (const Delimiters& which : {kWords, kCells}) check(*kernels, text, which, true);
    }
  }
}

// From delimiter to delimiter, by ones and by jumps, over the edges of windows.
void walks() {
  std::mt19937_64 random(2);
  for (int round = 0; round < 120; ++round) {
    const std::string text = random_text(random, 1 + random() % 20000);
    const Padded padded(text);
    const Delimiters& which = round % 2 == 0 ? kWords : kCells;
    const Lists all = expected(text, which);
    DelimiterScan scan(padded.begin(), text.size(), which, true);
    std::size_t at = 0;
    for (std::size_t step = 0; at < all.places.size(); ++step) {
      const std::size_t wanted = step % 7 == 6 ? 1 + random() % 300 : 2;
      CHECK(scan.need(wanted) == (at + wanted <= all.places.size()));
      CHECK(scan.count() > 0);
      if (scan.count() == 0) return;
      const std::size_t known = std::min(scan.count(), all.places.size() - at);
      CHECK(known == scan.count());
      for (std::size_t k = 0; k < known; ++k) CHECK(scan.places()[k] == all.places[at + k]);
      CHECK(scan.places()[-1] == (at > 0 ? all.places[at - 1] : ~std::uint32_t{0}));
      for (std::size_t k = 0; k + 1 < known; ++k) {
        CHECK(scan.name_ends()[k] == all.name_ends[at + k] && scan.values()[k] == all.values[at + k]);
      }
      const auto next = std::lower_bound(all.breaks.begin(), all.breaks.end(), at);
      CHECK(scan.before_break() == (next == all.breaks.end() ? known : std::min(known, *next - at)));
      const std::size_t jump = step % 5 == 4 ? 1 + random() % 700 : step % 5 == 3 ? known : 1;
      at += jump;
      if (jump <= known && step % 2 == 0) {
        scan.pass(jump);
      } else if (at < all.places.size()) {
        scan.pass_to(all.places[at]);
      }
    }
  }
}

// Records of so many cells come out whole, wherever windows begin, also those of more cells than a window has.
void records() {
  std::mt19937_64 random(3);
  for (const std::size_t count : {1, 2, 40, 3000, 9000}) {
    std::string text;
    for (int row = 0; row < 5; ++row) {
      for (std::size_t i = 0; i < count; ++i)
        text += std::string(random() % 9, 'x') + (i + 1 < count ? ',' : '\n');
    }
    const Lists all = expected(text, kCells);
    const Padded padded(text);
    DelimiterScan scan(padded.begin(), text.size(), kCells);
    for (std::size_t row = 0; row < 5; ++row) {
      CHECK(scan.need(count) && scan.before_break() == count - 1);
      CHECK(std::equal(scan.places(), scan.places() + count, all.places.begin() + row * count));
      scan.pass(count);
    }
    CHECK(!scan.need(1) && scan.count() == 0);
  }
}

}  // namespace

int main() {
  all_instructions();
  walks();
  records();
  return check::failures();
}
