// A mutex that a fork waits for: the child could wait for ever for one that another thread held.
#pragma once

#include <pthread.h>

#include <mutex>

namespace riata {

// Owner::mutex_of_all() is a mutex that lives as long as the process. Once for each Owner.
template <class Owner>
bool hold_across_forks() noexcept {
  return pthread_atfork([] { Owner::mutex_of_all().lock(); }, [] { Owner::mutex_of_all().unlock(); },
                        [] { Owner::mutex_of_all().unlock(); }) == 0;
}

}  // namespace riata
