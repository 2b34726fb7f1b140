// The members of a portfolio in groups.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "riata/bayesian/workspace.hpp"
#include "riata/portfolio/portfolio.hpp"

namespace riata {

struct Group {
  Rule rule = Rule::bayesian;
  Values values = Values::raw;
  int first = 0, members = 0;  // of an output
  int columns = 0;             // outputs x members
  int offset = 0, width = 0;   // where its state stands in a row of a model file, and its size
  Doubles parameters;          // columns: precisions of the prior, or rates
  Doubles intercept_precisions;
  std::vector<int> lanes;  // of joint members
};

// Rows of length one are not linear in the values.
inline bool sees_lengths(const Group& g) noexcept {
  return g.values == Values::unit || g.values == Values::unit_rms;
}

inline constexpr int kEight = 8;    // numbers of a cache line, and of the widest register
inline constexpr int kRowHead = 2;  // count and sum of squares

inline std::vector<Group> groups_of(const PortfolioSpec& spec, const std::vector<int>& alive) {
  std::vector<Group> out;
  int first = 0, offset = kRowHead;
  for (const int each : alive) {
    const Member& m = spec.members[static_cast<std::size_t>(each)];
    if (out.empty() || out.back().rule != m.rule || out.back().values != m.values) {
      if (!out.empty()) offset += out.back().width;
      out.emplace_back();
      out.back().rule = m.rule;
      out.back().values = m.values;
      out.back().first = first;
      out.back().offset = offset;
    }
    Group& g = out.back();
    ++g.members;
    g.columns += spec.outputs;
    g.width = m.rule == Rule::joint ? 0 : 2 * g.columns;
    if (m.rule == Rule::joint) {
      const auto lane = std::find(spec.joint.begin(), spec.joint.end(), m.parameter);
      g.lanes.push_back(static_cast<int>(lane - spec.joint.begin()));
    }
    g.parameters.push_back(m.rule == Rule::adagrad ? m.parameter : 1 / m.parameter);
    ++first;
  }
  for (Group& g : out) {
    const Doubles once = g.parameters;
    for (int o = 1; o < spec.outputs; ++o) g.parameters.insert(g.parameters.end(), once.begin(), once.end());
    g.intercept_precisions.assign(static_cast<std::size_t>(g.columns), 1 / spec.intercept_variance);
  }
  return out;
}

inline int width_of(const std::vector<Group>& groups) noexcept {
  return groups.empty() ? kRowHead : groups.back().offset + groups.back().width;
}

}  // namespace riata
