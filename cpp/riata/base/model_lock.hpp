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

class ModelLock {
 public:
  ModelLock() noexcept : forks_(Forks::count()) {}
  ModelLock(const ModelLock&) = delete;
  ModelLock& operator=(const ModelLock&) = delete;

  void lock() {
    enter();
    std::unique_lock held(mutex_);
    const std::uint64_t ticket = next_learner_++;
    changed_.wait(held, [&] { return ticket == learner_ && !learning_ && readers_ == 0; });
    learning_ = true;
  }
  bool try_lock() {
    enter();
    const std::lock_guard held(mutex_);
    if (learning_ || readers_ != 0 || next_learner_ != learner_) return false;
    ++next_learner_;
    return learning_ = true;
  }
  void unlock() noexcept {
    const std::lock_guard held(mutex_);
    learning_ = false;
    ++learner_;
    readers_ += waiting_readers_;  // they are inside as of now
    if (waiting_readers_ != 0 || next_learner_ != learner_) changed_.notify_all();
    waiting_readers_ = 0;
  }

  void lock_shared() {
    enter();
    std::unique_lock held(mutex_);
    if (!learning_ && next_learner_ == learner_) {
      ++readers_;
      return;
    }
    ++waiting_readers_;
    const std::uint64_t before = learner_;
    changed_.wait(held, [&] { return learner_ != before; });
  }
  bool try_lock_shared() {
    enter();
    const std::lock_guard held(mutex_);
    if (learning_ || next_learner_ != learner_) return false;
    ++readers_;
    return true;
  }
  void unlock_shared() noexcept {
    const std::lock_guard held(mutex_);
    if (--readers_ == 0 && next_learner_ != learner_) changed_.notify_all();
  }

 private:
  static constexpr std::uint32_t kMending = ~std::uint32_t{0};

  void enter() {
    if (forks_.load(std::memory_order_acquire) != Forks::count()) mend();
    if (torn_)
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
        torn_ = torn_ || learning_;
        readers_ = waiting_readers_ = 0;
        learning_ = false;
        next_learner_ = learner_;
        forks_.store(Forks::count(), std::memory_order_release);
        return;
      }
      seen = forks_.load(std::memory_order_acquire);
    }
  }

  std::atomic<std::uint32_t> forks_;
  bool torn_ = false;  // written while mending alone
  std::mutex mutex_;   // of all below
  std::condition_variable changed_;
  std::uint64_t next_learner_ = 0;  // tickets handed out; equal to learner_: nobody learns or waits to
  std::uint64_t learner_ = 0;       // the ticket whose turn it is
  std::uint64_t readers_ = 0;       // inside
  std::uint64_t waiting_readers_ = 0;
  bool learning_ = false;
};

}  // namespace riata
