// Linear models: check the arrays, release the GIL, call.
#include "riata/linear/linear.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <string>
#include <tuple>

#include "bind/block/name_list.hpp"
#include "bind/block_view.hpp"
#include "bind/linear/scale_sums.hpp"
#include "bind/linear/spec.hpp"
#include "bind/model.hpp"
#include "riata/base/hash.hpp"
#include "riata/base/parallel_for.hpp"
#include "riata/linear/scale_kernels.hpp"
#include "riata/losses/log_loss.hpp"
#include "riata/simd/instructions.hpp"

namespace riata::bind {

namespace {

constexpr int kMostColumns = 1 << 24;

std::unique_ptr<Linear> make(const std::string& family, const std::string& update, const std::string& store,
                             const std::string& loss, const std::string& normalize, int columns,
                             bool fit_intercept, const Numbers& numbers) {
  if (columns < 1 || columns > kMostColumns)
    throw nb::value_error("a model has at least one column, and at most 2^24");
  const LinearSpec spec = spec_of(loss, normalize, columns, fit_intercept, numbers);
  std::unique_ptr<Linear> model;
  if (family == "elastic-net") model = make_elastic_net(update, store, spec);
  if (family == "truncated") model = make_truncated(update, store, spec);
  if (family == "ftrl") model = make_ftrl(update, store, spec);
  if (model == nullptr) throw nb::value_error("unknown family, update or store");
  return model;
}

// The names of the entries stand in a name_list.
template <class Index>
void name_by_number(BlockView<Index>& block, const NameList& name_list, const In<std::uint32_t>& numbers) {
  if (static_cast<std::int64_t>(numbers.size()) != block.nnz)
    throw nb::value_error("name_numbers differ in length");
  name_list.check(numbers);
  block.name_list = &name_list.view;
  block.name_numbers = numbers.data();
}

// (scores, examples done): fewer than asked for where the model diverged.
template <class Index>
std::tuple<Out2<double>, std::int64_t> learn(
    Linear& model, const In<std::int64_t>& indptr, const In<Index>& indices, const In<float>& values,
    const In<double>& labels, const std::optional<In<double>>& weights,
    const std::optional<In<std::int64_t>>& order, const std::optional<In<std::uint8_t>>& names,
    const std::optional<In<std::int64_t>>& name_offsets, const NameList* name_list,
    const std::optional<In<std::uint32_t>>& name_numbers, const std::optional<In<double>>& offsets,
    const std::optional<In<std::uint8_t>>& held) {
  BlockView<Index> block =
      view<Index>(indptr, indices, values, labels, weights, names, name_offsets, offsets);
  if (name_list != nullptr && name_numbers) name_by_number(block, *name_list, *name_numbers);
  if (!held) return learned(model, block, order, model.intercept.size());
  const auto n = order ? order->size() : static_cast<std::size_t>(block.rows);
  if (held->size() != n) throw nb::value_error("held differs in length");
  NewArray<double> scores(n * model.intercept.size());
  const Outcome outcome = writing(model, [&] {
    model.held = held->data();
    const Outcome found =
        model.learn(block, order ? order->data() : nullptr, static_cast<std::int64_t>(n), scores.get());
    model.held = nullptr;
    return found;
  });
  check(outcome);
  return {give(std::move(scores), model.intercept.size()), outcome.done};
}

template <class Index>
Out2<double> score(const Linear& model, const In<std::int64_t>& indptr, const In<Index>& indices,
                   const In<float>& values, const std::optional<In<double>>& offsets) {
  return scored(model, view<Index>(indptr, indices, values, {}, {}, {}, {}, offsets), model.intercept.size());
}

nb::dict snapshot(const Linear& model) {
  struct {
    ModelState common;
    std::vector<double> rule_state;
    double rate_factor;
    Rows scale;
  } now = reading(model, [&] {
    return decltype(now){state_of(model), model.rule_state(), model.rate_factor(),
                         model.scaled() ? model.scale_sums() : Rows{}};
  });
  nb::dict out = as_dict(std::move(now.common));
  out["clock"] = nb::cast(give(std::move(now.rule_state)));
  out["rate_factor"] = nb::cast(give(std::vector<double>{now.rate_factor}));
  if (model.scaled()) {
    out["scale_keys"] = nb::cast(give(std::move(now.scale.keys)));
    out["scale_sums"] = nb::cast(give(std::move(now.scale.values), kScaleSums));
  }
  return out;
}

// What is saved of a model and put back, beside what all models have.
void bind_state(nb::class_<Linear, Model>& linear) {
  linear
      .def("snapshot", &snapshot, nb::sig("def snapshot(self) -> dict[str, NDArray[typing.Any]]"),
           "All of the model's state at one moment, by name.")
      .def_prop_rw(
          "rule_state",
          [](const Linear& model) { return reading(model, [&] { return model.rule_state(); }); },
          [](Linear& model, const std::vector<double>& rule_state) {
            if (!writing(model, [&] { return model.set_rule_state(rule_state); }))
              throw nb::value_error("a rule_state of another rule");
          })
      .def_prop_rw(
          "rate_factor",
          [](const Linear& model) { return glancing(model, [&] { return model.rate_factor(); }); },
          [](Linear& model, double factor) {
            if (!std::isfinite(factor))
              throw nb::value_error("the factor of the learning rate is not finite");
            writing(model, [&] { model.set_rate_factor(factor); });
          })
      .def(
          "prune", [](Linear& model, double threshold) { writing(model, [&] { model.prune(threshold); }); },
          nb::arg("threshold"), "Weights up to this size become zero.");
}

}  // namespace

void bind_linear(nb::module_& m) {
  m.def(
      "key_of_name", [](nb::bytes name) { return key_of_name(name.c_str(), name.size()); }, nb::arg("name"),
      "The 63-bit key of a feature's name, given in UTF-8.");
  m.def(
      "instructions",
      [] {
        const char* const names[] = {"plain", "avx2", "avx512"};
        nb::list available;
        for (int set = 0; set <= static_cast<int>(available_instructions()); ++set)
          available.append(names[set]);
        return nb::make_tuple(available, names[static_cast<int>(best_instructions())]);
      },
      nb::sig("def instructions() -> tuple[list[str], str]"),
      "The instruction sets that the processor has and kernels use, and the one that is used.");
  m.def(
      "schedules",
      [] {
        nb::list out;
        for (const std::string_view name : kSchedules) out.append(std::string(name));
        return out;
      },
      nb::sig("def schedules() -> list[str]"), "Every learning rate schedule, by name.");
  nb::class_<Linear, Model> linear(m, "Linear", "A linear model: a rule over a store, columns wide.");
  linear
      .def(nb::new_(&make), nb::arg("family"), nb::arg("update"), nb::arg("store"), nb::arg("loss"),
           nb::arg("normalize"), nb::arg("columns"), nb::arg("fit_intercept"), nb::arg("numbers"))
      .def("learn", &learn<std::int32_t>, nb::arg("indptr"), nb::arg("indices").noconvert(),
           nb::arg("values"), nb::arg("labels"), nb::arg("weights").none(), nb::arg("order").none(),
           nb::arg("names").none(), nb::arg("name_offsets").none(), nb::arg("name_list") = nb::none(),
           nb::arg("name_numbers") = nb::none(), nb::arg("offsets") = nb::none(),
           nb::arg("held") = nb::none())
      .def("learn", &learn<std::int64_t>, nb::arg("indptr"), nb::arg("indices").noconvert(),
           nb::arg("values"), nb::arg("labels"), nb::arg("weights").none(), nb::arg("order").none(),
           nb::arg("names").none(), nb::arg("name_offsets").none(), nb::arg("name_list") = nb::none(),
           nb::arg("name_numbers") = nb::none(), nb::arg("offsets") = nb::none(),
           nb::arg("held") = nb::none())
      .def("score", &score<std::int32_t>, nb::arg("indptr"), nb::arg("indices").noconvert(),
           nb::arg("values"), nb::arg("offsets") = nb::none())
      .def("score", &score<std::int64_t>, nb::arg("indptr"), nb::arg("indices").noconvert(),
           nb::arg("values"), nb::arg("offsets") = nb::none())
      .def(
          "coefficients",
          [](const Linear& model) {
            Rows rows = reading(model, [&] { return model.coefficients(); });
            return keys_and_values(std::move(rows), model.intercept.size());
          },
          "Keys of the rows with a non-zero weight, and their weights, brought current.");
  bind_state(linear);
  bind_scale_sums<Linear>(linear);
}

}  // namespace riata::bind
