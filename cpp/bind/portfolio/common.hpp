// What the bindings of both kinds of portfolios share: making one, and learning a Block.
#pragma once

#include <nanobind/stl/optional.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>

#include "bind/block_view.hpp"
#include "bind/model.hpp"

namespace riata::bind {

// A model that was made over a store by its name.
template <class AnyModel>
std::unique_ptr<AnyModel> made(std::unique_ptr<AnyModel> model) {
  if (model == nullptr) throw nb::value_error("unknown store");
  return model;
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
