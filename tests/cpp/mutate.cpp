// A driver for LLVMFuzzerTestOneInput that needs no libFuzzer: seeds, changed at random, always in the same
// way.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::string_view kSeeds[] = {
    "\x02"
    "1 1:2 3:0.5\n-1 2:1e-3 7:12345.678 # comment\n",
    "\x02"
    "1 qid:3 1:0.1234 12:0.5 260941:0.03\r\n\n# nothing\n0 5:1\n",
    "\x03"
    "0 0:1 2147483647:2 2147483648:3 9223372036854775806:4\n",
    "\x01"
    "3:4 5:6\n1 3:4\n",
    "\x02"
    "+1.5e300\t7:-0.000000000000000000001 8:.5 9:5. 10:3.4028235e38\n",
    "\x02"
    "nan 1:inf\n",
    "\x02"
    "1,2 3:4\n",
    "\x02"
    "1 1:\n",
};
constexpr std::string_view kPieces[] = {
    ":",        " ",    "\n",   "#",    "-",  ".",   "e",    "0",          "9",
    "99999999", "1:1 ", "qid:", "\r\n", "\t", "nan", "\xff", "2147483648", "9223372036854775808"};

std::string mutated(std::mt19937_64& rng) {
  std::string text(kSeeds[rng() % std::size(kSeeds)]);
  if (rng() % 4 == 0) text += kSeeds[rng() % std::size(kSeeds)].substr(1);
  for (std::size_t changes = rng() % 8; changes > 0 && !text.empty(); --changes) {
    const std::size_t at = rng() % text.size();
    switch (rng() % 5) {
      case 0:
        text[at] = static_cast<char>(rng());
        break;
      case 1:
        text.erase(at, 1 + rng() % 4);
        break;
      case 2:
        text.insert(at, kPieces[rng() % std::size(kPieces)]);
        break;
      case 3:
        text.insert(at, text.substr(rng() % text.size(), rng() % 40));
        break;
      default:
        text.insert(at, rng() % 30, static_cast<char>('0' + rng() % 10));
        break;
    }
  }
  return rng() % 8 == 0 ? text : text + "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : 100000;
  std::mt19937_64 rng(20);
  for (long i = 0; i < rounds; ++i) {
    const std::string text = mutated(rng);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
  std::printf("%ld inputs, nothing wrong\n", rounds);
  return 0;
}
