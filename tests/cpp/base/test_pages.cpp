// Zeroed pages: zero whatever they held before, kept for the next who wants as many, and never too many.
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "check.hpp"
#include "riata/base/zero_pages.hpp"

using namespace riata;

namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

bool all_zero(const ZeroPages& pages) {
  const auto* words = pages.as<std::uint64_t>();
  for (std::size_t i = 0; i < pages.bytes() / sizeof *words; ++i)
    if (words[i] != 0) return false;
  return true;
}

std::size_t resident() {  // bytes of this process in memory; pages that were only read do not count
  std::size_t whole = 0, present = 0;
  std::FILE* const told = std::fopen("/proc/self/statm", "r");
  CHECK(told != nullptr && std::fscanf(told, "%zu %zu", &whole, &present) == 2);
  if (told != nullptr) std::fclose(told);
  return present * pages::page_size();
}

void zero_again() {
  void* before = nullptr;
  {
    ZeroPages pages;
    CHECK(pages.grow(16 * kMegabyte) && all_zero(pages));
    before = pages.as<void>();
    std::memset(before, 0x5A, pages.bytes());
  }
  ZeroPages again;
  CHECK(again.grow(16 * kMegabyte));
  CHECK(again.as<void>() == before && all_zero(again));  // the same memory, as if it were new
  ZeroPages other;
  CHECK(other.grow(16 * kMegabyte));
  CHECK(other.as<void>() != before && all_zero(other));  // nobody has it twice
}

void growth_keeps_what_is_there() {
  ZeroPages pages;
  for (std::size_t size = 1; size <= 64; size *= 2) {  // through memory that sizes before gave back
    CHECK(pages.grow(size * kMegabyte));
    auto* words = pages.as<std::uint64_t>();
    const std::size_t n = pages.bytes() / sizeof *words;
    for (std::size_t i = size == 1 ? 0 : n / 2; i < n; ++i) {
      CHECK(words[i] == 0);
      words[i] = i + 1;
    }
    for (std::size_t i = 0; i < n; i += 511) CHECK(words[i] == i + 1);
  }
}

// A few pages of much were written to: the next owner has no more of it in memory than that.
void untouched_stays_untouched() {
  const std::size_t at_first = resident();
  void* before = nullptr;
  for (int round = 0; round < 3; ++round) {
    ZeroPages pages;
    CHECK(pages.grow(48 * kMegabyte));
    CHECK(round == 0 || pages.as<void>() == before);
    before = pages.as<void>();
    CHECK(all_zero(pages));
    pages.as<char>()[5 * kMegabyte] = 1;
    CHECK(resident() < at_first + 16 * kMegabyte);
  }
}

void bounded() {
  std::vector<void*> dropped;
  {
    std::vector<ZeroPages> many;
    for (int i = 0; i < 40; ++i) {
      CHECK(many.emplace_back().grow(4 * kMegabyte));
      dropped.push_back(many.back().as<void>());
      std::memset(dropped.back(), 1, 4 * kMegabyte);
    }
  }
  std::size_t kept = 0;
  for (void* memory : dropped) {
    unsigned char told = 0;
    kept += mincore(memory, pages::page_size(), &told) == 0;  // fails where nothing is mapped any more
  }
  CHECK(kept * 4 * kMegabyte <= MemoryPool::kMostBytes);
  CHECK(kept > 0);
}

}  // namespace

int main() {
  untouched_stays_untouched();
  zero_again();
  growth_keeps_what_is_there();
  bounded();
  return check::failures();
}
