// What threads share in base/: the barrier, work done in halves, and the memory that is kept between uses.
#include <cstdint>
#include <thread>
#include <vector>

#include "check.hpp"
#include "riata/base/array.hpp"
#include "riata/base/barrier.hpp"
#include "riata/base/parallel_for.hpp"
#include "riata/stores/dense.hpp"

using namespace riata;

namespace {

template <class Work>
void run_in_threads(int threads, Work work) {
  std::vector<std::thread> all;
  for (int me = 0; me < threads; ++me) all.emplace_back(work, me);
  for (std::thread& thread : all) thread.join();
}

// Between two barriers each thread writes what its neighbour reads after the second: no atomics but the
// barrier's.
void barrier_orders_plain_memory() {
  constexpr int kThreads = 3, kRounds = 2000;
  Barrier barrier(kThreads);
  std::vector<int> written(kThreads, 0), wrong(kThreads, 0);
  run_in_threads(kThreads, [&](int me) {
    for (int round = 1; round <= kRounds; ++round) {
      written[static_cast<std::size_t>(me)] = round;
      barrier.arrive_and_wait();
      wrong[static_cast<std::size_t>(me)] += written[static_cast<std::size_t>((me + 1) % kThreads)] != round;
      barrier.arrive_and_wait();
    }
  });
  for (const int count : wrong) CHECK(count == 0);
}

void halves_do_each_row_once() {
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{100001}}) {
    std::vector<int> done(static_cast<std::size_t>(n), 0);
    parallel_for(n, 2, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) ++done[static_cast<std::size_t>(i)];
    });
    for (const int times : done) CHECK(times == 1);
  }
}

// Arrays of readers and rows of models come and go in all threads at once, large enough to be kept: nobody
// gets memory that somebody else still has, and rows are zero.
void memory_is_kept_for_one_at_a_time() {
  constexpr int kThreads = 3, kRounds = 40;
  std::vector<int> wrong(kThreads, 0);
  run_in_threads(kThreads, [&](int me) {
    int& bad = wrong[static_cast<std::size_t>(me)];
    for (int round = 0; round < kRounds; ++round) {
      Array<std::uint64_t> array;
      DenseStore store(1, 1);
      const std::size_t size = std::size_t{1} << 15;
      const std::uint64_t last = (std::uint64_t{1} << 18) - 1;
      if (!array.reserve(size) || !store.reserve(last)) {
        ++bad;
        continue;
      }
      const std::uint64_t mark = static_cast<std::uint64_t>(me * kRounds + round);
      for (std::size_t i = 0; i < size; i += 64) array.data()[i] = mark;
      for (std::uint64_t i = 0; i <= last; i += 512) {
        bad += *store.at(i) != 0;
        *store.at(i) = static_cast<double>(mark + 1);
      }
      for (std::size_t i = 0; i < size; i += 64) bad += array.data()[i] != mark;
      for (std::uint64_t i = 0; i <= last; i += 512) bad += *store.at(i) != static_cast<double>(mark + 1);
    }
  });
  for (const int count : wrong) CHECK(count == 0);
}

}  // namespace

int main() {
  barrier_orders_plain_memory();
  halves_do_each_row_once();
  memory_is_kept_for_one_at_a_time();
  return check::failures();
}
