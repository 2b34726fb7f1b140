// Of two ways to do the same, the one that takes less time: measured on the way, as what others do with the processor changes.
#pragma once

#include <algorithm>
#include <chrono>

namespace riata {

class FasterWay {
 public:
  // Which way to go next, 0 or 1. The other one is tried again now and then.
  int choose() noexcept {
    for (const int way : {1, 0})
      if (cost_[way] == 0) return chosen_ = way;
    const int better = cost_[1] <= cost_[0] ? 1 : 0;
    return chosen_ = ++turns_ % kAgain == 0 ? 1 - better : better;
  }
  // So much work is done by it: work() says how much.
  template <class Work>
  void measure(const Work& work) noexcept {
    const auto from = std::chrono::steady_clock::now();
    const double done = work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
    if (!(done > 0)) return;
    double& cost = cost_[chosen_];
    const double now = std::max(took.count() / done, 1e-15);
    cost = cost == 0 ? now : (cost + now) / 2;
  }

 private:
  static constexpr unsigned kAgain = 16;  // turns

  double cost_[2] = {0, 0};  // 0: not known
  int chosen_ = 0;
  unsigned turns_ = 0;
};

}  // namespace riata
