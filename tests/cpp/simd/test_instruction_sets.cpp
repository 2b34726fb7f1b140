// Every kernel gives the same bits with every instruction set that the processor has, at every length.
// The Bayesian updates are in test_bayesian.cpp.
#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "check.hpp"
#include "riata/bank/adagrad_columns.hpp"
#include "riata/bayesian/samples.hpp"
#include "riata/interior/sweep.hpp"
#include "riata/linear/adagrad_kernels.hpp"
#include "riata/linear/kernels.hpp"
#include "riata/linear/scale_kernels.hpp"
#include "riata/simd/checksum.hpp"
#include "riata/simd/exp.hpp"
#include "riata/stores/hash_table.hpp"

namespace {

using riata::Instructions;
using Numbers = std::vector<double>;

using riata::PenaltyKind;

constexpr PenaltyKind kPenalties[] = {PenaltyKind::fobos, PenaltyKind::sgd, PenaltyKind::truncate,
                                      PenaltyKind::round};
constexpr Instructions kSets[] = {Instructions::plain, Instructions::avx2, Instructions::avx512};

void same(const std::vector<Numbers>& results) {
  for (const Numbers& result : results) {
    CHECK(result.size() == results[0].size());
    CHECK(result.empty() ||
          std::memcmp(result.data(), results[0].data(), result.size() * sizeof(double)) == 0);
  }
}

// What run(kernels, set) gives for the kernels of every set, as find(set) has them, must be the same.
template <class Kernels, class Run>
void same_on_all_sets(const Kernels* (*find)(Instructions) noexcept, Run run) {
  std::vector<Numbers> results;
  for (const Instructions set : kSets)
    if (const Kernels* kernels = find(set)) results.push_back(run(*kernels, set));
  same(results);
}

struct Example {
  std::vector<std::int32_t> keys;
  std::vector<std::int64_t> wide_keys;
  std::vector<float> x;
  Numbers table;  // rows in the order of keys
};

// Weights around theta and zero, some of them marked with the scalar of now.
Example example(std::mt19937_64& random, int n, int width, double now) {
  std::normal_distribution<double> normal;
  Example out;
  for (int k = 0; k < n; ++k) {
    out.keys.push_back(3 * k + static_cast<int>(random() % 3));
    out.wide_keys.push_back(out.keys.back());
    out.x.push_back(static_cast<float>(normal(random)));
  }
  out.table.resize(256 * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < out.table.size(); ++i) {
    const bool is_mark = i % static_cast<std::size_t>(width) == static_cast<std::size_t>(width) - 1;
    const double mark = random() % 4 == 0 ? now : now - 0.3 * std::fabs(normal(random));
    out.table[i] = is_mark ? mark : random() % 5 == 0 ? 0.0 : 0.4 * normal(random);
  }
  return out;
}

using Pick = const riata::DecayKernels& (*)(const riata::LinearKernels&);

Numbers linear(const riata::DecayKernels& kernels, Example e, const riata::Decay& decay, int m) {
  const auto n = static_cast<std::int64_t>(e.keys.size());
  const auto width = static_cast<std::size_t>(m) + 1;
  Numbers out, current(e.keys.size() + 1);
  std::vector<double*> rows(e.keys.size() + 1);
  for (std::size_t k = 0; k < e.keys.size(); ++k)
    rows[k] = e.table.data() + static_cast<std::size_t>(e.keys[k]) * width;
  const float* x = e.x.data();
  if (m > 1) {
    Numbers sums(4 * static_cast<std::size_t>(m)), gradient(static_cast<std::size_t>(m), 0.25);
    kernels.gather_columns(decay, rows.data(), x, n, m, sums.data());
    kernels.push_columns(decay, rows.data(), x, n, m, gradient.data());
    out = sums;
  } else {
    const riata::ArrayRows<std::int32_t> array32{e.keys.data(), e.table.data(), 255};
    const riata::ArrayRows<std::int64_t> array64{e.wide_keys.data(), e.table.data(), 255};
    const riata::RowPointers pointers{rows.data()};
    const auto by_key = kernels.array32.gather(decay, array32, x, n, current.data());
    const auto by_wide_key = kernels.array64.gather(decay, array64, x, n, nullptr);
    const auto by_pointer = kernels.pointers.gather(decay, pointers, x, n, nullptr);
    CHECK(by_key.sum == by_wide_key.sum && by_key.sum == by_pointer.sum && by_key.keys == by_wide_key.keys);
    out = {by_key.sum, static_cast<double>(by_key.keys)};
    kernels.array32.push(decay, array32, x, n, 0.125, current.data());
    kernels.array64.push(decay, array64, x, n, 0.25, nullptr);
    kernels.pointers.push(decay, pointers, x, n, 0.5, nullptr);
    for (std::size_t k = 1; k < e.keys.size(); k += 3) rows[k] = rows[k - 1];  // as in a hashed store
    kernels.push_shared(decay, pointers, x, n, 0.75);
    out.push_back(kernels.live(decay, e.table.data(), 2));
  }
  out.insert(out.end(), current.begin(), current.end());
  out.insert(out.end(), e.table.begin(), e.table.end());
  return out;
}

void linear_kernels() {
  std::mt19937_64 random(1);
  const riata::Decay decay{2.5, 0.3};
  const Pick picks[] = {
      [](const riata::LinearKernels& all) -> const riata::DecayKernels& { return all.shrink; },
      [](const riata::LinearKernels& all) -> const riata::DecayKernels& { return all.truncate; },
      [](const riata::LinearKernels& all) -> const riata::DecayKernels& { return all.round; }};
  for (const int m : {1, 2, 4, 7, 8, 11})
    for (int n = 0; n < 40; ++n) {
      const Example e = example(random, n, m + 1, decay.now);
      for (const Pick pick : picks)
        same_on_all_sets(riata::find_linear_kernels, [&](const riata::LinearKernels& kernels, Instructions) {
          return linear(pick(kernels), e, decay, m);
        });
    }
}

void ftrl() {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (int n = 0; n < 40; ++n) {
    Numbers start;
    std::vector<float> x;
    for (int k = 0; k < n; ++k) {
      for (const double v : {normal(random), normal(random), std::fabs(normal(random))}) start.push_back(v);
      x.push_back(static_cast<float>(normal(random)));
    }
    same_on_all_sets(riata::find_linear_kernels, [&](const riata::LinearKernels& kernels, Instructions) {
      Numbers state = start;
      std::vector<double*> rows;
      for (int k = 0; k < n; ++k) rows.push_back(state.data() + 3 * k);
      kernels.push_ftrl({10, 1, 0.5, 0.1}, rows.data(), x.data(), n, -0.7);
      return state;
    });
  }
}

// Rows of five: the weight, the root, the penalties it has had, and two sums of its values. Shared ones: some are the same.
Numbers adagrad(const riata::AdaGradKernels& kernels, const riata::ScaleKernels& scale, Numbers state,
                const std::vector<float>& x, bool shared) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<double*> rows(x.size() + 1);
  for (std::size_t k = 0; k < x.size(); ++k) rows[k] = state.data() + 5 * k;
  for (std::size_t k = 1; shared && k < x.size(); k += 3) rows[k] = rows[k - 1];
  std::vector<float> values(x.size() + 1), scored(x.size() + 1);
  Numbers current(x.size() + 1), roots(x.size() + 1), rates(x.size() + 1);
  (shared ? scale.learn_shared : scale.learn)(rows.data(), 3, x.data(), n, values.data());
  scale.apply(rows.data(), 3, x.data(), n, scored.data());
  const riata::AdaGradNow now{{0.01, 0.3, 0.02, 0.5, 2}, 0.25, 1, 7, true};
  const riata::AdaGradScratch scratch{current.data(), roots.data(), rates.data()};
  Numbers out{kernels.gather(now, rows.data(), values.data(), n, scratch)};
  out.push_back((shared ? kernels.prepare_shared : kernels.prepare)(now, rows.data(), values.data(), n, -0.7,
                                                                    0.5, scratch));
  (shared ? kernels.push_shared : kernels.push)(now, rows.data(), values.data(), n, -0.4, scratch);
  out.insert(out.end(), scored.begin(), scored.end());
  out.insert(out.end(), state.begin(), state.end());
  return out;
}

void adagrad_kernels() {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int n = 0; n < 40; ++n) {
    Numbers start;
    std::vector<float> x;
    for (int k = 0; k < n; ++k) {
      const double seen = static_cast<double>(random() % 3), root = random() % 4 == 0 ? 0 : normal(random);
      for (const double v : {root == 0 ? 0 : normal(random), std::fabs(root),
                             static_cast<double>(random() % 9), seen, seen * 2.5})
        start.push_back(v);
      x.push_back(random() % 7 == 0 ? 0 : static_cast<float>(normal(random)));
    }
    for (const PenaltyKind kind : kPenalties)
      for (const bool shared : {false, true})
        same_on_all_sets(
            riata::find_adagrad_kernels, [&](const riata::AllAdaGradKernels& kernels, Instructions set) {
              return adagrad(kernels.of(kind), *riata::find_scale_kernels(set), start, x, shared);
            });
    std::vector<Numbers>
        either;  // where no two rows are the same, it does not matter which of the two is taken
    const auto& kernels = riata::find_adagrad_kernels(Instructions::plain)->fobos;
    const auto& scale = *riata::find_scale_kernels(Instructions::plain);
    riata::AdaGradKernels as_shared = kernels;
    as_shared.prepare = kernels.prepare_shared, as_shared.push = kernels.push_shared;
    for (const auto& how : {kernels, as_shared}) either.push_back(adagrad(how, scale, start, x, false));
    same(either);
  }
}

void checksums() {
  std::mt19937_64 random(5);
  for (std::size_t size = 0; size < 5000; size += 1 + size / 7) {
    std::vector<char> bytes(size);
    for (char& byte : bytes) byte = static_cast<char>(random());
    std::vector<std::int64_t> numbers(size);
    for (std::int64_t& number : numbers) number = static_cast<std::int64_t>(random() >> random() % 60);
    same_on_all_sets(riata::find_checksum_kernels, [&](const riata::ChecksumKernels& kernels, Instructions) {
      riata::Checksum sum(kernels);
      std::vector<std::uint32_t> narrow(size);
      kernels.narrow(numbers.data(), size, narrow.data());
      for (std::size_t at = 0; at < size; at += 777)
        sum.add(bytes.data() + at, std::min<std::size_t>(777, size - at));
      Numbers out(narrow.begin(), narrow.end());
      const std::uint64_t all = sum.end();
      out.push_back(static_cast<double>(all >> 32));
      out.push_back(static_cast<double>(all & 0xffffffff));
      return out;
    });
  }
}

// One example, `have` columns of 16 cells a feature.
Numbers adagrad_columns(const riata::AllBankAdaGradKernels& all, riata::PenaltyKind kind, Numbers state,
                        const Numbers& missed, const std::vector<float>& x, int have) {
  const auto n = static_cast<std::int64_t>(x.size());
  const auto& kernels = all.of(kind);
  std::vector<double*> cells;
  for (std::size_t k = 0; k < x.size(); ++k) cells.push_back(state.data() + 16 * k);
  const riata::AdaGradEntries of{cells.data(), missed.data(), x.data(), n};
  const Numbers some_rates{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 0.3, 2}, l1{0, 0.1, 0, 0.1, 1e-6, 1e-3, 0.5, 0.01};
  const Numbers l2{0, 0, 0.1, 0.1, 1e-6, 1e-9, 3, 1e-4}, theta{0.1, 0.2, 0.3, 0.4, 9, 9, 0, 1};
  const riata::AdaGradColumns by{some_rates.data(), l1.data(), l2.data(), l1.data(), theta.data(), 2, 1, 8};
  const riata::AdaGradPart part{0, have, true};
  Numbers current(8 * x.size() + 8), rates(current.size()), out(24, 0.5);
  kernels.gather(by, part, of, current.data(), out.data());
  kernels.prepare(by, part, of, theta.data(), 0.5, rates.data(), out.data() + 8);
  all.implicit({have, -1, 0.7, out.data(), out.data() + 8, out.data() + 16});
  kernels.push(by, part, of, out.data() + 16, current.data(), rates.data());
  out.insert(out.end(), state.begin(), state.end());
  return out;
}

void bank_kernels() {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (int n = 0; n < 20; ++n)
    for (int have = 1; have <= 8; ++have) {
      Numbers start, missed;
      std::vector<float> x;
      for (int k = 0; k < n; ++k) {
        x.push_back(random() % 7 == 0 ? 0 : static_cast<float>(normal(random)));
        for (int c = 0; c < 8; ++c) start.push_back(random() % 5 == 0 ? 0 : 0.4 * normal(random));
        for (int c = 0; c < 8; ++c) start.push_back(random() % 4 == 0 ? 0 : std::fabs(normal(random)));
        missed.push_back(static_cast<double>(random() % 8));
      }
      for (const PenaltyKind kind : kPenalties)
        same_on_all_sets(riata::find_bank_adagrad_kernels,
                         [&](const riata::AllBankAdaGradKernels& kernels, Instructions) {
                           return adagrad_columns(kernels, kind, start, missed, x, have);
                         });
    }
}

void samples_and_sweep() {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  for (int n = 1; n < 40; ++n) {
    Numbers s;
    for (int k = 0; k < 5 * n; ++k) s.push_back(std::fabs(normal(random)) + 0.01);
    same_on_all_sets(riata::find_sample_kernels, [&](const riata::SampleKernels& kernels, Instructions) {
      Numbers out(2 * static_cast<std::size_t>(n));
      kernels.logit(n, s.data(), -1, 30, out.data(), out.data() + n);
      return out;
    });
    same_on_all_sets(riata::find_sweep_kernels, [&](const riata::SweepKernels& kernels, Instructions) {
      Numbers state = s;
      double* at = state.data();
      const auto swept = kernels.sweep({at, at + n}, {at + 2 * n, at + 3 * n}, at + 4 * n, n, 0.1, 0.2, 0.3);
      state.push_back(swept.product);
      state.push_back(swept.least);
      return state;
    });
  }
}

// Where rows are looked for, and which of them are found.
void lookup() {
  std::mt19937_64 random(4);
  for (const int size : {1, 3, 40, 700, 5000}) {
    riata::HashTable table;
    CHECK(table.open(3));
    std::vector<std::int64_t> keys;
    for (int k = 0; k < size; ++k) {
      const auto key = static_cast<std::int64_t>(random() >> (k % 2 == 0 ? 2 : 34));
      if (table.find(static_cast<std::uint64_t>(key)) == riata::HashTable::kNone) {
        CHECK(table.reserve());
        table.add(static_cast<std::uint64_t>(key));
      }
      keys.push_back(key);
      keys.push_back(static_cast<std::int64_t>(random() >> 2));  // most likely absent
    }
    for (std::size_t n = 0; n <= keys.size(); n += 1 + n / 3) {
      std::vector<std::vector<double*>> found;
      std::vector<std::vector<std::uint32_t>> others;
      for (const Instructions set : kSets)
        if (const auto* kernels = riata::find_lookup_kernels(set)) {
          std::vector<double*> rows(n + 1);
          std::vector<std::uint32_t> wrong(n + 1);
          kernels->guess64(table.view(), keys.data(), n, rows.data());
          wrong.resize(kernels->check64(keys.data(), n, rows.data(), wrong.data()));
          found.push_back(rows);
          others.push_back(wrong);
        }
      for (std::size_t i = 1; i < found.size(); ++i) CHECK(found[i] == found[0] && others[i] == others[0]);
      CHECK(n == 0 || others[0].size() >= n / 2);  // every second one is absent
    }
  }
}

// A vector's exp and log are those of its numbers.
void vectors() {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-750, 750), unit(0, 1);
  for (int turn = 0; turn < 2000; ++turn) {
    double x[8], t[8], y[8];
    for (int i = 0; i < 8; ++i) x[i] = uniform(random), t[i] = unit(random);
    riata::store(y, riata::exp(riata::eight(x)));
    for (int i = 0; i < 8; ++i) CHECK(y[i] == riata::exp(x[i]));
    riata::store(y, riata::log_of_one_and(riata::eight(t)));
    for (int i = 0; i < 8; ++i) CHECK(y[i] == riata::log_of_one_and(t[i]));
  }
}

}  // namespace

int main() {
  linear_kernels();
  adagrad_kernels();
  bank_kernels();
  ftrl();
  checksums();
  samples_and_sweep();
  lookup();
  vectors();
  return check::failures();
}
