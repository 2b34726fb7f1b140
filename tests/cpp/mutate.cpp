// A driver for LLVMFuzzerTestOneInput that needs no libFuzzer: seeds, changed at random, always in the same
// way.
//
//   fuzz_vw 400000          that many inputs
//   fuzz_vw --seeds FOLDER  writes the seeds there, as libFuzzer wants its corpus, and the pieces as its dictionary
//
// Built for libFuzzer, which brings its own driver, only --seeds is of use.
#include "mutate.hpp"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) try_input(data[0], {reinterpret_cast<const char*>(data + 1), size - 1});
  return 0;
}

namespace {

#ifndef RIATA_LIBFUZZER
std::string mutated(std::mt19937_64& rng) {
  static const std::vector<std::string_view> kSeeds = seeds(), kPieces = pieces();
  std::string text(kSeeds[rng() % kSeeds.size()]);
  if (rng() % 4 == 0) text += kSeeds[rng() % kSeeds.size()].substr(1);
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
        text.insert(at, kPieces[rng() % kPieces.size()]);
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
#endif

int write_seeds(const std::string& folder) {
  std::ofstream words(folder + ".dict", std::ios::binary);
  for (const std::string_view piece : pieces()) {
    words << '"';
    for (const char c : piece) {
      char written[8];
      std::snprintf(written, sizeof(written), "\\x%02x",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
      words << written;
    }
    if (!(words << "\"\n")) return 1;
  }
  int number = 0;
  for (const std::string_view seed : seeds()) {
    std::ofstream file(folder + "/seed" + std::to_string(number++), std::ios::binary);
    if (!file.write(seed.data(), static_cast<std::streamsize>(seed.size()))) return 1;
  }
  return 0;
}

}  // namespace

#ifdef RIATA_LIBFUZZER
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc == 3 && std::strcmp((*argv)[1], "--seeds") == 0) std::_Exit(write_seeds((*argv)[2]));
  return 0;
}
#else
int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--seeds") == 0) return write_seeds(argv[2]);
  const long rounds = argc > 1 ? std::atol(argv[1]) : 100000;
  std::mt19937_64 rng(20);
  for (long i = 0; i < rounds; ++i) {
    const std::string text = mutated(rng);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
  std::printf("%ld inputs, nothing wrong\n", rounds);
  return 0;
}
#endif
