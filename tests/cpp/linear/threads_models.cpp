// Eight threads share a model: two learn, four score, two save it and load what they saved, each with the lock as the
// bindings take it. Every family, over every store that it has.
//
//   threads_models          a moment, as a test
//   threads_models 3600     so many seconds
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "block/view.hpp"
#include "check.hpp"
#include "riata/bank/bank.hpp"
#include "riata/bayesian/bayesian.hpp"
#include "riata/interior/interior.hpp"
#include "riata/linear/linear.hpp"
#include "riata/losses/loss.hpp"
#include "riata/portfolio/portfolio.hpp"
#include "riata/portfolio/regression.hpp"
#include "riata/sketch/online.hpp"
#include "riata/sketch/scorer.hpp"

#ifdef __SANITIZE_THREAD__
// ThreadSanitizer does not see that mremap gives addresses back, and takes two models that had them one after the
// other for a race. It does see mmap: pages are moved to where that has just made room.
extern "C" void* mremap(void* memory, std::size_t old, std::size_t bytes, int, ...) noexcept {
  void* const room = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return MAP_FAILED;
  return reinterpret_cast<void*>(
      syscall(SYS_mremap, memory, old, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, room));
}
#endif

using namespace riata;

namespace {

// Examples with features near and far, so that tables grow, turn from arrays into hash tables and forget rows; most with
// few features, which some settings learn together.
struct Examples {
  std::vector<std::int64_t> indptr{0}, indices;
  std::vector<float> values;
  std::vector<double> labels;

  Examples(int rows, std::uint64_t seed, bool far) {
    std::mt19937_64 random(seed);
    const std::uint64_t step = seed % 4 == 0 ? 40 : 3;
    for (int i = 0; i < rows; ++i) {
      std::int64_t index = static_cast<std::int64_t>(random() % (step + 10));
      for (int k = 0; k < 8; ++k) {
        indices.push_back(index);
        values.push_back(static_cast<float>(random() % 9) / 4 - 1);
        index += 1 + static_cast<std::int64_t>(random() % (far && random() % 50 == 0 ? 1u << 30 : step));
      }
      indptr.push_back(static_cast<std::int64_t>(indices.size()));
      labels.push_back(static_cast<double>(random() % 2));
    }
  }
  BlockView<std::int64_t> view() const { return block_view(*this); }
};

constexpr int kRows = 40;
using Call = std::function<void(const Examples&, double*)>;

// How many Blocks were learned meanwhile.
template <class Model>
std::int64_t stress(const Model& model, double seconds, bool far, const Call& learn, const Call& score,
                    const std::function<void()>& look) {
  std::atomic<bool> end{false};
  std::atomic<std::int64_t> learned{0};
  std::vector<std::thread> threads;
  for (std::uint64_t me = 0; me < 8; ++me)
    threads.emplace_back([&, me] {
      std::vector<Examples> blocks;
      for (std::uint64_t k = 0; k < 20; ++k) blocks.emplace_back(kRows, 100 * me + k, far);
      std::vector<double> scores(kRows);
      for (std::size_t turn = 0; !end.load(std::memory_order_relaxed); ++turn) {
        const Examples& rows = blocks[turn % blocks.size()];
        if (me < 2) {
          const std::unique_lock alone(const_cast<Model&>(model).guard);
          learn(rows, scores.data());
          learned.fetch_add(1, std::memory_order_relaxed);
        } else {
          const std::shared_lock together(model.guard);
          if (me < 6) {
            score(rows, scores.data());
          } else {
            look();
          }
        }
      }
    });
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  end = true;
  for (std::thread& thread : threads) thread.join();
  return learned;
}

// A model over a store; `size` reads all of it, and says how many numbers that are.
template <class AnyModel, class Size>
void stored(AnyModel* model, double seconds, Size size) {
  CHECK(model != nullptr);
  if (model == nullptr) return;
  std::atomic<int> wrong{0};
  const std::int64_t learned = stress(
      *model, seconds, true,
      [&](const Examples& rows, double* scores) {
        wrong += model->learn(rows.view(), nullptr, kRows, scores).status != Outcome::Status::ok;
      },
      [&](const Examples& rows, double* scores) { model->score(rows.view(), scores); },
      [&] { wrong += static_cast<int>(model->t % kRows) + (size() > 1u << 30); });
  CHECK(wrong == 0);
  CHECK(model->t == static_cast<std::uint64_t>(learned * kRows));
}

// What a file keeps, read and put into another model: both have the same rows.
template <class AnyModel>
std::size_t saved(const AnyModel& model, AnyModel& other) {
  const Rows rows = model.rows();
  const auto n = static_cast<std::int64_t>(rows.keys.size());
  CHECK(other.set_rows(rows.keys.data(), rows.values.data(), n, nullptr, nullptr));
  const Rows again = other.rows();
  CHECK(again.keys == rows.keys && again.values == rows.values);
  return rows.values.size();
}

using Make = std::unique_ptr<Linear> (*)(const std::string&, const std::string&, const LinearSpec&);

LinearSpec linear_spec() {
  LinearSpec spec;
  spec.loss = find_loss("logistic");
  spec.schedule.eta0 = 0.05;
  spec.bits = 12;
  spec.numbers = {{"l1", 0.01},   {"l2", 0.001},    {"gravity", 0.01}, {"period", 3},
                  {"theta", 1e9}, {"alpha", 1},     {"beta", 1},       {"schedule", 1},
                  {"eta0", 0.05}, {"power_t", 0.5}, {"epsilon", 1e-6}};
  return spec;
}

void linear(Make make, const char* update, const char* store, double seconds) {
  const LinearSpec spec = linear_spec();
  const std::unique_ptr<Linear> model = make(update, store, spec);
  stored(model.get(), seconds,
         [&] { return model->coefficients().values.size() + saved(*model, *make(update, store, spec)); });
}

void bayesian(const char* store, double seconds) {
  BayesianSpec spec;
  spec.update = "marginal";
  spec.link = "logit";
  spec.prior_variances = {1, 0.1};
  const auto model = make_bayesian(store, spec);
  stored(model.get(), seconds, [&] { return saved(*model, *make_bayesian(store, spec)); });
}

// With what is learned of all weights together, as long as it is.
template <class Model>
std::size_t saved_jointly(const Model& model, Model& fresh) {
  if (model.joint.open()) CHECK(fresh.joint.set(model.joint.state()));
  return saved(model, fresh);
}

void portfolio(const char* store, double seconds) {
  PortfolioSpec spec;
  for (const Rule rule : {Rule::bayesian, Rule::adagrad})
    for (const Values values : {Values::raw, Values::rms, Values::unit, Values::unit_rms})
      for (const double parameter : {0.1, 1.0}) spec.members.push_back({rule, values, parameter});
  spec.joint = {0.01, 0.1, 1, 10};
  for (const double prior : spec.joint) spec.members.push_back({Rule::joint, Values::raw, prior});
  spec.bits = 12;
  spec.drop = false;
  const auto model = make_portfolio(store, spec);
  stored(model.get(), seconds, [&] { return saved_jointly(*model, *make_portfolio(store, spec)); });
}

void regression(const char* store, double seconds) {
  RegressionSpec spec;
  spec.members = {{false, 0.1, 0}, {false, 1, 4}, {true, 0.1, 0}, {true, 1, 4}};
  spec.joint = {0.01, 0.1, 1, 10};
  spec.bits = 12;
  const auto model = make_regression(store, spec);
  stored(model.get(), seconds, [&] { return saved_jointly(*model, *make_regression(store, spec)); });
}

void bank(double seconds) {
  constexpr int kGroups = 3;
  std::vector<LinearSpec> specs;
  for (const double l1 : {0.0, 0.001, 0.01, 0.1}) {
    specs.push_back(linear_spec());
    specs.back().numbers["l1"] = l1;
  }
  const auto model = make_bank("elastic-net", "fobos", specs, kGroups);
  CHECK(model != nullptr);
  std::vector<std::int64_t> order(kRows), folds(kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    order[i] = static_cast<std::int64_t>(i);
    folds[i] = static_cast<std::int64_t>(i % kGroups);
  }
  std::vector<double> every(kRows * specs.size() * kGroups);  // of whoever learns
  std::atomic<int> wrong{0};
  const std::int64_t learned = stress(
      *model, seconds, false,
      [&](const Examples& rows, double*) {
        wrong += model->learn(rows.view(), order.data(), kRows, folds.data(), every.data()).kind !=
                 BankOutcome::Kind::ok;
      },
      [&](const Examples&, double*) { wrong += model->live_weights().size() != specs.size() * kGroups; },
      [&] { wrong += model->unit(1, 0).t != model->unit(2, 0).t; });
  CHECK(wrong == 0);
  CHECK(model->unit(0, 0).t <=
        static_cast<std::uint64_t>(learned * kRows));  // without the examples of the fold
}

void interior(double seconds) {
  InteriorSpec spec;
  spec.loss = find_loss("logistic");
  spec.l1 = 0.01;
  Interior model(spec);
  std::atomic<int> wrong{0};
  const double keep = 0;
  const std::int64_t learned = stress(
      model, seconds, false,
      [&](const Examples& rows, double* scores) {
        wrong += model.learn(rows.view(), nullptr, kRows, scores).status != Outcome::Status::ok;
      },
      [&](const Examples& rows, double* scores) {
        wrong += model.score(rows.view(), &keep, scores).status != Outcome::Status::ok;
      },
      [&] {
        std::vector<double> rows(static_cast<std::size_t>(model.slots() * model.width()));
        model.save(rows.data());
        Interior other(spec);
        wrong += !other.restore(model.keys.data(), rows.data(), model.slots(), nullptr, nullptr);
      });
  CHECK(wrong == 0);
  CHECK(model.t == static_cast<std::uint64_t>(learned * kRows));
}

void online_sketch(double seconds) {
  OnlineSpec spec;
  spec.link = &kLinks[0];
  spec.gamma = 0.5;
  spec.horizon = 1000;
  spec.block_size = 3;
  OnlineSketch model(spec);
  std::atomic<int> wrong{0};
  const std::int64_t learned = stress(
      model, seconds, false,
      [&](const Examples& rows, double* scores) {
        wrong += model.learn(rows.view(), 1.0, scores, 1) != Accumulated::ok;
      },
      [&](const Examples&, double*) {
        double sum = 0;
        for (const double weight : model.weights) sum += weight;
        wrong += sum != sum;
      },
      [&] { wrong += model.keys.size() != model.weights.size() || model.t % kRows != 0; });
  CHECK(wrong == 0);
  CHECK(model.t == learned * kRows);
}

void scorer(double seconds) {
  Scorer model;
  std::atomic<int> wrong{0};
  model.set({1, 2, 3}, {1, 1, 1}, {1});
  stress(
      model, seconds, false,
      [&](const Examples& rows, double*) {
        std::vector<std::int64_t> keys(rows.indices.begin(), rows.indices.begin() + 8);
        model.set(keys, std::vector<double>(keys.size(), 0.5), {0.5});
      },
      [&](const Examples& rows, double* scores) {
        wrong += model.score(rows.view(), scores) != Accumulated::ok;
      },
      [&] { wrong += model.intercept.size() != 1; });
  CHECK(wrong == 0);
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 2;
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const double each = seconds > 22 ? 1 : seconds / 22;
  long rounds = 0;
  do {
    for (const char* store : {"dense", "table", "hashed"}) {
      linear(make_elastic_net, "fobos", store, each);
      linear(make_truncated, "truncate", store, each);
      linear(make_ftrl, "ftrl", store, each);
      bayesian(store, each);
      portfolio(store, each);
      regression(store, each);
    }
    bank(each);
    interior(each);
    online_sketch(each);
    scorer(each);
    ++rounds;
  } while (check::failures() == 0 && std::chrono::steady_clock::now() < until);
  std::printf("%ld rounds over 22 models, eight threads each: %d failures\n", rounds, check::failures());
  return check::failures();
}
