// Rounds of tasks that threads share: a round begins when all tasks of the one before are done.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <thread>

namespace riata {

inline constexpr int kMostThreads = 16, kMostTasks = 24;

// Who has nothing to do looks out for the next round before it falls asleep: to be woken takes longer than most of these
// waits last. Nobody is waited for but those who work on a task, so that a thread that the system lets wait, as others need
// the processor, costs nothing.
class Rounds {
 public:
  // A first round of so many tasks, 1 to kMostTasks.
  explicit Rounds(int tasks) noexcept : state_(word(0, tasks)) {}

  // work(task) for tasks of all rounds, while other threads do the same, each with a number `me` of its own among so many.
  // When a round is done, next() is called by one thread, and says how many tasks the next round has; 0: all is done.
  template <class Work, class Next>
  void take_part(int me, int threads, const Work& work, const Next& next) noexcept {
    std::uint64_t mine = 0;  // the tasks that this thread takes first
    for (int k = me; k < kMostTasks; k += threads) mine |= std::uint64_t{1} << k;
    std::uint64_t now = state_.load(std::memory_order_acquire);
    while (tasks_of(now) != 0) {
      const std::uint64_t left = ~now & ((std::uint64_t{1} << tasks_of(now)) - 1);
      if (left == 0) {
        now = changed(now);
        continue;
      }
      const int task = std::countr_zero((left & mine) != 0 ? left & mine : left);
      if (!state_.compare_exchange_weak(now, now | std::uint64_t{1} << task, std::memory_order_acq_rel,
                                        std::memory_order_acquire))
        continue;
      work(task);
      if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == tasks_of(now)) {
        done_.store(0, std::memory_order_relaxed);
        state_.store(word(round_of(now) + 1, next()), std::memory_order_release);
        state_.notify_all();
      }
      now = state_.load(std::memory_order_acquire);
    }
  }

 private:
  static constexpr int kLooks = 4096, kYield = 64;

  // The number of the round, how many tasks it has, and a bit for each that somebody has taken.
  static std::uint64_t word(std::uint64_t round, int tasks) noexcept {
    return round << 32 | static_cast<std::uint64_t>(tasks) << kMostTasks;
  }
  static int tasks_of(std::uint64_t state) noexcept { return static_cast<int>(state >> kMostTasks & 0xFF); }
  static std::uint64_t round_of(std::uint64_t state) noexcept { return state >> 32; }

  std::uint64_t changed(std::uint64_t from) const noexcept {
    for (int look = 1; look <= kLooks; ++look) {
      if (const std::uint64_t now = state_.load(std::memory_order_acquire); now != from) return now;
      if (look % kYield == 0) {
        std::this_thread::yield();
      } else {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
    }
    state_.wait(from, std::memory_order_acquire);
    return state_.load(std::memory_order_acquire);
  }

  std::atomic<std::uint64_t> state_;
  std::atomic<int> done_ = 0;
};

// All rounds, by so many threads, of which this one is the first; by fewer where no more are to be had. All have ended when
// this returns: where a process forks, there are none but those of another thread that is at work itself.
template <class Work, class Next>
void in_rounds(int threads, int tasks, const Work& work, const Next& next) noexcept {
  Rounds rounds(tasks);
  std::thread others[kMostThreads];
  int started = 1;
  try {
    for (; started < threads && started < kMostThreads; ++started)
      others[started] = std::thread([&, me = started] { rounds.take_part(me, threads, work, next); });
  } catch (const std::exception&) {  // those that are there do all
  }
  rounds.take_part(0, threads, work, next);
  for (int k = 1; k < started; ++k) others[k].join();
}

// The tasks of one round.
template <class Work>
void in_threads(int threads, int tasks, const Work& work) noexcept {
  in_rounds(threads, tasks, work, [] { return 0; });
}

}  // namespace riata
