// A file mapped into memory, for reading.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "riata/base/across_forks.hpp"

namespace riata {

// Whoever reads where a mapped file has no bytes any more, because somebody cut it short or the disk failed,
// gets a SIGBUS, which ends the process. Here such a page becomes zeros instead, and its mapping knows that
// bytes were lost. All other such signals go to whoever wanted them before.
class BusErrors {
 public:
  // A range of addresses that is watched. Never freed, only used again: a signal may be looking at it.
  struct Place {
    std::atomic<std::uintptr_t> begin{0}, end{0};
    std::atomic<bool> lost{false}, taken{false};
    Place* next = nullptr;
  };

  static Place* watch(void* data, std::size_t size) {
    const std::lock_guard alone(guard());
    install();
    Place* place = first().load();
    while (place != nullptr && place->taken) place = place->next;
    if (place == nullptr) {
      place = new Place;
      place->next = first().load();
      first().store(place);
    }
    place->taken = true;
    place->lost = false;
    place->end = reinterpret_cast<std::uintptr_t>(data) + size;
    place->begin = reinterpret_cast<std::uintptr_t>(data);
    return place;
  }
  static void forget(Place* place) {
    const std::lock_guard alone(guard());
    place->begin = place->end = 0;
    place->taken = false;
  }

  static std::mutex& mutex_of_all() noexcept {
    static std::mutex mutex;
    return mutex;
  }

 private:
  static std::mutex& guard() {
    [[maybe_unused]] static const bool held = hold_across_forks<BusErrors>();
    return mutex_of_all();
  }
  // Not inside functions: a signal handler may not meet the lock of a first use.
  inline static std::atomic<Place*> places_{nullptr};
  inline static std::atomic<bool> passed_on_{false};
  inline static struct sigaction before_{};
  inline static std::uintptr_t page_ = 4096;

  static std::atomic<Place*>& first() noexcept { return places_; }

  // Again, if somebody else has come since: a fault handler that was switched on later, say.
  static void install() {
    struct sigaction now{};
    sigaction(SIGBUS, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &handle) return;
    page_ = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    before_ = now;
    passed_on_ = false;
    struct sigaction ours{};
    ours.sa_sigaction = &handle;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGBUS, &ours, nullptr);
  }

  static void handle(int, siginfo_t* info, void*) noexcept {
    const int kept = errno;
    const bool fault = info->si_code > 0;  // not sent by anyone
    const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (!fault || !mend(at)) {
      // The instruction is tried again, and then meets whoever was there before; if that one hands the
      // signal back to us, it ends the process.
      struct sigaction plain{};
      plain.sa_handler = SIG_DFL;
      sigaction(SIGBUS, passed_on_.exchange(true) ? &plain : &before_, nullptr);
      if (!fault) raise(SIGBUS);
    }
    errno = kept;
  }

  static bool mend(std::uintptr_t at) noexcept {
    for (Place* place = places_.load(); place != nullptr; place = place->next) {
      if (at < place->begin || at >= place->end) continue;
      place->lost = true;
      void* const page = reinterpret_cast<void*>(at & ~(page_ - 1));
      return mmap(page, page_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    }
    return false;
  }
};

class Mapped {
 public:
  Mapped() noexcept = default;
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  ~Mapped() {
    if (data_ == nullptr) return;
    BusErrors::forget(place_);
    munmap(data_, size_);
  }

  const char* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

  // The first `size` bytes of an open file. 0, or the number of the error.
  int open(int descriptor, std::size_t size) {
    void* const data = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED) return errno;
    data_ = static_cast<char*>(data);
    size_ = size;
    place_ = BusErrors::watch(data, size);
    return 0;
  }

  // Has the system begin to read bytes that are not in memory yet.
  void fetch(std::size_t start, std::size_t size) const noexcept {
    advise(start / page() * page(), start + size, MADV_WILLNEED);
  }
  // They will not be needed for a while. Whoever reads them all the same gets them from the file again.
  void release(std::size_t start, std::size_t size) const noexcept {
    advise((start + page() - 1) / page() * page(), (start + size) / page() * page(), MADV_DONTNEED);
  }
  // Bytes were not there when somebody read them.
  bool lost() const noexcept { return place_ != nullptr && place_->lost; }

 private:
  static std::size_t page() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
  void advise(std::size_t begin, std::size_t end, int how) const noexcept {
    if (begin < end && end <= size_) (void)madvise(data_ + begin, end - begin, how);
  }

  char* data_ = nullptr;
  std::size_t size_ = 0;
  BusErrors::Place* place_ = nullptr;
};

}  // namespace riata
