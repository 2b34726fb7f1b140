// Things by ascending key.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace riata {

// All pairs of a key and a thing that for_each(visit) visits, by ascending key. It is called three times and must visit
// the same each time. Keys are put into buckets by their leading bits, a few to a bucket where they are hashes, and each
// bucket is sorted: no more memory is taken than the pairs need and a few bits for each.
template <class Thing, class ForEach>
std::vector<std::pair<std::uint64_t, Thing>> by_ascending_key(ForEach for_each) {
  constexpr int kFewBits = 4;  // 2^4 to a bucket
  std::size_t size = 0;
  std::uint64_t any = 0;
  for_each([&](std::uint64_t key, Thing) {
    ++size;
    any |= key;
  });
  const int bits = std::clamp(static_cast<int>(std::bit_width(size)) - kFewBits, 1, 24);
  const int shift = std::max(static_cast<int>(std::bit_width(any)) - bits, 0);
  const auto bucket = [&](std::uint64_t key) { return static_cast<std::size_t>(key >> shift); };
  std::vector<std::size_t> ends((std::size_t{1} << bits) + 1, 0);
  for_each([&](std::uint64_t key, Thing) { ++ends[bucket(key) + 1]; });
  for (std::size_t b = 1; b < ends.size(); ++b) ends[b] += ends[b - 1];
  std::vector<std::pair<std::uint64_t, Thing>> out(size);
  // From here on ends[b] is where the next of bucket b goes: in the end, where the bucket ends.
  for_each([&](std::uint64_t key, Thing thing) { out[ends[bucket(key)]++] = {key, thing}; });
  std::size_t begin = 0;
  for (std::size_t b = 0; b + 1 < ends.size(); begin = ends[b++])
    std::sort(out.begin() + static_cast<std::ptrdiff_t>(begin),
              out.begin() + static_cast<std::ptrdiff_t>(ends[b]));
  return out;
}

}  // namespace riata
