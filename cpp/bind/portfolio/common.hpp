// What the bindings of both kinds of portfolios share: making one, and learning a Block.
#pragma once

#include <nanobind/stl/optional.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>

#include "bind/block_view.hpp"
#include "bind/model.hpp"
#include "riata/portfolio/joint.hpp"

namespace riata::bind {

// A model that was made over a store by its name.
template <class AnyModel>
std::unique_ptr<AnyModel> made(std::unique_ptr<AnyModel> model) {
  if (model == nullptr) throw nb::value_error("unknown store");
  return model;
}

// Joint settings in a state: nothing where there are none, or where they have ended.
inline void add_joint(nb::dict& out, bool open, JointState&& now) {
  if (!open) return;
  out["joint_keys"] = nb::cast(give(std::move(now.keys)));
  out["joint_units"] = nb::cast(give(std::move(now.units)));
  out["joint_means"] = nb::cast(give(std::move(now.means), kJointLanes));
  out["joint_variances"] = nb::cast(give(std::move(now.variances), kJointLanes));
  out["joint_factors"] = nb::cast(give(std::move(now.factors), kJointLanes));
  out["joint_seen"] = nb::cast(give(std::vector<double>(now.seen, now.seen + 2)));
}

// `model.joint` goes on from such a state.
template <class AnyModel>
void set_joint(AnyModel& model, const In<std::int64_t>& keys, const In<double>& units,
               const In2<double>& means, const In2<double>& variances, const In2<double>& factors,
               const In<double>& seen) {
  const auto copied = [](const auto& from) { return std::vector(from.data(), from.data() + from.size()); };
  JointState state{copied(keys), copied(units), copied(means), copied(variances), copied(factors), {0, 0}};
  if (seen.size() != 2) throw nb::value_error("a state of another shape");
  std::copy_n(seen.data(), 2, state.seen);
  bool fits = true;
  writing(model, [&] { fits = model.joint.set(state); });
  if (!fits) throw nb::value_error("the joint settings have a state that cannot be theirs");
}

// They have ended.
template <class AnyModel>
void end_joint(AnyModel& model) {
  writing(model, [&] { model.joint.close(); });
}

// A prior variance of each; none: there are no such settings.
inline std::vector<double> joint_priors(const std::vector<double>& given) {
  if (!given.empty() && given.size() != kJointLanes)
    throw nb::value_error("joint settings are four, or none");
  for (const double prior : given)
    if (!(prior >= 1e-20 && prior <= 1e20)) throw nb::value_error("a parameter out of range");
  return given;
}

template <class AnyModel>
void bind_joint(nb::class_<AnyModel, Model>& model) {
  model
      .def("set_joint", &set_joint<AnyModel>, nb::arg("keys"), nb::arg("units"), nb::arg("means"),
           nb::arg("variances"), nb::arg("factors"), nb::arg("seen"))
      .def("end_joint", &end_joint<AnyModel>);
}

// `outputs_of(model)` is how many scores a row has.
template <auto outputs_of, class Index, class AnyModel>
Out2<double> learn(AnyModel& model, const In<std::int64_t>& indptr, const In<Index>& indices,
                   const In<float>& values, const In<double>& labels,
                   const std::optional<In<double>>& weights, const std::optional<In<std::int64_t>>& order,
                   const std::optional<In<std::uint8_t>>& names,
                   const std::optional<In<std::int64_t>>& name_offsets,
                   const std::optional<In<double>>& offsets) {
  const BlockView<Index> block =
      view<Index>(indptr, indices, values, labels, weights, names, name_offsets, offsets);
  return std::get<0>(learned(model, block, order, outputs_of(model)));
}

template <auto outputs_of, class Index, class AnyModel>
void bind_learn(nb::class_<AnyModel, Model>& model) {
  model.def("learn", &learn<outputs_of, Index, AnyModel>, nb::arg("indptr"), nb::arg("indices"),
            nb::arg("values"), nb::arg("labels"), nb::arg("weights").none(), nb::arg("order").none(),
            nb::arg("names").none(), nb::arg("name_offsets").none(), nb::arg("offsets").none());
}

}  // namespace riata::bind
