#include "riata/portfolio/members.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "riata/losses/classes.hpp"

namespace riata {

namespace {

std::vector<StateRows> rows_of(const std::vector<Group>& groups) {
  std::vector<StateRows> out;
  for (const Group& g : groups) out.emplace_back(g.width);
  return out;
}

// Of the numbers that a group has in a row, those of the members that stay.
std::vector<int> kept_of(const Group& group, const Group& left, const std::vector<int>& members,
                         int outputs) {
  std::vector<int> out;
  for (const int half : {0, group.columns})
    for (int o = 0; o < outputs; ++o)
      for (int j = 0; j < left.members; ++j)
        out.push_back(half + o * group.members +
                      (members[static_cast<std::size_t>(left.first + j)] - group.first));
  return out;
}

}  // namespace

PortfolioMembers::PortfolioMembers(const PortfolioSpec& spec)
    : Portfolio(spec.outputs, static_cast<int>(spec.members.size())), spec_(spec) {
  alive.resize(spec.members.size());
  std::iota(alive.begin(), alive.end(), 0);
  single.assign(static_cast<std::size_t>((1 + kViews) * spec.outputs * Single::kWidth), 0.0);
  groups_ = groups_of(spec_, alive);
  states_ = rows_of(groups_);
  width_ = width_of(groups_);
  intercept.assign(static_cast<std::size_t>(width_), 0.0);
  work_.shape(groups_, spec.outputs);
  for (const Group& g : groups_) constants_.emplace_back(static_cast<std::size_t>(g.width));
  if (groups_.back().rule == Rule::joint)
    joint = Joint(spec.outputs, spec.joint, spec.intercept_variance, spec.fit_intercept);
}

void PortfolioMembers::Workspace::shape(const std::vector<Group>& of, int outputs) {
  joint_scores.resize(static_cast<std::size_t>(kJointLanes * outputs));
  averaged.shape(outputs, of.back().first + of.back().members);
}

void PortfolioMembers::take_intercept() noexcept {
  for (std::size_t g = 0; g < groups_.size(); ++g)
    std::copy_n(intercept.data() + groups_[g].offset, groups_[g].width, constants_[g].data());
}
void PortfolioMembers::give_intercept() noexcept {
  for (std::size_t g = 0; g < groups_.size(); ++g)
    std::copy_n(constants_[g].data(), groups_[g].width, intercept.data() + groups_[g].offset);
}

void PortfolioMembers::keep_only(const std::vector<int>& members) {
  std::vector<int> left;
  for (const int c : members) left.push_back(alive[static_cast<std::size_t>(c)]);
  std::vector<Group> groups = groups_of(spec_, left);
  std::vector<std::size_t> from;
  std::vector<std::vector<int>> kept;
  for (std::size_t of = 0; const Group& g : groups) {
    while (groups_[of].rule != g.rule || groups_[of].values != g.values) ++of;
    from.push_back(of);
    kept.push_back(g.width == 0 ? std::vector<int>() : kept_of(groups_[of], g, members, spec_.outputs));
  }
  std::vector<StateRows> states;
  states.reserve(groups.size());
  Workspace work;
  work.shape(groups, spec_.outputs);
  std::vector<double> of_intercept(intercept.begin(), intercept.begin() + kRowHead);
  std::vector<Doubles> constants(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const int place : kept[g])
      constants[g].push_back(constants_[from[g]][static_cast<std::size_t>(place)]);
  of_intercept.resize(static_cast<std::size_t>(width_of(groups)));
  evidence.keep_only(members);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    states.push_back(std::move(states_[from[g]]));
    if (groups[g].width > 0) states.back().narrow(used_ + 1, kept[g]);
  }
  alive = std::move(left);
  groups_ = std::move(groups);
  states_ = std::move(states);
  work_ = std::move(work);
  intercept = std::move(of_intercept);
  constants_ = std::move(constants);
  ++shape_;
  width_ = width_of(groups_);
  if (groups_.back().rule != Rule::joint) joint.close();
}

std::uint32_t PortfolioMembers::add_rows() noexcept {
  if (used_ == UINT32_MAX) return 0;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (groups_[g].width > 0 && !states_[g].reserve(used_ + 2)) return 0;
  return static_cast<std::uint32_t>(++used_);
}
std::uint64_t PortfolioMembers::bytes_of_rows() const noexcept {
  return used_ * static_cast<std::uint64_t>(width_ - kRowHead) * sizeof(double) + joint.bytes();
}

std::uint64_t PortfolioMembers::rows_that_fit() const noexcept {
  std::uint64_t most = UINT32_MAX;
  for (const StateRows& rows : states_) most = std::min(most, rows.room());
  return most > used_ + 1 ? most - used_ - 1 : 0;
}

// Members.

void PortfolioMembers::point(GroupWork& work, const Piece& piece, const PieceExample& x, std::size_t g,
                             double* constants) const noexcept {
  const StateRows& rows = states_[g];
  const std::uint32_t* const numbers = piece.numbers.data() + x.begin;
  double** const state = work.state.data();
  std::int64_t i = 0;
  if (spec_.fit_intercept) state[i++] = constants;
  for (; i < x.rows; ++i) state[i] = rows.row(numbers[i]);
  if (groups_[g].columns == 1) std::fill_n(state + x.rows, 8, rows.row(0));  // rows are taken eight at a time
}

Taylor PortfolioMembers::as_taylor(GroupWork& work, const Piece& piece, const PieceExample& x,
                                   std::size_t g) const noexcept {
  const Group& group = groups_[g];
  Taylor out;
  out.rows = x.rows;
  out.columns = group.columns;
  out.state = work.state.data();
  out.intercept_first = spec_.fit_intercept;
  out.x = piece.values_of(x, group.values);
  out.precisions = group.parameters.data();
  out.intercept_precisions = group.intercept_precisions.data();
  out.variances = work.variances.data();
  out.means = work.means.data();
  out.spreads = work.spreads.data();
  out.y = work.y.data();
  out.weight = x.weight;
  return out;
}
AdaGradRows PortfolioMembers::as_adagrad(GroupWork& work, const Piece& piece, const PieceExample& x,
                                         std::size_t g) const noexcept {
  const Group& group = groups_[g];
  AdaGradRows out;
  out.rows = x.rows;
  out.columns = group.columns;
  out.state = work.state.data();
  out.x = piece.values_of(x, group.values);
  out.rates = group.parameters.data();
  out.y = work.y.data();
  out.scores = work.means.data();
  out.weight = x.weight;
  out.ratios = work.ratios.data();
  return out;
}

void PortfolioMembers::gather(Workspace& w, Piece& piece, std::size_t g, std::int64_t i,
                              double* constants) const noexcept {
  const Group& group = groups_[g];
  GroupWork& work = piece.work[g];
  const PieceExample& x = piece.examples[static_cast<std::size_t>(i)];
  if (group.rule == Rule::joint) {
    gather_joint(w, piece, g);
  } else {
    point(work, piece, x, g, constants);
    if (group.rule == Rule::bayesian)
      bayesian_.gather(as_taylor(work, piece, x, g));
    else
      kernels_.gather(as_adagrad(work, piece, x, g));
  }
  Piece::Said& said = piece.said[g];
  double *const scores = said.scores.data() + i * group.columns, *const linear =
                                                                     said.linear.data() + i * group.columns;
  const double given = spec_.multinomial ? 0 : x.offset;
  for (int c = 0; c < group.columns; ++c) {
    linear[c] = work.means[c];
    work.means[c] += given;
    scores[c] = group.rule == Rule::bayesian ? work.means[c] / std::sqrt(1 + Logit::kShrink * work.spreads[c])
                                             : work.means[c];
  }
  double* const own_constants = said.constants.data() + i * group.columns;
  if (sees_lengths(group)) {
    if (spec_.fit_intercept)
      std::copy_n(constants, group.columns, own_constants);
    else
      std::fill_n(own_constants, group.columns, 0.0);
  }
  if (!spec_.multinomial) return;
  share(work, group, x.offset, scores);
  for (double* each : {linear, own_constants}) {  // adds up to zero, so that members can be averaged
    for (int k = 0; k < group.members; ++k) {
      double sum = 0;
      for (int o = 0; o < spec_.outputs; ++o) sum += each[o * group.members + k];
      for (int o = 0; o < spec_.outputs; ++o) each[o * group.members + k] -= sum / spec_.outputs;
    }
  }
}

// The outputs of each member of a group share one probability: what was in proportion to exp(score) becomes the log odds
// of each against the others, those by which it learns and those that it predicts.
void PortfolioMembers::share(GroupWork& work, const Group& group, double offset,
                             double* all_scores) const noexcept {
  for (int k = 0; k < group.members; ++k) {
    double *const means = work.means.data() + k, *const scores = all_scores + k;
    against_others(means, spec_.outputs, group.members);
    const bool unsure = group.rule == Rule::bayesian;  // others predict by what they learn by
    if (unsure) against_others(scores, spec_.outputs, group.members);
    for (int o = 0; o < spec_.outputs; ++o) {
      const int at = o * group.members;
      means[at] += offset;
      scores[at] = unsure ? scores[at] + offset : means[at];
    }
  }
}

void PortfolioMembers::learn_group(Piece& piece, std::size_t g) noexcept {
  const Group& group = groups_[g];
  GroupWork& work = piece.work[g];
  const bool far = piece.used * static_cast<std::uint64_t>(group.width) * sizeof(double) > kFar;
  for (std::int64_t i = 0; i < piece.size(); ++i) {
    const PieceExample& x = piece.examples[static_cast<std::size_t>(i)];
    if (far && i + 1 < piece.size()) {
      const PieceExample& next = piece.examples[static_cast<std::size_t>(i) + 1];
      for (std::int64_t k = spec_.fit_intercept ? 1 : 0; k < next.rows; ++k)
        states_[g].fetch(piece.numbers[static_cast<std::size_t>(next.begin + k)]);
    }
    gather(work_, piece, g, i, constants_[g].data());
    if (!(x.weight > 0)) continue;
    for (int o = 0; o < spec_.outputs; ++o)
      std::fill_n(work.y.data() + o * group.members, group.members, target(x.label, o));
    if (group.rule == Rule::bayesian)
      bayesian_.step(as_taylor(work, piece, x, g));
    else if (group.rule == Rule::adagrad)
      kernels_.step(as_adagrad(work, piece, x, g));
    else
      step_joint(x);
  }
}

void PortfolioMembers::gather_joint(Workspace& w, Piece& piece, std::size_t g) const noexcept {
  const Group& group = groups_[g];
  for (int o = 0; o < spec_.outputs; ++o) {
    joint.score(w.joint, static_cast<std::size_t>(o));
    for (int k = 0; k < group.members; ++k)
      piece.work[g].means[o * group.members + k] = w.joint.scores[group.lanes[k]];
  }
}

// The joint members' scores have no part of what is not known of the weights: their steps go to where the loss and the
// prior are least together (appendix D.1 of the Bayesian paper, eqs. 45 and 46), along the one direction that the
// example has something to say about. Where outputs share a probability, the others move as far the other way, and log
// odds against them twice as far.
void PortfolioMembers::step_joint(const PieceExample& x) noexcept {
  JointExample& e = work_.joint;
  double* const scores = work_.joint_scores.data();
  for (int o = 0; o < spec_.outputs; ++o) {
    joint.score(e, static_cast<std::size_t>(o));
    std::copy_n(e.scores, kJointLanes, scores + o * kJointLanes);
  }
  for (int k = 0; spec_.multinomial && k < kJointLanes; ++k)
    against_others(scores + k, spec_.outputs, kJointLanes);
  const double reach = spec_.multinomial ? 2 : 1;
  for (int o = 0; o < spec_.outputs; ++o) {
    const auto output = static_cast<std::size_t>(o);
    const double y = target(x.label, o);
    joint.spread(e, output);
    double noise[kJointLanes], pulls[kJointLanes];
    for (int k = 0; k < kJointLanes; ++k) {
      const double slope =
          Logistic::implicit(scores[o * kJointLanes + k] + x.offset, y, 0, x.weight * reach * e.spreads[k]);
      const double wrong = std::fabs(slope);
      pulls[k] = -x.weight * slope;
      noise[k] = 1 / std::max(x.weight * (wrong * (1 - wrong)), 1e-300);
    }
    joint.step(e, output, noise, pulls);
  }
  joint.follow_units(e);
}

}  // namespace riata
