// A piece of the stream: some examples, one behind the other, that every group of members learns in one go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "riata/linear/model.hpp"
#include "riata/portfolio/groups.hpp"
#include "riata/portfolio/kernels.hpp"

namespace riata {

// What a group works with, one example after the other.
struct GroupWork {
  std::vector<double*> state;  // its rows
  Doubles variances;           // Bayesian: rows x columns
  Doubles ratios;              // AdaGrad
  Doubles means, spreads, y;   // columns

  void shape(const Group& g) {
    state.clear();
    const auto k = static_cast<std::size_t>(g.columns);
    for (Doubles* each : {&means, &spreads, &y}) each->resize(k);
  }
  // Room for so many rows. Throws std::bad_alloc.
  void make(std::int64_t rows, const Group& g) {
    if (static_cast<std::size_t>(rows) + kSlack <= state.size()) return;
    const auto n = 2 * static_cast<std::size_t>(rows);
    if (g.rule == Rule::bayesian)
      variances.assign((n + kSlackRows) * static_cast<std::size_t>(g.columns) + kSlack, 1.0);
    if (g.rule == Rule::adagrad) ratios.resize(8 * (n + 1));
    state.resize(n + kSlack);
  }
};

struct PieceExample {
  std::int64_t begin = 0, rows = 0;  // where its values stand; the intercept's first, if there is one
  double label = 0, weight = 1, offset = 0;
  double lengths[2] = {0, 0};  // of raw values and of those divided by their root mean square
};

struct Piece {
  // What a group says to each example before it is learned: examples x columns.
  struct Said {
    Doubles scores;     // log odds, before they are corrected
    Doubles linear;     // what of them is linear in the values
    Doubles constants;  // of that, the intercept; only where rows of length one are seen
  };

  std::vector<PieceExample> examples;
  std::vector<double*> heads;          // rows of the store, of the example that came last
  std::vector<std::uint32_t> numbers;  // of rows of state
  Doubles raw, rms, unit, unit_rms;
  std::vector<Said> said;       // by groups
  std::vector<GroupWork> work;  // by groups
  std::uint64_t shape = 0;      // that of the groups that it was made for
  Outcome outcome;              // what came behind the last example
  std::int64_t first = 0;       // of the examples that are being learned, the one that it begins with
  std::uint64_t seen = 0;       // examples of all, when it has been learned
  std::uint64_t used = 0;       // rows of state, when it was laid out

  void clear() noexcept {
    examples.clear();
    outcome = {};
  }
  // Epochs end with such an example, and before, that is where joint settings may end.
  bool ends_epoch() const noexcept { return seen >= kJointFirstCheck && (seen & (seen - 1)) == 0; }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(examples.size()); }
  std::int64_t values() const noexcept { return examples.empty() ? 0 : end_of(examples.back()); }

  // Room for an example more, of so many rows; `of` numbers what the groups have been. Throws std::bad_alloc; then
  // nothing has changed.
  void make(std::int64_t rows, const std::vector<Group>& groups, std::uint64_t of) {
    if (shape != of) {
      work.resize(groups.size());
      for (std::size_t g = 0; g < groups.size(); ++g) work[g].shape(groups[g]);
      shape = of;
    }
    for (std::size_t g = 0; g < groups.size(); ++g) work[g].make(rows, groups[g]);
    const auto n = grown(static_cast<std::size_t>(values() + rows) + kBehind + kSlack);
    if (n > numbers.size()) {
      for (Doubles* each : {&raw, &rms, &unit, &unit_rms}) each->resize(n);
      numbers.resize(n);
    }
    if (static_cast<std::size_t>(rows) > heads.size()) heads.resize(grown(static_cast<std::size_t>(rows)));
    said.resize(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::size_t numbers_said =
          grown((examples.size() + 1) * static_cast<std::size_t>(groups[g].columns) + kEight);
      for (Doubles* each : {&said[g].scores, &said[g].linear, &said[g].constants})
        if (numbers_said > each->size()) each->resize(numbers_said);
    }
    if (examples.size() == examples.capacity()) examples.reserve(grown(examples.size() + 1));
  }
  // The example begins. For this many rows there must be room.
  PieceExample& add(std::int64_t rows) noexcept {
    const std::int64_t begin = values();
    examples.push_back({.begin = begin, .rows = rows});
    return examples.back();
  }

  const double* values_of(const PieceExample& e, Values which) const noexcept {
    const Doubles& all = which == Values::raw    ? raw
                         : which == Values::rms  ? rms
                         : which == Values::unit ? unit
                                                 : unit_rms;
    return all.data() + e.begin;
  }
  // Where the views of an example are to stand. Behind its last row there are zeros.
  Views views_of(const PieceExample& e, bool intercept_first, bool learn) noexcept {
    for (Doubles* each : {&raw, &rms, &unit, &unit_rms})
      std::fill_n(each->data() + e.begin + e.rows, kBehind, 0.0);
    return {.rows = e.rows,
            .intercept_first = intercept_first,
            .learn = learn,
            .state = heads.data(),
            .raw = raw.data() + e.begin,
            .rms = rms.data() + e.begin,
            .unit = unit.data() + e.begin,
            .unit_rms = unit_rms.data() + e.begin};
  }

 private:
  static constexpr std::int64_t kBehind = 8;                    // values
  static std::int64_t end_of(const PieceExample& e) noexcept {  // a whole number of cache lines
    return (e.begin + e.rows + 2 * kBehind - 1) / kBehind * kBehind;
  }
  static std::size_t grown(std::size_t n) noexcept { return n + n / 2; }
};

}  // namespace riata
