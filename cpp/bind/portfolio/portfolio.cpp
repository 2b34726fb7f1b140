// Portfolios: check the arrays, release the GIL, call.
#include "riata/portfolio/portfolio.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "bind/block_view.hpp"
#include "bind/model.hpp"
#include "bind/portfolio/common.hpp"

namespace riata::bind {

namespace {

using Named = std::tuple<std::string, std::string, double>;  // rule, values, parameter

// Their places are the values of the enumerations.
constexpr const char* kRules[] = {"bayesian", "adagrad", "joint"};
constexpr const char* kValues[] = {"raw", "rms", "unit", "unit-rms"};

template <class Enum>
Enum named(std::span<const char* const> names, const std::string& name, const char* wrong) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw nb::value_error(wrong);
  return static_cast<Enum>(found - names.begin());
}

Member member_of(const Named& given) {
  const auto& [rule, values, parameter] = given;
  const Member out{.rule = named<Rule>(kRules, rule, "unknown rule"),
                   .values = named<Values>(kValues, values, "unknown view of values"),
                   .parameter = parameter};
  if (!(parameter >= 1e-20 && parameter <= 1e20)) throw nb::value_error("a parameter out of range");
  return out;
}

// The last member: joint ones are behind all others, see values as they are, and have one of the four priors.
void check_place(const PortfolioSpec& spec) {
  const Member& last = spec.members.back();
  if (last.rule != Rule::joint) {
    if (spec.members.size() > 1 && spec.members[spec.members.size() - 2].rule == Rule::joint)
      throw nb::value_error("joint members come last");
    return;
  }
  if (last.values != Values::raw) throw nb::value_error("joint members see values as they are");
  if (std::find(spec.joint.begin(), spec.joint.end(), last.parameter) == spec.joint.end())
    throw nb::value_error("a joint member's prior is none of the four");
}

std::unique_ptr<Portfolio> make(const std::string& store, const std::vector<Named>& members,
                                double intercept_variance, bool fit_intercept, bool drop, bool correct,
                                int outputs, bool multinomial, int bits, const std::vector<double>& joint,
                                int threads) {
  const double columns = static_cast<double>(outputs) * static_cast<double>(members.size());
  if (!(outputs >= 1 && columns >= 1 && columns <= 1 << 24))
    throw nb::value_error("a model has at least one column, and at most 2^24");
  if (bits < 1 || bits > 32) throw nb::value_error("bits must be 1 to 32");
  if (threads < 1) throw nb::value_error("threads must be at least 1");
  PortfolioSpec spec{.members = {},
                     .joint = joint_priors(joint),
                     .intercept_variance = intercept_variance,
                     .fit_intercept = fit_intercept,
                     .drop = drop,
                     .correct = correct,
                     .outputs = outputs,
                     .multinomial = multinomial && outputs > 1,
                     .bits = bits,
                     .threads = threads};
  for (const Named& each : members) {
    spec.members.push_back(member_of(each));
    check_place(spec);
  }
  if (spec.members.front().rule == Rule::joint) throw nb::value_error("joint members are not alone");
  return made(make_portfolio(store, spec));
}

std::size_t outputs_of(const Portfolio& model) { return model.evidence.totals.size() / 2; }

template <class Index>
Out2<double> score(const Portfolio& model, const In<std::int64_t>& indptr, const In<Index>& indices,
                   const In<float>& values, const std::optional<In<std::uint8_t>>& names,
                   const std::optional<In<std::int64_t>>& name_offsets,
                   const std::optional<In<double>>& offsets) {
  return scored(model, view<Index>(indptr, indices, values, {}, {}, names, name_offsets, offsets),
                outputs_of(model));
}

// The scores of all members that are left, rows x (outputs x members).
template <class Index>
Out2<double> member_scores(const Portfolio& model, const In<std::int64_t>& indptr, const In<Index>& indices,
                           const In<float>& values, const std::optional<In<double>>& offsets) {
  const BlockView<Index> block = view<Index>(indptr, indices, values, {}, {}, {}, {}, offsets);
  std::vector<double> scores;
  std::size_t columns = 1;
  check(reading(model, [&] {
    columns = model.evidence.weights.size();
    scores.resize(static_cast<std::size_t>(block.rows) * columns);
    return model.member_scores(block, scores.data());
  }));
  return give(std::move(scores), columns);
}

// All of a model at one moment.
struct Snapshot {
  ModelState common;
  std::vector<std::int64_t> alive;
  Evidence evidence;
  std::vector<double> single, lengths;
  bool joint_open;
  JointState joint;
};

nb::dict snapshot(const Portfolio& model, bool with_rows) {
  Snapshot now = reading(model, [&] {
    return Snapshot{state_of(model, with_rows),
                    {model.alive.begin(), model.alive.end()},
                    model.evidence,
                    model.single,
                    {std::begin(model.lengths), std::end(model.lengths)},
                    model.joint.open(),
                    model.joint.state()};
  });
  const auto members = static_cast<std::size_t>(now.evidence.members());
  nb::dict out = as_dict(std::move(now.common));
  out["settings"] = nb::cast(give(std::move(now.alive)));
  out["weights"] = nb::cast(give(std::move(now.evidence.weights), members));
  out["losses"] = nb::cast(give(std::move(now.evidence.losses), members));
  out["recent_losses"] = nb::cast(give(std::move(now.evidence.recent), members));
  out["claims"] = nb::cast(give(std::move(now.evidence.claims), members));
  out["worth"] = nb::cast(give(std::move(now.evidence.worth), members));
  out["gaps"] = nb::cast(give(std::move(now.evidence.gaps), members));
  out["corrections"] = nb::cast(give(std::move(now.evidence.corrections), Single::kWidth));
  out["totals"] = nb::cast(give(std::move(now.evidence.totals), 2));
  out["single"] = nb::cast(give(std::move(now.single), Single::kWidth));
  out["lengths"] = nb::cast(give(std::move(now.lengths)));
  add_joint(out, now.joint_open, std::move(now.joint));
  return out;
}

void fill(std::vector<double>& to, const In2<double>& from) {
  if (from.size() != to.size()) throw nb::value_error("a state of another shape");
  std::copy(from.data(), from.data() + from.size(), to.begin());
}

void set_evidence(Portfolio& model, const In2<double>& weights, const In2<double>& losses,
                  const In2<double>& recent, const In2<double>& claims, const In2<double>& worth,
                  const In2<double>& gaps, const In2<double>& totals, const In2<double>& corrections) {
  Evidence now = reading(model, [&] { return model.evidence; });
  fill(now.weights, weights);
  fill(now.losses, losses);
  fill(now.recent, recent);
  fill(now.claims, claims);
  fill(now.worth, worth);
  fill(now.gaps, gaps);
  fill(now.totals, totals);
  fill(now.corrections, corrections);
  writing(model, [&] {
    model.evidence.weights = now.weights;
    model.evidence.losses = now.losses;
    model.evidence.recent = now.recent;
    model.evidence.claims = now.claims;
    model.evidence.worth = now.worth;
    model.evidence.gaps = now.gaps;
    model.evidence.totals = now.totals;
    model.evidence.corrections = now.corrections;
  });
}

void set_rest(Portfolio& model, const In<double>& intercept, const In2<double>& single,
              const In<double>& lengths, std::uint64_t t, std::int64_t features) {
  if (intercept.size() != model.intercept.size() || single.size() != model.single.size() ||
      lengths.size() != std::size(model.lengths))
    throw nb::value_error("a state of another shape");
  writing(model, [&] {
    std::copy(intercept.data(), intercept.data() + intercept.size(), model.intercept.begin());
    std::copy(single.data(), single.data() + single.size(), model.single.begin());
    std::copy(lengths.data(), lengths.data() + lengths.size(), model.lengths);
    model.t = t;
    model.features = features;
  });
}

void bind_state(nb::class_<Portfolio, Model>& portfolio) {
  portfolio
      .def("snapshot", &snapshot, nb::arg("rows") = true,
           nb::sig("def snapshot(self, rows: bool = True) -> dict[str, NDArray[typing.Any]]"),
           "All of the model's state at one moment, by name; `settings` are the numbers of the members left.")
      .def("set_evidence", &set_evidence, nb::arg("weights"), nb::arg("losses"), nb::arg("recent_losses"),
           nb::arg("claims"), nb::arg("worth"), nb::arg("gaps"), nb::arg("totals"), nb::arg("corrections"))
      .def("set_rest", &set_rest, nb::arg("intercept"), nb::arg("single"), nb::arg("lengths"), nb::arg("t"),
           nb::arg("features"));
}

}  // namespace

void bind_portfolio(nb::module_& m) {
  m.attr("SINGLE_WIDTH") = Single::kWidth;
  m.def(
      "single_scale",
      [](const In2<double>& state) {
        if (state.shape(1) != Single::kWidth) throw nb::value_error("not the state of a single model");
        std::vector<std::tuple<double, double>> out;
        for (std::size_t o = 0; o < state.shape(0); ++o) {
          const Single now(state.data() + o * Single::kWidth);
          out.emplace_back(now.a(), now.c());
        }
        return out;
      },
      nb::arg("state"), "For every row of it, what multiplies a score, and what is added.");
  nb::class_<Portfolio, Model> portfolio(m, "Portfolio",
                                         "Many settings side by side over a store, averaged.");
  portfolio.def(nb::new_(&make), nb::arg("store"), nb::arg("members"), nb::arg("intercept_variance"),
                nb::arg("fit_intercept"), nb::arg("drop"), nb::arg("correct"), nb::arg("outputs"),
                nb::arg("multinomial"), nb::arg("bits"), nb::arg("joint") = std::vector<double>(),
                nb::arg("threads") = 1);
  bind_learn<outputs_of, std::int32_t>(portfolio);
  bind_learn<outputs_of, std::int64_t>(portfolio);
  portfolio
      .def("score", &score<std::int32_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("names").none(), nb::arg("name_offsets").none(), nb::arg("offsets").none())
      .def("score", &score<std::int64_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("names").none(), nb::arg("name_offsets").none(), nb::arg("offsets").none())
      .def("member_scores", &member_scores<std::int32_t>, nb::arg("indptr"), nb::arg("indices"),
           nb::arg("values"), nb::arg("offsets").none())
      .def("member_scores", &member_scores<std::int64_t>, nb::arg("indptr"), nb::arg("indices"),
           nb::arg("values"), nb::arg("offsets").none());
  bind_state(portfolio);
  bind_joint(portfolio);
}

}  // namespace riata::bind
