// Of two ways to do the same, the one that takes less time: measured on the way, as what others do with the processor changes.
#pragma once

#include <chrono>

namespace riata {

class FasterWay {
 public:
  // Which way to go next, 0 or 1. The other one is tried again now and then.
  int choose() noexcept {
    const int usual = cost_[0] < kClearly * cost_[1] ? 0 : 1;
    const unsigned turn = turns_++;
    if (turn < kFirst)
      return chosen_ = turn % 2 == 0 ? 1 : 0;  // work becomes cheaper at first: 1 is tried around 0
    return chosen_ = turn % kAgain == 0 ? 1 - usual : usual;
  }
  // So much work is done by it: work() says how much.
  template <class Work>
  void measure(const Work& work) noexcept {
    const auto from = std::chrono::steady_clock::now();
    const double done = work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
    if (done > 0) cost_[chosen_] = took.count() / done;
  }

 private:
  static constexpr unsigned kFirst = 3, kAgain = 16;  // turns
  static constexpr double kClearly = 0.9;

  double cost_[2] = {0, 0};  // of a piece of work, when it was last done so
  int chosen_ = 0;
  unsigned turns_ = 0;
};

}  // namespace riata
