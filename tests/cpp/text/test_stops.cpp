#include <algorithm>
#include <string>
#include <vector>

#include "check.hpp"
#include "padded.hpp"
#include "riata/text/stops.hpp"

using namespace riata;

namespace {

using Found = std::vector<std::uint32_t>;

struct All {
  Found stops, ends, breaks;
  std::string firsts;
  bool operator==(const All&) const = default;
};

// In two goes, the second of which begins with what the first left open.
All found(FindPlaces find, const std::string& text) {
  const std::size_t room = text.size() + kPlaceSlack, middle = text.size() / 128 * 64;
  All all{Found(room), Found(room), Found(room), std::string(room, ' ')};
  const Padded padded(text);
  const Places begin{all.stops.data(), all.ends.data(), all.firsts.data(), all.breaks.data()};
  const Places end = find(padded.begin(), middle, text.size(), find(padded.begin(), 0, middle, begin));
  CHECK(end.count == static_cast<std::uint32_t>(end.stops - all.stops.data()));
  CHECK(end.firsts - all.firsts.data() == end.ends - all.ends.data());
  all.stops.resize(static_cast<std::size_t>(end.stops - all.stops.data()));
  all.ends.resize(static_cast<std::size_t>(end.ends - all.ends.data()));
  all.firsts.resize(all.ends.size());
  all.breaks.resize(static_cast<std::size_t>(end.breaks - all.breaks.data()));
  CHECK(end.open == (all.stops.size() != all.ends.size()));
  return all;
}

All expected(const std::string& text) {
  All all;
  const Padded padded(text);
  for (std::uint32_t i = 0; i < text.size(); ++i) {
    const bool stop = static_cast<unsigned char>(text[i]) <= ' ' || text[i] == '|';
    if ((stop || text[i] == ':') && all.ends.size() < all.stops.size()) {
      all.ends.push_back(i);
      all.firsts += padded.begin()[i + 1];
    }
    if (stop && text[i] != ' ') all.breaks.push_back(static_cast<std::uint32_t>(all.stops.size()));
    if (stop) all.stops.push_back(i);
  }
  return all;
}

std::string random_text(std::size_t size, std::uint64_t seed) {
  const std::string_view bytes = seed % 3 == 0 ? " :|\n" : seed % 3 == 1 ? "abcdefg :" : "";
  std::string text;
  for (std::uint64_t state = seed + 1; text.size() < size;) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t drawn = state >> 40;
    text += bytes.empty() ? static_cast<char>(drawn) : bytes[drawn % bytes.size()];
  }
  return text;
}

// Every way to find them that this processor knows.
void all_ways() {
  std::vector<FindPlaces> ways = {&detail::find_places, widest_find_places()};
#if defined(RIATA_HAS_WIDE)
  if (available_instructions() != Instructions::plain) ways.push_back(&detail::find_places_avx2);
#endif
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::string text = random_text(64 * (1 + seed % 9), seed);
    for (const FindPlaces way : ways) CHECK(found(way, text) == expected(text));
  }
}

// From stop to stop, by ones and by jumps, over the edges of windows.
void walks() {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::string text = random_text(1 + seed * 331, seed);
    const Padded padded(text);
    const All all = expected(text);
    Stops stops(padded.begin(), text.size(), widest_find_places());
    stops.pass_to(0);
    std::size_t at = 0;
    for (std::size_t step = 0; at < all.stops.size(); ++step) {
      CHECK(stops.count() >= Stops::kAhead && stops.stops()[0] == all.stops[at]);
      if (at < all.ends.size()) CHECK(stops.ends()[0] == all.ends[at] && stops.firsts()[0] == all.firsts[at]);
      const std::size_t words = stops.words(), next = std::min(at + words, all.stops.size() - 1);
      for (std::size_t k = at; k < next; ++k) CHECK(text[all.stops[k]] == ' ');
      CHECK(words + 1 == stops.count() || text[all.stops[at + words]] != ' ');
      at += step % 5 == 4 ? 7 : step % 5 == 3 ? words : 1;
      if (at >= all.stops.size()) break;
      stops.pass_to(all.stops[at]);
    }
  }
}

}  // namespace

int main() {
  all_ways();
  walks();
  return check::failures();
}
