// A barrier for threads that wait for each other often.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace riata {

// The thread that comes first looks out for the others before it falls asleep: to be woken takes longer than most of
// these waits last. Now and then it lets others have the processor.
class Barrier {
 public:
  explicit Barrier(int threads) noexcept : threads_(threads) {}

  void arrive_and_wait() noexcept {
    const std::uint32_t round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.fetch_add(1, std::memory_order_release);
      round_.notify_all();
      return;
    }
    for (int look = 1; look <= kLooks; ++look) {
      if (round_.load(std::memory_order_acquire) != round) return;
      if (look % kYield == 0)
        std::this_thread::yield();
      else
        pause();
    }
    round_.wait(round, std::memory_order_acquire);
  }

 private:
  static constexpr int kLooks = 4096, kYield = 64;

  static void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  const int threads_;
  std::atomic<int> arrived_ = 0;
  std::atomic<std::uint32_t> round_ = 0;
};

}  // namespace riata
