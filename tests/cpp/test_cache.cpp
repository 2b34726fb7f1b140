// What a cache is made of, there and back, and with damage that no checksum kept away, under sanitizers.
#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "riata/checksum.hpp"
#include "riata/glossary.hpp"
#include "riata/numbering.hpp"
#include "riata/packed_values.hpp"

namespace {

using namespace riata;

void values_there_and_back() {
  std::mt19937 random(1);
  const float odd[] = {-1.0f,
                       -0.0f,
                       0.5f,
                       255.0f,
                       256.0f,
                       1e30f,
                       std::numeric_limits<float>::denorm_min(),
                       std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN()};
  for (int turn = 0; turn < 20'000; ++turn) {
    const std::size_t n = random() % 40;
    const auto ones = random() % 9, kind = random() % 3;
    std::vector<float> values(n);
    for (float& value : values) {
      value = static_cast<float>(random() % 256);
      if (random() % 8 < ones) value = 1.0f;
      if (kind == 2 && random() % 4 == 0) value = odd[random() % std::size(odd)];
    }
    ValueKinds kinds;
    kinds.add(values.data(), n);
    std::vector<std::uint8_t> bytes(n), bits((n + 7) / 8);
    std::vector<float> others, back(n);
    const std::size_t cut = n == 0 ? 0 : random() % n;
    others.resize(n - kinds.counts + 1);
    CountPacker counter(bytes.data(), others.data());
    counter.add(values.data(), cut);
    counter.add(values.data() + cut, n - cut);
    others.resize(n - kinds.counts);
    others.shrink_to_fit();
    CHECK(unpack_counts(bytes.data(), n, others.data(), others.size(), back.data()));
    CHECK(n == 0 || std::memcmp(back.data(), values.data(), n * sizeof(float)) == 0);
    if (n > 0) {  // one count more or less than there are
      const std::size_t k = random() % n;
      bytes[k] = bytes[k] == 0 ? 9 : 0;
      CHECK(!unpack_counts(bytes.data(), n, others.data(), others.size(), back.data()));
    }
    others.resize(n - kinds.ones + 1);
    MixedPacker packer(bits.data(), others.data());
    packer.add(values.data(), cut);
    packer.add(values.data() + cut, n - cut);
    others.resize(n - kinds.ones);
    others.shrink_to_fit();
    std::fill(back.begin(), back.end(), 7.0f);
    CHECK(unpack_mixed(bits.data(), n, others.data(), others.size(), back.data()));
    CHECK(n == 0 || std::memcmp(back.data(), values.data(), n * sizeof(float)) == 0);
    if (n > 0) {  // one bit of the bits flips: there is one other too few or too many
      const std::size_t k = random() % n;
      bits[k / 8] ^= static_cast<std::uint8_t>(1u << (k % 8));
      CHECK(!unpack_mixed(bits.data(), n, others.data(), others.size(), back.data()));
    }
  }
}

void numbers_there_and_back() {
  std::mt19937_64 random(2);
  Numbering numbering;
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
    CHECK(numbering.number(keys.data(), n, text.data(), offsets.data(), numbers.data()));
    all_numbers.insert(all_numbers.end(), numbers.begin(), numbers.end());
  }
  std::vector<std::int64_t> offsets{0};
  for (std::size_t i = 0; i < numbering.lengths.size(); ++i)
    offsets.push_back(offsets.back() + numbering.lengths[i]);
  const GlossaryView glossary{numbering.size(), numbering.names.data(), offsets.data()};
  const std::size_t n = all_names.size();
  CHECK(glossary.holds(all_numbers.data(), n));
  CHECK(glossary.holds(nullptr, 0));
  const std::uint32_t beyond[] = {0, static_cast<std::uint32_t>(glossary.size)};
  CHECK(!glossary.holds(beyond, 2));
  std::vector<std::int64_t> ends(n + 1);
  glossary.offsets_of(all_numbers.data(), n, ends.data());
  std::string names(static_cast<std::size_t>(ends.back()), ' '), wanted;
  glossary.names_of(all_numbers.data(), n, names.data());
  for (const std::string& name : all_names) wanted += name;
  CHECK(names == wanted);
}

// Whatever happens to a few bytes, the sum is another; and it is the same on every machine.
void every_byte_counts() {
  std::mt19937 random(3);
  std::vector<char> data(1000);
  for (char& byte : data) byte = static_cast<char>(random() % 4 == 0 ? random() : 0);
  CHECK(checksum(nullptr, 0) == 0x19821c3d49579db1ULL);
  CHECK(checksum("riata", 5) == 0xc54c5ed8384076bbULL);
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
  values_there_and_back();
  numbers_there_and_back();
  every_byte_counts();
  return check::failures();
}
