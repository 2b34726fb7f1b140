// Wide instructions and plain ones unpack the same, and read nothing beyond the end.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "check.hpp"
#include "riata/block/drop_zeros.hpp"
#include "riata/formats/parquet/runs.hpp"

namespace {

using namespace riata;
using namespace riata::parquet;

std::mt19937_64 random(3);

// Numbers of so many bits, one behind another, at the end of their memory.
std::unique_ptr<Byte[]> packed(const std::vector<std::uint32_t>& numbers, int width, std::size_t& size) {
  size = (numbers.size() * static_cast<std::size_t>(width) + 7) / 8;
  std::unique_ptr<Byte[]> bytes(new Byte[size]());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (int b = 0; b < width; ++b) {
      const std::size_t bit = i * static_cast<std::size_t>(width) + static_cast<std::size_t>(b);
      bytes[bit / 8] = static_cast<Byte>(bytes[bit / 8] | ((numbers[i] >> b & 1) << (bit % 8)));
    }
  }
  return bytes;
}

void numbers_of_every_width() {
  for (int width = 1; width <= kWidest; ++width) {
    for (const std::size_t count : {8, 16, 24, 40, 200, 1000}) {
      std::vector<std::uint32_t> numbers(count);
      for (auto& number : numbers) number = static_cast<std::uint32_t>(random() >> (64 - width));
      std::size_t size = 0;
      const auto bytes = packed(numbers, width, size);
      for (const UnpackKernels& how : {*find_unpack_kernels(Instructions::plain), best_unpack_kernels()}) {
        std::unique_ptr<std::uint32_t[]> to(new std::uint32_t[count]);
        const std::size_t done = how.unpack({bytes.get(), bytes.get() + size, width}, to.get(), count);
        CHECK(done % 8 == 0 && done <= count && done + 64 >= count);
        CHECK(std::equal(to.get(), to.get() + done, numbers.begin()));
        CHECK(how.largest(numbers.data(), count) == *std::max_element(numbers.begin(), numbers.end()));
        // The same as a run, whatever number of them is wanted at a time.
        std::vector<Byte> run;
        for (std::size_t groups = count / 8 << 1 | 1; groups > 0; groups >>= 7)
          run.push_back(static_cast<Byte>((groups & 0x7F) | (groups > 0x7F ? 0x80 : 0)));
        run.insert(run.end(), bytes.get(), bytes.get() + size);
        const std::unique_ptr<Byte[]> exact(new Byte[run.size()]);
        std::copy(run.begin(), run.end(), exact.get());
        Runs runs(exact.get(), exact.get() + run.size(), width);
        std::vector<std::uint32_t> found(count);
        for (std::size_t at = 0, some; at < count; at += some) {
          some = std::min<std::size_t>(count - at, 1 + random() % 50);
          CHECK(runs.read(found.data() + at, some, how));
        }
        CHECK(found == numbers);
        CHECK(!runs.read(found.data(), 1, how));
      }
    }
  }
}

void codes_to_their_rows() {
  for (int round = 0; round < 300; ++round) {
    const std::size_t rows = 1 + random() % 300, before = random() % 130;
    Bits bits;
    CHECK(bits.clear(before + rows));
    std::vector<bool> there;
    for (std::size_t i = 0; i < before + rows;) {
      const std::size_t some = std::min<std::size_t>(before + rows - i, 1 + random() % 64);
      const std::uint64_t word = (random() | random()) & (~std::uint64_t{0} >> (64 - some));
      bits.append(word, some);
      for (std::size_t b = 0; b < some; ++b) there.push_back((word >> b & 1) != 0);
      i += some;
    }
    CHECK(bits.size() == before + rows);
    std::vector<std::uint32_t> codes(rows + kUnpackRoom), wanted;
    for (auto& code : codes) code = static_cast<std::uint32_t>(random());
    std::size_t next = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      CHECK(bits[before + i] == there[before + i]);
      wanted.push_back(there[before + i] ? codes[next++] : 7);
    }
    for (const UnpackKernels& how : {*find_unpack_kernels(Instructions::plain), best_unpack_kernels()}) {
      std::vector<std::uint32_t> to(rows);
      how.spread(codes.data(), bits.bytes(), before, to.data(), rows, 7);
      CHECK(to == wanted);
    }
  }
}

void features_without_zeros() {
  for (int round = 0; round < 200; ++round) {
    const std::size_t width = kDropZerosSlack * (1 + random() % 6);
    std::vector<std::int64_t> keys(width);
    std::vector<float> values(width);
    for (std::size_t i = 0; i < width; ++i) {
      keys[i] = static_cast<std::int64_t>(random());
      values[i] =
          random() % 3 == 0 ? (random() % 2 == 0 ? 0.0F : -0.0F) : static_cast<float>(random() % 9) - 4;
    }
    std::vector<std::int64_t> found[2];
    std::vector<float> kept[2];
    int which = 0;
    for (const DropZerosKernels& kernels :
         {*find_drop_zeros_kernels(Instructions::plain), best_drop_zeros_kernels()}) {
      found[which].resize(width + kDropZerosSlack);
      kept[which].resize(width + kDropZerosSlack);
      const std::size_t count =
          kernels.copy(keys.data(), values.data(), width, found[which].data(), kept[which].data());
      found[which].resize(count);
      kept[which].resize(count);
      ++which;
    }
    CHECK(found[0] == found[1] && kept[0] == kept[1]);
    CHECK(static_cast<std::ptrdiff_t>(kept[0].size()) ==
          std::count_if(values.begin(), values.end(), [](float value) { return value != 0; }));
    CHECK(std::none_of(kept[0].begin(), kept[0].end(), [](float value) { return value == 0; }));
  }
}

}  // namespace

int main() {
  numbers_of_every_width();
  codes_to_their_rows();
  features_without_zeros();
  return check::failures();
}
