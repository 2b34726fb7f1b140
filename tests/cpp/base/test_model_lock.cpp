// The lock of a model: learners alone, readers together and soon, forks. Also a program for ThreadSanitizer.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "check.hpp"
#include "riata/base/model_lock.hpp"

using riata::ModelLock;

namespace {

// Two plain numbers that are equal whenever nobody learns.
void learners_and_readers() {
  ModelLock lock;
  long a = 0, b = 0;
  std::atomic<long> torn{0}, together{0}, inside{0};
  constexpr int kTurns = 20000;
  std::vector<std::thread> all;
  for (int i = 0; i < 3; ++i)
    all.emplace_back([&] {
      for (int k = 0; k < kTurns; ++k) {
        const std::unique_lock alone(lock);
        ++a;
        ++b;
      }
    });
  for (int i = 0; i < 3; ++i)
    all.emplace_back([&] {
      for (int k = 0; k < kTurns; ++k) {
        const std::shared_lock read(lock);
        if (++inside > 1) ++together;
        if (a != b) ++torn;
        --inside;
      }
    });
  for (int i = 0; i < 2; ++i)
    all.emplace_back([&] {
      for (int k = 0; k < kTurns; ++k) {
        if (lock.try_lock_shared()) {
          if (a != b) ++torn;
          lock.unlock_shared();
        }
        if (k % 16 == 0 && lock.try_lock()) lock.unlock();
      }
    });
  for (std::thread& thread : all) thread.join();
  CHECK(torn == 0);
  CHECK(a == 3L * kTurns && b == a);
}

// A word that others may change in between any two looks at it.
template <class T>
class SlowAtomic {
 public:
  SlowAtomic(T value) : word_(value) {}
  T load(std::memory_order order) const noexcept { return pause(), word_.load(order); }
  void store(T value, std::memory_order order) noexcept { pause(), word_.store(value, order); }
  T fetch_or(T bits, std::memory_order order) noexcept { return pause(), word_.fetch_or(bits, order); }
  bool compare_exchange_strong(T& seen, T next, std::memory_order yes, std::memory_order no) noexcept {
    return pause(), word_.compare_exchange_strong(seen, next, yes, no);
  }
  bool compare_exchange_weak(T& seen, T next, std::memory_order yes, std::memory_order no) noexcept {
    return pause(), word_.compare_exchange_weak(seen, next, yes, no);
  }

 private:
  static void pause() noexcept {
    thread_local std::uint32_t random =
        static_cast<std::uint32_t>(std::hash<std::thread::id>{}(std::this_thread::get_id()));
    random = random * 1664525u + 1013904223u;
    if (random >> 30 == 0) std::this_thread::yield();
  }
  std::atomic<T> word_;
};

// One that leaves counts itself out of those that are inside now, not of those that it saw. (A reader that came while
// another waited for the mutex was lost from the count, and the next learner waited for ever.)
void nobody_is_lost() {
  constexpr int kRounds = 100, kTurns = 300, kThreads = 5;
  for (int round = 0; round < kRounds; ++round) {
    riata::ModelLockOf<SlowAtomic> lock;
    long a = 0, b = 0;
    std::atomic<long> torn{0};
    std::atomic<int> done{0};
    std::vector<std::thread> all;
    for (int i = 0; i < kThreads; ++i)
      all.emplace_back([&, i] {
        for (int k = 0; k < kTurns; ++k) {
          if (i == 0) {
            const std::unique_lock alone(lock);
            ++a;
            if (k % 2 == 0) std::this_thread::yield();
            ++b;
          } else {
            const std::shared_lock read(lock);
            if (a != b) ++torn;
            if (k % 3 == i % 3) std::this_thread::yield();
          }
        }
        ++done;
      });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (done < kThreads && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    CHECK(torn == 0);
    CHECK(done == kThreads);
    if (done < kThreads) _exit(check::failures());  // they wait for ever
    for (std::thread& thread : all) thread.join();
    CHECK(lock.try_lock());
  }
}

// Readers that never leave a gap do not keep a learner out, nor learners that queue a reader.
void nobody_starves() {
  ModelLock lock;
  std::atomic<bool> stop{false};
  std::atomic<long> learned{0}, read{0};
  std::vector<std::thread> all;
  const auto hold = [&]<class Held>(Held, std::atomic<long>& count) {
    while (!stop) {
      const Held held(lock);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++count;
    }
  };
  for (int i = 0; i < 3; ++i) all.emplace_back([&] { hold(std::shared_lock<ModelLock>(), read); });
  for (int i = 0; i < 2; ++i) all.emplace_back([&] { hold(std::unique_lock<ModelLock>(), learned); });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while ((learned < 20 || read < 20) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  stop = true;
  for (std::thread& thread : all) thread.join();
  CHECK(learned >= 20);
  CHECK(read >= 20);
}

template <class InChild>
bool child_agrees(InChild in_child) {
  const pid_t child = fork();
  if (child == 0) _exit(in_child() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// What other threads held is free in the child, unless one was learning: that is refused.
void forks() {
  ModelLock read, learned;
  std::atomic<bool> held{false}, done{false};
  std::thread other([&] {
    const std::shared_lock together(read);
    const std::unique_lock alone(learned);
    held = true;
    while (!done) std::this_thread::yield();
  });
  while (!held) std::this_thread::yield();
  CHECK(child_agrees([&] {
    const std::unique_lock alone(read);
    return true;
  }));
  CHECK(child_agrees([&] {
    for (int i = 0; i < 2; ++i) {
      try {
        const std::shared_lock together(learned);
        return false;
      } catch (const std::runtime_error&) {
      }
    }
    return true;
  }));
  done = true;
  other.join();
  const std::unique_lock alone(learned);  // the parent goes on
}

}  // namespace

int main() {
  learners_and_readers();
  nobody_is_lost();
  nobody_starves();
#if !defined(__SANITIZE_THREAD__)  // which knows no fork beside threads
  forks();
#endif
  return check::failures();
}
