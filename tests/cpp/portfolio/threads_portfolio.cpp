// Groups of members learn on several threads: the bits of one thread, with pieces of any size, drops, errors on the way.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "block/view.hpp"
#include "check.hpp"
#include "riata/base/faster_way.hpp"
#include "riata/base/rounds.hpp"
#include "riata/portfolio/portfolio.hpp"

using namespace riata;

namespace {

std::vector<Member> members() {
  std::vector<Member> out;
  for (const Values values : {Values::raw, Values::rms})
    for (int k = 0; k < 3; ++k) out.push_back({Rule::bayesian, values, std::exp2(6 * k - 8)});
  for (const Values values : {Values::unit, Values::unit_rms})
    for (int k = 0; k < 3; ++k) out.push_back({Rule::adagrad, values, std::exp2(3 * k - 3)});
  return out;
}

WeightedRows some(std::mt19937_64& random, int rows, int classes, std::uint64_t features) {
  WeightedRows out;
  for (int r = 0; r < rows; ++r) {
    const auto label = random() % static_cast<std::uint64_t>(classes);
    for (std::uint64_t k = random() % 12; k > 0; --k) {
      const auto feature = static_cast<std::int64_t>(random() % 3 == 0 ? label : random() % features);
      out.add_entry(feature, random() % 2 == 0 ? 1 : 0.25f, "f" + std::to_string(feature));
    }
    out.end_row(static_cast<double>(label), random() % 8 == 0 ? 0 : 1);
  }
  return out;
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

void any_number_gives_the_same_bits(const std::string& store, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  PortfolioSpec spec;
  spec.members = members();
  if (seed % 3 == 0) {
    spec.joint = {0.01, 1, 64, 4096};
    for (const double prior : spec.joint) spec.members.push_back({Rule::joint, Values::raw, prior});
  }
  spec.outputs = seed % 2 == 0 ? 1 : 3;
  spec.multinomial = seed % 4 == 1;
  spec.fit_intercept = seed % 5 != 0;
  spec.bits = 7;
  spec.worth = 1;
  spec.measure = false;
  const auto alone = make_portfolio(store, spec);
  spec.threads = 2 + static_cast<int>(seed % 4);
  spec.piece = 1 + static_cast<std::int64_t>(random() % 300);
  const auto shared = make_portfolio(store, spec);
  const bool named = store == "table" && seed % 2 == 0;
  for (int block = 0; block < 4; ++block) {
    WeightedRows rows = some(random, 700, spec.outputs == 1 ? 2 : 3, seed % 2 == 0 ? 30 : 2000);
    if (block == 2 && !rows.indices.empty()) rows.indices[rows.indices.size() * 2 / 3] = -1;  // refused
    std::vector<double> a(static_cast<std::size_t>(700 * spec.outputs)), b = a;
    const Outcome one = alone->learn(rows.view(named), nullptr, 700, a.data());
    const Outcome two = shared->learn(rows.view(named), nullptr, 700, b.data());
    CHECK(one.status == two.status && one.done == two.done);
    CHECK((one.status == Outcome::Status::ok) == (block != 2));
    CHECK(same(a, b));
    CHECK(alone->t == shared->t && alone->alive == shared->alive);
    if (block == 2) continue;
    CHECK(alone->score(rows.view(named), a.data()).status == Outcome::Status::ok);
    CHECK(shared->score(rows.view(named), b.data()).status == Outcome::Status::ok);
    CHECK(same(a, b));
  }
  const Rows one = alone->rows(), two = shared->rows();
  CHECK(one.keys == two.keys && same(one.values, two.values));
  CHECK(same(alone->intercept, shared->intercept) && same(alone->single, shared->single));
  CHECK(same(alone->evidence.weights, shared->evidence.weights));
  CHECK(same(alone->evidence.corrections, shared->evidence.corrections));
}

// Each task of each round is done once, and none before the round that it belongs to.
void rounds() {
  for (const int threads : {1, 2, 5, kMostThreads}) {
    constexpr int kRounds = 500;
    int round = 0;
    std::vector<std::atomic<int>> times(kMostTasks);
    const auto tasks_of = [](int k) { return 1 + k * 7 % kMostTasks; };
    in_rounds(
        threads, tasks_of(0),
        [&](int task) {
          CHECK(task < tasks_of(round));
          ++times[static_cast<std::size_t>(task)];
        },
        [&] {
          for (int k = 0; k < kMostTasks; ++k)
            CHECK(times[static_cast<std::size_t>(k)].exchange(0) == (k < tasks_of(round) ? 1 : 0));
          return ++round == kRounds ? 0 : tasks_of(round);
        });
    CHECK(round == kRounds);
  }
}

// The way that takes less time is gone most of the time, also when that becomes the other one.
void the_faster_way() {
  FasterWay ways;
  int slow = 1, often = 0;
  for (int turn = 0; turn < 60; ++turn) {
    if (turn == 30) slow = 0;
    const int way = ways.choose();
    often += way == slow ? 1 : 0;
    ways.measure([&] {
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(way == slow ? 20 : 0);
      while (std::chrono::steady_clock::now() < until) {
      }
      return 1.0;
    });
  }
  CHECK(often >= 3 && often <= 12);
}

}  // namespace

int main() {
  rounds();
  the_faster_way();
  for (const std::string store : {"dense", "table", "hashed"})
    for (std::uint64_t seed = 0; seed < 12; ++seed) any_number_gives_the_same_bits(store, seed);
  return check::failures();
}
