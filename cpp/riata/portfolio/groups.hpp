// The members of a portfolio in groups, and room for one example of all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "riata/bayesian/workspace.hpp"
#include "riata/portfolio/portfolio.hpp"

namespace riata {

struct Group {
  Rule rule = Rule::bayesian;
  Values values = Values::raw;
  int first = 0, members = 0;  // of an output
  int columns = 0;             // outputs x members
  int offset = 0, width = 0;   // where its state begins in a row, and its size
  Doubles parameters;          // columns: precisions of the prior, or rates
  Doubles intercept_precisions;
  std::vector<int> lanes;  // of joint members
};

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

// One example: its rows, its values, and what every group makes of them.
struct Example {
  std::int64_t room = 0;
  std::vector<double*> rows;
  Views views;
  Doubles raw, rms, unit, unit_rms;
  struct Part {
    std::vector<double*> state;  // where the group's begins in every row
    Doubles variances;           // Bayesian: rows x columns
    Doubles means, spreads, y;   // columns
  };
  std::vector<Part> parts;
  Doubles ratios;
  Doubles scores, linear;           // outputs x members: of the members, and what is linear of them
  Doubles own, factors, constants;  // the same before correction, and the correction
  Doubles averages;                 // (1 + kViews) x outputs: of all members, and of those of each view
  Doubles joint_scores;             // outputs x kJointLanes
  JointExample joint;
  std::vector<double*> corrections;  // whose states are here

  void shape(const std::vector<Group>& groups) {
    room = 0;
    parts.assign(groups.size(), {});
    int members = 0;
    const auto outputs = static_cast<std::size_t>(groups.front().columns / groups.front().members);
    averages.resize((1 + kViews) * outputs);
    joint_scores.resize(kJointLanes * outputs);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto k = static_cast<std::size_t>(groups[g].columns);
      parts[g].means.resize(k);
      parts[g].spreads.resize(k);
      parts[g].y.resize(k);
      members += groups[g].columns;
    }
    for (Doubles* each : {&scores, &linear, &own, &factors, &constants})
      each->resize(static_cast<std::size_t>(members));
    corrections.resize(static_cast<std::size_t>(members));
    std::fill(factors.begin(), factors.end(), 1.0);
    std::fill(constants.begin(), constants.end(), 0.0);
  }
  // What is linear of a member, corrected.
  double corrected(std::size_t at) const noexcept { return factors[at] * linear[at] + constants[at]; }
  // Room for so many rows. False: memory is exhausted.
  bool make(std::int64_t count, const std::vector<Group>& groups) noexcept {
    if (count <= room) return true;
    const auto n = 2 * static_cast<std::size_t>(count);
    try {
      rows.resize(n + kSlack);
      for (Doubles* each : {&raw, &rms, &unit, &unit_rms}) each->assign(n + kSlack, 0.0);
      for (std::size_t g = 0; g < groups.size(); ++g) {
        parts[g].state.resize(n + kSlack);
        if (groups[g].rule == Rule::bayesian)
          parts[g].variances.assign((n + kSlackRows) * static_cast<std::size_t>(groups[g].columns) + kSlack,
                                    1.0);
      }
      ratios.resize(8 * (n + 1));
    } catch (const std::bad_alloc&) {
      return false;
    }
    room = 2 * count;
    return true;
  }
  const double* values(Values which) const noexcept {
    return which == Values::raw    ? raw.data()
           : which == Values::rms  ? rms.data()
           : which == Values::unit ? unit.data()
                                   : unit_rms.data();
  }
};

}  // namespace riata
