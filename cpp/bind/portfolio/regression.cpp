// Regressions: check the arrays, release the GIL, call.
#include "riata/portfolio/regression.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bind/block_view.hpp"
#include "bind/model.hpp"
#include "bind/portfolio/common.hpp"

namespace riata::bind {

namespace {

using Setting = std::tuple<bool, double, double>;  // scaled, prior variance, degrees of freedom

std::unique_ptr<Regression> make(const std::string& store, const std::vector<Setting>& members,
                                 const std::vector<double>& joint, double intercept_variance,
                                 bool fit_intercept, int bits) {
  if (members.empty() || members.size() > 1 << 20) throw nb::value_error("at least one member is needed");
  if (bits < 1 || bits > 32) throw nb::value_error("bits must be 1 to 32");
  RegressionSpec spec;
  for (const auto& [scaled, variance, freedom] : members) {
    if (!(variance >= 1e-20 && variance <= 1e20) || !(freedom >= 0 && freedom <= 1e6))
      throw nb::value_error("a parameter out of range");
    if (!scaled && !spec.members.empty() && spec.members.back().scaled)
      throw nb::value_error("members that see values as they are come first");
    spec.members.push_back({scaled, variance, freedom});
  }
  spec.joint = joint_priors(joint);
  if (!(intercept_variance > 0)) throw nb::value_error("a parameter out of range");
  spec.intercept_variance = intercept_variance;
  spec.fit_intercept = fit_intercept;
  spec.bits = bits;
  return made(make_regression(store, spec));
}

std::size_t outputs_of(const Regression&) { return 1; }

template <class Index>
Out2<double> score(const Regression& model, const In<std::int64_t>& indptr, const In<Index>& indices,
                   const In<float>& values, const std::optional<In<double>>& offsets) {
  return scored(model, view<Index>(indptr, indices, values, {}, {}, {}, {}, offsets), 1);
}

template <class Index>
Out2<double> moments(const Regression& model, const In<std::int64_t>& indptr, const In<Index>& indices,
                     const In<float>& values, const std::optional<In<double>>& offsets) {
  const BlockView<Index> block = view<Index>(indptr, indices, values, {}, {}, {}, {}, offsets);
  NewArray<double> out(static_cast<std::size_t>(block.rows) * 2);
  check(reading(model, [&] { return model.moments(block, out.get()); }));
  return give(std::move(out), 2);
}

struct Snapshot {
  ModelState common;
  std::vector<double> weights, losses, squares, sums;
  bool joint_open;
  JointState joint;
};

nb::dict snapshot(const Regression& model, bool with_rows) {
  Snapshot now = reading(model, [&] {
    return Snapshot{state_of(model, with_rows),
                    model.weights,
                    model.losses,
                    model.squares,
                    {std::begin(model.seen), std::end(model.seen)},
                    model.joint.open(),
                    model.joint.state()};
  });
  nb::dict out = as_dict(std::move(now.common));
  out["weights"] = nb::cast(give(std::move(now.weights)));
  out["losses"] = nb::cast(give(std::move(now.losses)));
  out["squares"] = nb::cast(give(std::move(now.squares)));
  out["sums"] = nb::cast(give(std::move(now.sums)));
  add_joint(out, now.joint_open, std::move(now.joint));
  return out;
}

void set_rest(Regression& model, const In<double>& intercept, const In<double>& weights,
              const In<double>& losses, const In<double>& squares, const In<double>& sums, std::uint64_t t,
              std::int64_t features) {
  const std::size_t k = model.weights.size();
  if (intercept.size() != model.intercept.size() || weights.size() != k || losses.size() != k ||
      squares.size() != k || sums.size() != std::size(model.seen))
    throw nb::value_error("a state of another shape");
  writing(model, [&] {
    std::copy_n(intercept.data(), intercept.size(), model.intercept.begin());
    std::copy_n(weights.data(), k, model.weights.begin());
    std::copy_n(losses.data(), k, model.losses.begin());
    std::copy_n(squares.data(), k, model.squares.begin());
    std::copy_n(sums.data(), sums.size(), model.seen);
    model.t = t;
    model.features = features;
  });
}

}  // namespace

void bind_regression(nb::module_& m) {
  nb::class_<Regression, Model> regression(m, "Regression",
                                           "Bayesian regressions side by side over a store, averaged.");
  regression.def(nb::new_(&make), nb::arg("store"), nb::arg("members"), nb::arg("joint"),
                 nb::arg("intercept_variance"), nb::arg("fit_intercept"), nb::arg("bits"));
  bind_learn<outputs_of, std::int32_t>(regression);
  bind_learn<outputs_of, std::int64_t>(regression);
  regression
      .def("score", &score<std::int32_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("offsets").none())
      .def("score", &score<std::int64_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("offsets").none())
      .def("moments", &moments<std::int32_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("offsets").none(), "Mean and variance of the label of every row.")
      .def("moments", &moments<std::int64_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("offsets").none())
      .def("snapshot", &snapshot, nb::arg("rows") = true,
           nb::sig("def snapshot(self, rows: bool = True) -> dict[str, NDArray[typing.Any]]"),
           "All of the model's state at one moment, by name.")
      .def("set_rest", &set_rest, nb::arg("intercept"), nb::arg("weights"), nb::arg("losses"),
           nb::arg("squares"), nb::arg("sums"), nb::arg("t"), nb::arg("features"));
  bind_joint(regression);
}

}  // namespace riata::bind
