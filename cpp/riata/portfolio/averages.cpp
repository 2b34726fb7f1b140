// The average of a portfolio's members: what it says to an example, and what it makes of the label.
#include <algorithm>
#include <cstring>

#include "riata/losses/classes.hpp"
#include "riata/portfolio/members.hpp"

namespace riata {

void PortfolioMembers::Averaged::shape(int outputs, int members) {
  const auto all = static_cast<std::size_t>(outputs) * static_cast<std::size_t>(members);
  members_of_all = all;
  for (Doubles* each : {&scores, &linear, &constants_of_unit}) each->assign(all + kEight, 0.0);
  own.assign(all, 0.0);
  factors.assign(all, 1.0);
  constants.assign(all, 0.0);
  averages.resize((1 + kViews) * static_cast<std::size_t>(outputs));
  corrections.resize(all);
}

// Numbers eight at a time, which is less work than to count them: what is written behind them is overwritten by those that
// come next, and behind the last there is room.
static void copy_eights(const double* from, int n, double* to) noexcept {
  for (int i = 0; i < n; i += kEight) std::memcpy(to + i, from + i, kEight * sizeof(double));
}

void PortfolioMembers::assemble(Averaged& e, const Piece& piece, std::int64_t i) const noexcept {
  for (int o = 0; o < spec_.outputs; ++o)
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Group& group = groups_[g];
      const Piece::Said& said = piece.said[g];
      const std::int64_t from = i * group.columns + o * group.members;
      const int to = o * evidence.members() + group.first;
      copy_eights(said.scores.data() + from, group.members, e.scores.data() + to);
      copy_eights(said.linear.data() + from, group.members, e.linear.data() + to);
      if (sees_lengths(group))
        copy_eights(said.constants.data() + from, group.members, e.constants_of_unit.data() + to);
    }
  if (spec_.correct) correct(e, piece.examples[static_cast<std::size_t>(i)].offset);
}

// The members' scores, put right by how they did so far. What they said themselves is kept for learning.
void PortfolioMembers::correct(Averaged& e, double offset) const noexcept {
  const std::size_t all = e.members_of_all;
  for (std::size_t at = 0; at < all; ++at)  // read only
    e.corrections[at] = const_cast<double*>(evidence.corrections.data() + at * Single::kWidth);
  corrections_.read(static_cast<int>(all), e.corrections.data(), e.factors.data(), e.constants.data());
  for (std::size_t at = 0; at < all; ++at) {
    e.own[at] = e.scores[at] - offset;
    e.scores[at] = e.factors[at] * e.own[at] + e.constants[at] + offset;
  }
}

void PortfolioMembers::predict(const Averaged& e, double* scores) const noexcept {
  for (int o = 0; o < spec_.outputs; ++o)
    scores[o] = evidence.predict(o, e.scores.data() + o * evidence.members());
}

void PortfolioMembers::learn_average(const PieceExample& x, const double* scores) noexcept {
  learn_singles(1, 1 + kViews, x);  // of rows of length one, which is what their models see
  learn_lengths(x.lengths);
  learn_singles(0, 1, x);
  for (int o = 0; o < spec_.outputs; ++o) {
    const double y = target(x.label, o);
    learn_corrections(o, y, x);
    evidence.learn(o, work_.averaged.scores.data() + o * evidence.members(), scores[o], y, x.weight, t);
  }
}

// The label of output o becomes known.
void PortfolioMembers::learn_corrections(int o, double y, const PieceExample& x) noexcept {
  const std::size_t first = static_cast<std::size_t>(o) * static_cast<std::size_t>(evidence.members());
  if (!spec_.correct) return;
  corrections_.learn({.n = evidence.members(),
                      .states = work_.averaged.corrections.data() + first,
                      .scores = work_.averaged.own.data() + first,
                      .offset = x.offset,
                      .y = y,
                      .weight = x.weight});
}

// What is linear of all members, averaged with their weights of the moment, is one linear model (v = 0); and of the
// members of one view, one of that view (v = 1, ...). Those from `first` to before `last` learn.
void PortfolioMembers::learn_singles(int first, int last, const PieceExample& x) noexcept {
  bool there[1 + kViews];
  for (int v = first; v < last; ++v) {
    double* const averages = work_.averaged.averages.data() + v * spec_.outputs;
    there[v] = average_linear(v, averages);
    if (there[v] && spec_.multinomial) against_others(averages, spec_.outputs);
  }
  for (int o = 0; o < spec_.outputs; ++o) {
    double scores[1 + kViews], *states[1 + kViews];
    int n = 0;
    for (int v = first; v < last; ++v) {
      if (!there[v]) continue;
      states[n] = single.data() + (v * spec_.outputs + o) * Single::kWidth;
      scores[n++] = work_.averaged.averages[static_cast<std::size_t>(v * spec_.outputs + o)];
    }
    corrections_.learn({.n = n,
                        .states = states,
                        .scores = scores,
                        .offset = x.offset,
                        .y = target(x.label, o),
                        .weight = x.weight});
  }
}
// Of every output: of all members for v = 0, else of those of view v - 1. False: there are none.
bool PortfolioMembers::average_linear(int v, double* averages) const noexcept {
  bool any = false;
  for (int o = 0; o < spec_.outputs; ++o) {
    double sum = 0, share = 0;
    for (const Group& g : groups_) {
      if (v > 0 && static_cast<int>(g.values) != v - 1) continue;
      for (int c = o * evidence.members() + g.first, last = c + g.members; c < last; ++c) {
        sum += evidence.weights[c] * work_.averaged.corrected(static_cast<std::size_t>(c));
        share += evidence.weights[c];
      }
    }
    averages[o] = v == 0 ? sum : sum / share;
    any = share > 0;
  }
  return any;
}

// Members that see rows of length one are not linear in the values. The nearest that is linear divides by one
// length for all: with f = sum of lengths / sum of squared lengths, the sum of (f length - 1)^2 is smallest.
void PortfolioMembers::learn_lengths(const double* of_row) noexcept {
  Averaged& e = work_.averaged;
  for (int v = 0; v < 2; ++v) {
    const double length = of_row[v];
    lengths[2 * v] += length;
    lengths[2 * v + 1] += length * length;
    const double factor = lengths[2 * v + 1] > 0 ? lengths[2 * v] / lengths[2 * v + 1] * length : 1;
    for (const Group& g : groups_) {
      if (g.values != (v == 0 ? Values::unit : Values::unit_rms)) continue;
      for (int c = 0; c < g.columns; ++c) {
        const int at = c / g.members * evidence.members() + g.first + c % g.members;
        e.linear[at] = e.constants_of_unit[at] + (e.linear[at] - e.constants_of_unit[at]) * factor;
      }
    }
  }
}

}  // namespace riata
