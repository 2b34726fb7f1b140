// The table store against std::map, and linear models on every store with blocks that are not to be trusted.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "riata/linear/linear.hpp"
#include "riata/stores/table.hpp"

using namespace riata;

namespace {

bool always(const double*) { return true; }

// Narrower rows keep their numbers and names, give memory back, and the table goes on growing.
void narrowing(bool named, std::uint64_t spread) {
  constexpr int kWide = 20;
  const std::vector<int> kept{0, 3, 19};
  const auto key_of = [&](std::uint64_t i) { return i * spread & kKeyMask; };
  const auto name_of = [](std::uint64_t key) { return "name of " + std::to_string(key); };
  TableStore table(kWide, 0);
  if (named) CHECK(table.set_named());
  for (std::uint64_t i = 0; i < 5000; ++i) {
    double* const row = table.insert(key_of(i), name_of(key_of(i)));
    for (int c = 0; c < kWide; ++c) row[c] = static_cast<double>(100 * i + 1) + c;
  }
  const std::uint64_t moves = table.moves();
  table.narrow(kept);
  CHECK(table.moves() != moves && table.size() == 5000);
  for (std::uint64_t i = 5000; i < 20'000; ++i) {
    double* const row = table.insert(key_of(i), name_of(key_of(i)));
    for (std::size_t c = 0; c < kept.size(); ++c) row[c] = static_cast<double>(100 * i + 1) + kept[c];
  }
  CHECK(table.size() == 20'000);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const double* const row = table.find(key_of(i));
    CHECK(row != nullptr);
    for (std::size_t c = 0; c < kept.size() && row != nullptr; ++c)
      CHECK(row[c] == static_cast<double>(100 * i + 1) + kept[c]);
    if (named) CHECK(table.name(key_of(i)) == name_of(key_of(i)));
  }
}

// Random insertions, searches, removals and sweeps; keys close together and far apart; with names or without.
void against_map(bool named, int width, std::uint64_t seed, std::uint64_t spread) {
  std::mt19937_64 random(seed);
  TableStore table(width, 0);
  if (named) CHECK(table.set_named());
  std::map<std::uint64_t, double> expected;
  for (int step = 0; step < 60000; ++step) {
    const std::uint64_t key = random() % spread * 0x9e3779b9ULL & kKeyMask;
    switch (random() % 4) {
      case 0:
      case 1: {
        double* row = table.insert(key, "name of " + std::to_string(key));
        CHECK(row != nullptr);
        for (int c = 0; c < width; ++c) row[c] = static_cast<double>(step);
        expected[key] = step;
        break;
      }
      case 2:
        table.erase(key);
        expected.erase(key);
        break;
      default: {
        const double* row = table.find(key);
        CHECK((row != nullptr) == (expected.count(key) == 1));
        if (row != nullptr) CHECK(row[width - 1] == expected[key]);
        if (row != nullptr && named) CHECK(table.name(key) == "name of " + std::to_string(key));
      }
    }
    if (step % 5000 == 4999) {  // forget the older half, by sweeping
      const double limit = step - 4000;
      for (int round = 0; round < 4; ++round)  // rows that move may escape one
        table.sweep(1u << 20, riata::LiveIf{[&](const double* row) { return row[0] >= limit; }});
      std::erase_if(expected, [&](const auto& entry) { return entry.second < limit; });
    }
  }
  CHECK(table.size() == expected.size());
  std::size_t seen = 0;
  table.for_each([&](std::uint64_t key, const double* row) {
    ++seen;
    CHECK(expected.count(key) == 1 && expected[key] == row[0]);
  });
  CHECK(seen == expected.size());
}

// Small keys: rows in the order of keys, where a row of zeros is as good as none, until too few of them are
// alive. `step` between the keys.
void small_keys(std::uint64_t step, std::uint64_t keys, bool leaves) {
  std::mt19937_64 random(step);
  TableStore table(2, 0);
  std::map<std::uint64_t, double> expected;
  for (std::uint64_t n = 1; n <= 3 * keys; ++n) {
    const std::uint64_t key = random() % std::min(keys, 1 + n / 3) * step;  // larger keys come later
    if (random() % 16 != 0) {
      double* row = table.insert(key, {});
      CHECK(row != nullptr);
      row[0] = row[1] = expected[key] = static_cast<double>(n);
    } else {
      table.erase(key);
      expected.erase(key);
    }
    table.sweep(3, riata::LiveIf{always});
  }
  CHECK(table.by_number() != leaves);
  CHECK(table.size() == expected.size());
  for (std::uint64_t key = 0; key < 2 * keys * step; ++key) {
    const double* row = table.find(key);
    const auto found = expected.find(key);
    CHECK((row == nullptr ? 0.0 : row[1]) == (found == expected.end() ? 0.0 : found->second));
  }
  std::size_t seen = 0;
  table.for_each([&](std::uint64_t key, const double* row) { seen += expected.at(key) == row[0]; });
  CHECK(seen == expected.size());
  CHECK(table.insert(std::uint64_t{1} << 40, {}) != nullptr && !table.by_number());
  CHECK(table.size() == expected.size() + 1);
  for (const auto& [key, value] : expected) CHECK(table.find(key) != nullptr && table.find(key)[0] == value);
}

// Rows come and, a while later, go: as many as are alive, each with its name, wherever it has moved to.
void births_and_deaths(bool named) {
  std::mt19937_64 random(11);
  TableStore table(2, 0);
  if (named) CHECK(table.set_named());
  CHECK(table.insert(std::uint64_t{1} << 50, "name of " + std::to_string(std::uint64_t{1} << 50)) != nullptr);
  const auto write = [](double* row, double value) { row[0] = row[1] = value; };
  write(table.find(std::uint64_t{1} << 50), 0.0);
  for (int step = 1; step < 30000; ++step) {
    const double limit = step < 15000 ? step - 3000 : step - 300;  // then most of them go
    for (std::uint64_t births = random() % 4; births > 0; --births) {
      const std::uint64_t key = random() % 100'000 * 0x9e3779b9ULL + 1;
      const std::string name = "name of " + std::to_string(key);
      double* row = table.find(key) == nullptr ? table.insert_new(key, name) : table.insert(key, name);
      CHECK(row != nullptr);
      write(row, step);
    }
    table.sweep(random() % 40, riata::LiveIf{[&](const double* row) { return row[0] >= limit; }});
  }
  const auto alive = [](const double* row) { return row[0] >= 29'700; };
  for (int round = 0; round < 8; ++round) table.sweep(1 << 20, riata::LiveIf{alive});
  CHECK(table.size() > 0 && table.size() < 2000);
  std::size_t seen = 0;
  table.for_each([&](std::uint64_t key, const double* row) {
    ++seen;
    CHECK(alive(row) && table.find(key) == row && row[0] == row[1]);
    CHECK(table.name(key) == (named ? "name of " + std::to_string(key) : ""));
  });
  CHECK(seen == table.size());
  CHECK(table.bytes() <= 100 * table.size() + (1 << 14));  // a third of the slots, where they are few
}

void names_of_every_length() {
  NameArena names;
  std::mt19937_64 random(3);
  std::map<std::uint64_t, std::string> expected;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0 || expected.empty()) {
      const std::size_t size = random() % 50 == 0 ? random() % 2000 : random() % 40;
      const std::string name(size, static_cast<char>('a' + random() % 26));
      const std::uint64_t word = names.keep(name);
      CHECK(word != 0 && expected.emplace(word, name).second);
    } else {
      const auto gone = expected.lower_bound(random() % (expected.rbegin()->first + 1));
      names.drop(gone->first);
      expected.erase(gone);
    }
  }
  for (const auto& [word, name] : expected) CHECK(names.name(word) == name);
  CHECK(names.name(0).empty());
}

void scatter_is_one_to_one() {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t key = random() >> (1 + random() % 60);
    CHECK(gather_back(scatter(key)) == key);
    CHECK(scatter(key) <= kKeyMask);
  }
}

void hostile_blocks(const std::string& family, const std::string& update, const std::string& store,
                    int columns) {
  std::mt19937_64 random(columns);
  LinearSpec spec;
  spec.loss = find_loss("logistic");
  spec.columns = columns;
  spec.bits = 6;
  spec.numbers = {{"l1", 0.001},  {"l2", 0.01},  {"gravity", 0.01}, {"theta", 0.1},   {"period", 3},
                  {"alpha", 0.1}, {"beta", 1.0}, {"schedule", 1},   {"power_t", 0.5}, {"eta0", 0.5}};
  const auto model = family == "elastic-net" ? make_elastic_net(update, store, spec)
                     : family == "ftrl"      ? make_ftrl(update, store, spec)
                                             : make_truncated(update, store, spec);
  CHECK(model != nullptr);
  std::vector<double> scores(64 * static_cast<std::size_t>(columns));
  for (int round = 0; round < 400; ++round) {
    const std::int64_t rows = static_cast<std::int64_t>(random() % 5),
                       nnz = static_cast<std::int64_t>(random() % 40);
    std::vector<std::int64_t> indptr, indices, order;
    std::vector<float> values;
    std::vector<double> labels;
    for (std::int64_t r = 0; r <= rows; ++r)
      indptr.push_back(random() % 10 == 0 ? static_cast<std::int64_t>(random()) : r * nnz / (rows + 1));
    for (std::int64_t k = 0; k < nnz; ++k) {
      const bool odd = random() % 200 == 0;
      indices.push_back(odd ? static_cast<std::int64_t>(random())
                            : static_cast<std::int64_t>(random() % 3000));
      values.push_back(odd ? static_cast<float>(1e38) : static_cast<float>(random() % 7) - 3);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      labels.push_back(static_cast<double>(random() % 3));
      order.push_back(static_cast<std::int64_t>(random() % 6) - 1);
    }
    const BlockView<std::int64_t> block{rows,          nnz,           indptr.data(), indices.data(),
                                        values.data(), labels.data(), nullptr};
    model->learn(block, random() % 2 == 0 ? order.data() : nullptr, rows, scores.data());
    model->score(block, scores.data());
  }
  const Rows rows = model->rows();
  for (const double value : rows.values) CHECK(std::isfinite(value));
}

}  // namespace

int main() {
  scatter_is_one_to_one();
  names_of_every_length();
  small_keys(1, 700'000, false);
  small_keys(1, 1000, false);
  small_keys(100, 2000, false);
  small_keys(300, 3000, true);
  small_keys(7, 100'000, true);
  for (const std::uint64_t spread : {1ULL, 0x9e3779b9ULL}) {
    narrowing(false, spread);
    narrowing(true, spread);
  }
  births_and_deaths(false);
  births_and_deaths(true);
  for (const std::uint64_t spread : {50, 5000, 1 << 30}) {
    against_map(false, 2, spread, spread);
    against_map(true, 3, spread, spread);
  }
  for (const char* store : {"dense", "table", "hashed"}) {
    for (const int columns : {1, 3}) {
      hostile_blocks("elastic-net", "fobos", store, columns);
      hostile_blocks("elastic-net", "sgd", store, columns);
      hostile_blocks("truncated", "truncate", store, columns);
      hostile_blocks("truncated", "round", store, columns);
      hostile_blocks("truncated", "subgradient", store, columns);
      hostile_blocks("ftrl", "ftrl", store, columns);
    }
  }
  return check::failures();
}
