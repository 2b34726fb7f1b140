#include <string>
#include <vector>

#include "check.hpp"
#include "padded.hpp"
#include "riata/stops.hpp"

using namespace riata;

namespace {

using Found = std::vector<std::uint32_t>;

struct Both {
  Found stops, colons;
  bool operator==(const Both&) const = default;
};

Both found(FindPlaces find, const std::string& text) {
  std::vector<std::uint32_t> stops(text.size() + kPlaceSlack), colons(text.size() + kPlaceSlack);
  const Places end = find(text.data(), 0, text.size(), {stops.data(), colons.data()});
  stops.resize(static_cast<std::size_t>(end.stops - stops.data()));
  colons.resize(static_cast<std::size_t>(end.colons - colons.data()));
  return {stops, colons};
}

Both expected(const std::string& text) {
  Both both;
  for (std::uint32_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) <= ' ' || text[i] == '|') both.stops.push_back(i);
    if (text[i] == ':') both.colons.push_back(i);
  }
  return both;
}

std::string random_text(std::size_t size, std::uint64_t seed) {
  const std::string_view bytes = seed % 3 == 0 ? " :|" : seed % 3 == 1 ? "abcdefg :" : "";
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
    const Both all = expected(text);
    Stops stops(padded.begin(), text.size(), widest_find_places());
    stops.pass_to(0);
    std::size_t at = 0, colon = 0;
    for (std::size_t step = 0; at < all.stops.size(); ++step) {
      CHECK(stops.count() >= Stops::kAhead && stops.stops()[0] == all.stops[at]);
      CHECK(colon == all.colons.size() || stops.colons()[0] >= text.size() ||
            stops.colons()[0] == all.colons[colon]);
      at += step % 5 == 4 ? 7 : 1;
      if (at >= all.stops.size()) break;
      while (colon < all.colons.size() && all.colons[colon] < all.stops[at]) ++colon;
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
