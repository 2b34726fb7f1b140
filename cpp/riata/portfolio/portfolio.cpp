#include "riata/portfolio/portfolio.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "riata/bayesian/taylor.hpp"
#include "riata/losses/classes.hpp"
#include "riata/portfolio/stored.hpp"
#include "riata/stores/make.hpp"
#include "riata/stores/packed_hashed.hpp"

namespace riata {

namespace {

template <class Store>
class PortfolioModel final : public BothIndices<PortfolioModel<Store>, StoredPortfolio<Store>> {
 public:
  using BothIndices<PortfolioModel<Store>, StoredPortfolio<Store>>::BothIndices;

  Outcome member_scores(const BlockView<std::int32_t>& b, double* scores) const noexcept override {
    return members_of_rows(b, scores);
  }
  Outcome member_scores(const BlockView<std::int64_t>& b, double* scores) const noexcept override {
    return members_of_rows(b, scores);
  }

 private:
  using Base = StoredPortfolio<Store>;
  using Status = Outcome::Status;
  friend BothIndices<PortfolioModel<Store>, StoredPortfolio<Store>>;
  using Base::blank_, Base::evidence, Base::example_, Base::groups_, Base::intercept, Base::joint;
  using Base::lengths, Base::single, Base::spec_, Base::store_, Base::t;

  template <class Index>
  Outcome learn_rows(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n,
                     double* scores) noexcept {
    if (!this->same_kind(b)) return {Status::mixed_names, 0};
    return each_example(b, order, n, [&](std::int64_t i, std::int64_t r) -> Outcome {
      const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
      if (const Status status = this->locate(b, begin, end); status != Status::ok) return {status, i};
      prefetch_next(store_, this->width_, b, order, i, n);
      const double weight = b.weights == nullptr ? 1 : std::min(b.weights[r], kLargestWeight);
      lay_out(example_, b, r, weight > 0);
      if (!take_joint(b, r, weight > 0)) return {Status::out_of_memory, i};
      gather(example_, b.offset(r));
      double* score = scores + i * spec_.outputs;
      predict(example_, score);
      ++t;
      if (weight > 0) learn_label(b.labels[r], weight, b.offset(r), score);
      if (joint.open() && !joint.worth_it(t) && !end_joint()) return {Status::out_of_memory, i + 1};
      if (Evidence::ends(t) && !end_epoch()) return {Status::out_of_memory, i + 1};
      return {};
    });
  }

  // The example's values as joint members see them. False: memory is exhausted.
  template <class Index>
  bool take_joint(const BlockView<Index>& b, std::int64_t r, bool learn) noexcept {
    if (!joint.open()) return true;
    double* const* rows = example_.rows.data() + (spec_.fit_intercept ? 1 : 0);
    try {
      if (learn)
        joint.take(example_.joint, b, r, [rows](std::int64_t k) { return rows[k]; });
      else
        joint.look(example_.joint, b, r);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  // The other members go on.
  bool end_joint() noexcept {
    try {
      std::vector<int> left(static_cast<std::size_t>(this->separate_members()));
      std::iota(left.begin(), left.end(), 0);
      return this->keep_only(left);
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  bool end_epoch() noexcept {
    try {
      const std::vector<int> left = evidence.survivors(t, this->separate_members());
      if (spec_.drop && !left.empty() && static_cast<int>(left.size()) < evidence.members() &&
          !this->keep_only(left))
        return false;
    } catch (const std::bad_alloc&) {
      return false;
    }
    evidence.next_epoch();
    return true;
  }

  // The example's values behind its rows, which `e` has already, and their views.
  template <class Index>
  void lay_out(Example& e, const BlockView<Index>& b, std::int64_t r, bool learn) const noexcept {
    Views& v = e.views;
    v = lay_out_values(e, b, r, spec_.fit_intercept, learn);
    const std::int64_t rows = v.rows;
    for (Doubles* each : {&e.rms, &e.unit, &e.unit_rms})
      std::fill(each->data() + rows, each->data() + rows + 8, 0.0);
    kernels_.views(v);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].width == 0) continue;
      double** state = e.parts[g].state.data();
      for (std::int64_t i = 0; i < rows; ++i)
        state[i] = e.rows[static_cast<std::size_t>(i)] + groups_[g].offset;
      if (groups_[g].columns == 1)  // rows are taken eight at a time
        std::fill(state + rows, state + rows + 8, const_cast<double*>(blank_.data()));
    }
  }

  // What the kernels of both rules are told.
  template <class Task>
  Task as(Example& e, std::size_t g, double weight) const noexcept {
    const Group& group = groups_[g];
    Example::Part& part = e.parts[g];
    Task out;
    out.rows = e.views.rows;
    out.columns = group.columns;
    out.state = part.state.data();
    out.x = e.values(group.values);
    out.y = part.y.data();
    out.weight = weight;
    return out;
  }
  Taylor as_taylor(Example& e, std::size_t g, double weight) const noexcept {
    Taylor out = as<Taylor>(e, g, weight);
    out.intercept_first = spec_.fit_intercept;
    out.precisions = groups_[g].parameters.data();
    out.intercept_precisions = groups_[g].intercept_precisions.data();
    out.variances = e.parts[g].variances.data();
    out.means = e.parts[g].means.data();
    out.spreads = e.parts[g].spreads.data();
    return out;
  }
  AdaGradRows as_adagrad(Example& e, std::size_t g, double weight) const noexcept {
    AdaGradRows out = as<AdaGradRows>(e, g, weight);
    out.rates = groups_[g].parameters.data();
    out.scores = e.parts[g].means.data();
    out.ratios = e.ratios.data();
    return out;
  }

  // The scores of all members.
  void gather(Example& e, double offset) const noexcept {
    const int all = evidence.members();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Group& group = groups_[g];
      Example::Part& part = e.parts[g];
      if (group.rule == Rule::bayesian)
        bayesian_.gather(as_taylor(e, g, 1));
      else if (group.rule == Rule::adagrad)
        kernels_.gather(as_adagrad(e, g, 1));
      else
        gather_joint(e, g);
      const double given = spec_.multinomial ? 0 : offset;
      for (int c = 0; c < group.columns; ++c) {
        const int at = c / group.members * all + group.first + c % group.members;
        e.linear[at] = part.means[c];
        part.means[c] += given;
        e.scores[at] = group.rule == Rule::bayesian
                           ? part.means[c] / std::sqrt(1 + Logit::kShrink * part.spreads[c])
                           : part.means[c];
      }
      if (spec_.multinomial) share(e, g, offset);
    }
    if (spec_.correct) correct(e, offset);
  }

  // The outputs of each member of a group share one probability: what was in proportion to exp(score) becomes the log odds
  // of each against the others, those by which it learns and those that it predicts. What is linear adds up to zero, so
  // that members can be averaged.
  void share(Example& e, std::size_t g, double offset) const noexcept {
    const Group& group = groups_[g];
    const int all = evidence.members();
    for (int k = 0; k < group.members; ++k) {
      double* const means = e.parts[g].means.data() + k;
      double *const scores = e.scores.data() + group.first + k, *const linear =
                                                                    e.linear.data() + group.first + k;
      double sum = 0;
      for (int o = 0; o < spec_.outputs; ++o) sum += linear[o * all];
      against_others(means, spec_.outputs, group.members);
      const bool unsure = group.rule == Rule::bayesian;  // others predict by what they learn by
      if (unsure) against_others(scores, spec_.outputs, all);
      for (int o = 0; o < spec_.outputs; ++o) {
        means[o * group.members] += offset;
        scores[o * all] = unsure ? scores[o * all] + offset : means[o * group.members];
        linear[o * all] -= sum / spec_.outputs;
      }
    }
  }

  void gather_joint(Example& e, std::size_t g) const noexcept {
    const Group& group = groups_[g];
    for (int o = 0; o < spec_.outputs; ++o) {
      joint.score(e.joint, static_cast<std::size_t>(o));
      for (int k = 0; k < group.members; ++k)
        e.parts[g].means[o * group.members + k] = e.joint.scores[group.lanes[k]];
    }
  }

  // The joint members' scores have no part of what is not known of the weights: their steps go to where the loss and the
  // prior are least together (appendix D.1 of the Bayesian paper, eqs. 45 and 46), along the one direction that the
  // example has something to say about. Where outputs share a probability, the others move as far the other way, and log
  // odds against them twice as far.
  void step_joint(double offset, double label, double weight) noexcept {
    JointExample& e = example_.joint;
    double* const scores = example_.joint_scores.data();
    for (int o = 0; o < spec_.outputs; ++o) {
      joint.score(e, static_cast<std::size_t>(o));
      std::copy_n(e.scores, kJointLanes, scores + o * kJointLanes);
    }
    for (int k = 0; spec_.multinomial && k < kJointLanes; ++k)
      against_others(scores + k, spec_.outputs, kJointLanes);
    const double reach = spec_.multinomial ? 2 : 1;
    for (int o = 0; o < spec_.outputs; ++o) {
      const auto output = static_cast<std::size_t>(o);
      const double y = target(label, o);
      joint.spread(e, output);
      double noise[kJointLanes], pulls[kJointLanes];
      for (int k = 0; k < kJointLanes; ++k) {
        const double slope =
            Logistic::implicit(scores[o * kJointLanes + k] + offset, y, 0, weight * reach * e.spreads[k]);
        const double wrong = std::fabs(slope);
        pulls[k] = -weight * slope;
        noise[k] = 1 / std::max(weight * (wrong * (1 - wrong)), 1e-300);
      }
      joint.step(e, output, noise, pulls);
    }
    joint.follow_units(e);
  }

  // The members' scores, put right by how they did so far. What they said themselves is kept for learning.
  void correct(Example& e, double offset) const noexcept {
    const std::size_t all = e.scores.size();
    for (std::size_t at = 0; at < all; ++at)  // read only
      e.corrections[at] = const_cast<double*>(evidence.corrections.data() + at * Single::kWidth);
    corrections_.read(static_cast<int>(all), e.corrections.data(), e.factors.data(), e.constants.data());
    for (std::size_t at = 0; at < all; ++at) {
      e.own[at] = e.scores[at] - offset;
      e.scores[at] = e.factors[at] * e.own[at] + e.constants[at] + offset;
    }
  }

  // The label of output o becomes known.
  void learn_corrections(int o, double offset, double y, double weight) noexcept {
    const std::size_t first = static_cast<std::size_t>(o) * static_cast<std::size_t>(evidence.members());
    if (!spec_.correct) return;
    corrections_.learn({.n = evidence.members(),
                        .states = example_.corrections.data() + first,
                        .scores = example_.own.data() + first,
                        .offset = offset,
                        .y = y,
                        .weight = weight});
  }
  void predict(const Example& e, double* scores) const noexcept {
    for (int o = 0; o < spec_.outputs; ++o)
      scores[o] = evidence.predict(o, e.scores.data() + o * evidence.members());
  }

  double target(double label, int o) const noexcept {
    return label == (spec_.outputs == 1 ? 1 : o) ? 1.0 : -1.0;
  }

  void learn_label(double label, double weight, double offset, const double* scores) noexcept {
    const int all = evidence.members();
    learn_singles(1, 1 + kViews, label, weight, offset);  // of rows of length one, which is what their models see
    learn_lengths();
    learn_singles(0, 1, label, weight, offset);
    for (int o = 0; o < spec_.outputs; ++o) {
      const double y = target(label, o);
      learn_corrections(o, offset, y, weight);
      evidence.learn(o, example_.scores.data() + o * all, scores[o], y, weight, t);
      for (std::size_t g = 0; g < groups_.size(); ++g)
        std::fill_n(example_.parts[g].y.data() + o * groups_[g].members, groups_[g].members, y);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].rule == Rule::bayesian)
        bayesian_.step(as_taylor(example_, g, weight));
      else if (groups_[g].rule == Rule::adagrad)
        kernels_.step(as_adagrad(example_, g, weight));
      else
        step_joint(offset, label, weight);
    }
  }

  // What is linear of all members, averaged with their weights of the moment, is one linear model (v = 0); and of the
  // members of one view, one of that view (v = 1, ...). Those from `first` to before `last` learn.
  void learn_singles(int first, int last, double label, double weight, double offset) noexcept {
    bool there[1 + kViews];
    for (int v = first; v < last; ++v) {
      double* const averages = example_.averages.data() + v * spec_.outputs;
      there[v] = average_linear(v, averages);
      if (there[v] && spec_.multinomial) against_others(averages, spec_.outputs);
    }
    for (int o = 0; o < spec_.outputs; ++o) {
      double scores[1 + kViews], *states[1 + kViews];
      int n = 0;
      for (int v = first; v < last; ++v) {
        if (!there[v]) continue;
        states[n] = single.data() + (v * spec_.outputs + o) * Single::kWidth;
        scores[n++] = example_.averages[static_cast<std::size_t>(v * spec_.outputs + o)];
      }
      corrections_.learn({.n = n,
                          .states = states,
                          .scores = scores,
                          .offset = offset,
                          .y = target(label, o),
                          .weight = weight});
    }
  }
  // Of every output: of all members for v = 0, else of those of view v - 1. False: there are none.
  bool average_linear(int v, double* averages) const noexcept {
    bool any = false;
    for (int o = 0; o < spec_.outputs; ++o) {
      double sum = 0, share = 0;
      for (const Group& g : groups_) {
        if (v > 0 && static_cast<int>(g.values) != v - 1) continue;
        for (int c = o * evidence.members() + g.first, last = c + g.members; c < last; ++c) {
          sum += evidence.weights[c] * example_.corrected(static_cast<std::size_t>(c));
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
  void learn_lengths() noexcept {
    for (int v = 0; v < 2; ++v) {
      const double length = example_.views.lengths[v];
      lengths[2 * v] += length;
      lengths[2 * v + 1] += length * length;
      const double factor = lengths[2 * v + 1] > 0 ? lengths[2 * v] / lengths[2 * v + 1] * length : 1;
      for (const Group& g : groups_) {
        if (g.values != (v == 0 ? Values::unit : Values::unit_rms)) continue;
        for (int c = 0; c < g.columns; ++c) {
          double& linear = example_.linear[c / g.members * evidence.members() + g.first + c % g.members];
          const double constant = spec_.fit_intercept ? intercept[g.offset + c] : 0;
          linear = constant + (linear - constant) * factor;
        }
      }
    }
  }

  template <class Index>
  Outcome score_rows(const BlockView<Index>& b, double* scores) const noexcept {
    return look_at_all(b, [&](std::int64_t r, const Example& e) { predict(e, scores + r * spec_.outputs); });
  }

  template <class Index>
  Outcome members_of_rows(const BlockView<Index>& b, double* scores) const noexcept {
    return look_at_all(b, [&](std::int64_t r, const Example& e) {
      std::copy(e.scores.begin(), e.scores.end(), scores + r * static_cast<std::int64_t>(e.scores.size()));
    });
  }

  template <class Index, class Visit>
  Outcome look_at_all(const BlockView<Index>& b, Visit visit) const noexcept {
    return look_at_each<Example>(groups_, b, [&](Example& e, std::int64_t r) {
      if (!e.make(b.indptr[r + 1] - b.indptr[r] + 1, groups_)) return false;
      look_at_rows(store_, spec_.fit_intercept ? intercept.data() : nullptr, blank_.data(), b, r,
                   e.rows.data());
      lay_out(e, b, r, false);
      if (joint.open()) joint.look(e.joint, b, r);
      gather(e, b.offset(r));
      visit(r, e);
      return true;
    });
  }

  const PortfolioKernels& kernels_ = best_portfolio_kernels();
  const TaylorKernels& bayesian_ = best_taylor_kernels();
  const CorrectionKernels& corrections_ = best_correction_kernels();
};

}  // namespace

std::unique_ptr<Portfolio> make_portfolio(const std::string& store, const PortfolioSpec& spec) {
  return make_over<Portfolio, PackedHashedStore>(
      store, [&]<AnyStore Store>() { return std::make_unique<PortfolioModel<Store>>(spec); });
}

}  // namespace riata
