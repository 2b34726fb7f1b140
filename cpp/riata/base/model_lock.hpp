// The lock of a model: readers together, learners one by one, and nobody waits for ever.
//
// A reader waits for at most one learner, however many queue: all readers that came while it learned enter
// when it leaves. A learner waits for the readers that are inside, for those that waited when the learner
// before it left, and for the learners before it. (With std::shared_mutex a stream of readers may keep
// learners out for ever.)
//
// Fork: in the child only the forking thread lives on. A lock that readers held is free there; a model that
// another thread was learning is in the middle of an example, and taking its lock throws.
#pragma once

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <stdexcept>

namespace riata {

// How many forks led to this process.
class Forks {
 public:
  static std::uint32_t count() noexcept {
    static const bool watched = pthread_atfork(nullptr, nullptr, [] { ++counter(); }) == 0;
    return watched ? counter() : 0;
  }

 private:
  static std::uint32_t& counter() noexcept {  // written while there is one thread alone
    static std::uint32_t forks = 0;
    return forks;
  }
};

// As long as nobody has to wait, one word says it all: who learns and how many read. A thread that has to wait marks
// it as contended, and from then on it changes under the mutex alone, until nobody waits any more.
// (Tests take another atomic word, which lets other threads in between any two looks at it.)
template <template <class> class Atomic>
class ModelLockOf {
 public:
  ModelLockOf() noexcept : forks_(Forks::count()) {}
  ModelLockOf(const ModelLockOf&) = delete;
  ModelLockOf& operator=(const ModelLockOf&) = delete;

  void lock() {
    if (try_lock()) return;
    std::unique_lock held(mutex_);
    contend();
    const std::uint64_t ticket = next_learner_++;
    changed_.wait(held, [&] { return ticket == learner_ && word() == kContended; });
    word_.store(kContended | kLearning, std::memory_order_relaxed);
  }
  bool try_lock() {
    enter();
    std::uint64_t free = 0;
    return word_.compare_exchange_strong(free, kLearning, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  void unlock() noexcept {
    std::uint64_t alone = kLearning;
    if (word_.compare_exchange_strong(alone, 0, std::memory_order_release, std::memory_order_relaxed)) return;
    const std::lock_guard held(mutex_);
    ++learner_;
    const bool anybody = waiting_readers_ != 0 || next_learner_ != learner_;
    set_readers(waiting_readers_);  // they are inside as of now
    waiting_readers_ = 0;
    if (anybody) changed_.notify_all();
  }

  void lock_shared() {
    if (try_lock_shared()) return;
    std::unique_lock held(mutex_);
    contend();
    if (next_learner_ == learner_) return set_readers(word() / kReader + 1);
    ++waiting_readers_;
    const std::uint64_t before = learner_;
    changed_.wait(held, [&] { return learner_ != before; });
  }
  bool try_lock_shared() {
    enter();
    std::uint64_t now = word();
    while ((now & (kLearning | kContended)) == 0)
      if (word_.compare_exchange_weak(now, now + kReader, std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return true;
    return false;
  }
  void unlock_shared() noexcept {
    std::uint64_t now = word();
    while ((now & kContended) == 0)
      if (word_.compare_exchange_weak(now, now - kReader, std::memory_order_release,
                                      std::memory_order_relaxed))
        return;
    const std::lock_guard held(mutex_);
    contend();  // again: since the look above the word may have become free to change without the mutex
    set_readers(word() / kReader - 1);
    if (word() == kContended) changed_.notify_all();
  }

 private:
  static constexpr std::uint32_t kMending = ~std::uint32_t{0};
  static constexpr std::uint64_t kLearning = 1, kContended = 2, kReader = 4;

  std::uint64_t word() const noexcept { return word_.load(std::memory_order_relaxed); }

  // With the mutex: from here on nobody comes or goes without it. Who learns already had no ticket: now he has.
  void contend() noexcept {
    const std::uint64_t before = word_.fetch_or(kContended, std::memory_order_acq_rel);
    if ((before & kContended) == 0 && (before & kLearning) != 0) ++next_learner_;
  }
  // With the mutex, while nobody learns and the word is contended.
  void set_readers(std::uint64_t readers) noexcept {
    const std::uint64_t waited_for = next_learner_ != learner_ ? kContended : 0;
    word_.store(readers * kReader | waited_for, std::memory_order_release);
  }

  void enter() {
    if (forks_.load(std::memory_order_acquire) != Forks::count()) [[unlikely]]
      mend();
    if (torn_) [[unlikely]]
      throw std::runtime_error(
          "this process was forked while another thread was learning this model: it is in the middle of an "
          "example here. Fork before learning starts, or load the model from a file in the child");
  }
  // After a fork: threads that waited or read are gone, and so is one that held the mutex.
  void mend() noexcept {
    std::uint32_t seen = forks_.load(std::memory_order_acquire);
    while (seen != Forks::count()) {
      if (seen != kMending && forks_.compare_exchange_weak(seen, kMending)) {
        new (&mutex_) std::mutex;
        new (&changed_) std::condition_variable;
        torn_ = torn_ || (word() & kLearning) != 0;
        word_.store(0, std::memory_order_relaxed);
        waiting_readers_ = 0;
        next_learner_ = learner_;
        forks_.store(Forks::count(), std::memory_order_release);
        return;
      }
      seen = forks_.load(std::memory_order_acquire);
    }
  }

  std::atomic<std::uint32_t> forks_;
  bool torn_ = false;              // written while mending alone
  Atomic<std::uint64_t> word_{0};  // kLearning, kContended, and kReader for each that reads
  std::mutex mutex_;               // of all below
  std::condition_variable changed_;
  std::uint64_t next_learner_ = 0;  // tickets handed out; equal to learner_: nobody waits to learn
  std::uint64_t learner_ = 0;       // the ticket whose turn it is
  std::uint64_t waiting_readers_ = 0;
};

using ModelLock = ModelLockOf<std::atomic>;

}  // namespace riata
