// The interior-point delta rule: check the arrays, release the GIL, call.
#include "riata/interior/interior.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/block_view.hpp"
#include "bind/outcome.hpp"

namespace riata::bind {

namespace {

using Pair = std::pair<double, double>;

RowScale scale_named(const std::string& name) {
  constexpr std::string_view names[] = {"none", "l1", "l2", "sqrt_nnz"};
  for (int i = 0; i < 4; ++i)
    if (names[i] == name) return static_cast<RowScale>(i);
  throw nb::value_error("unknown normalize");
}

std::unique_ptr<Interior> make(const std::string& loss, const std::string& normalize, int columns,
                               bool fit_intercept, std::int64_t dimension, const Numbers& numbers,
                               std::optional<Pair> bounds, const std::map<std::int64_t, Pair>& own_bounds,
                               const std::map<std::string, Pair>& group_bounds) {
  if (columns < 1) throw nb::value_error("a model has at least one column");
  InteriorSpec spec;
  spec.loss = find_loss(loss);
  if (spec.loss == nullptr) throw nb::value_error("unknown loss");
  if (!spec.loss->parameter.empty()) spec.loss_parameter = numbers.at(std::string(spec.loss->parameter));
  spec.l1 = numbers.at("l1");
  spec.sigma = numbers.at("sigma");
  spec.k0 = numbers.at("k0");
  spec.start = numbers.at("start");
  spec.dual = numbers.at("dual");
  spec.scale = scale_named(normalize);
  spec.columns = columns;
  spec.fit_intercept = fit_intercept;
  spec.dimension = dimension;
  spec.bounded = bounds.has_value() || !own_bounds.empty() || !group_bounds.empty();
  if (bounds) spec.bounds = {bounds->first, bounds->second};
  for (const auto& [key, own] : own_bounds) {
    if (key < 0 || (dimension > 0 && key >= dimension))
      throw nb::value_error("bounds of a feature out of range");
    spec.own_bounds[key] = {own.first, own.second};
  }
  for (const auto& [name, own] : group_bounds)
    spec.group_bounds.emplace_back(name, Interval{own.first, own.second});
  return std::make_unique<Interior>(spec);
}

// (scores, examples done): fewer than asked for where the model diverged.
template <class Index>
std::tuple<Out2<double>, std::int64_t> learn(
    Interior& model, const In<std::int64_t>& indptr, const In<Index>& indices, const In<float>& values,
    const In<double>& labels, const std::optional<In<double>>& weights,
    const std::optional<In<std::int64_t>>& order, const std::optional<In<std::uint8_t>>& names,
    const std::optional<In<std::int64_t>>& name_offsets, const std::optional<In<double>>& offsets) {
  const auto block = view<Index>(indptr, indices, values, labels, weights, names, name_offsets, offsets);
  const auto n = order ? static_cast<std::int64_t>(order->size()) : block.rows;
  Fresh<double> scores(static_cast<std::size_t>(n) * model.columns.size());
  Outcome outcome;
  {
    nb::gil_scoped_release nogil;
    const std::unique_lock alone(model.guard);
    outcome = model.learn(block, order ? order->data() : nullptr, n, scores.get());
  }
  check(outcome);
  return {give(std::move(scores), model.columns.size()), outcome.done};
}

template <class Index>
Out2<double> score(const Interior& model, const In<std::int64_t>& indptr, const In<Index>& indices,
                   const In<float>& values, const In<double>& keep,
                   const std::optional<In<double>>& offsets) {
  if (keep.size() != model.columns.size()) throw nb::value_error("keep needs a number a column");
  const auto block = view<Index>(indptr, indices, values, {}, {}, {}, {}, offsets);
  Fresh<double> scores(static_cast<std::size_t>(block.rows) * model.columns.size());
  Outcome outcome;
  {
    nb::gil_scoped_release nogil;
    const std::shared_lock together(model.guard);
    outcome = model.score(block, keep.data(), scores.get());
  }
  check(outcome);
  return give(std::move(scores), model.columns.size());
}

std::vector<Pair> sums(const Interior& model) {
  std::vector<Pair> out;
  for (const InteriorColumn& column : model.columns) out.emplace_back(column.product, column.least);
  return out;
}

void set_sums(Interior& model, const std::vector<Pair>& sums) {
  if (sums.size() != model.columns.size()) throw nb::value_error("sums of another number of columns");
  for (std::size_t c = 0; c < sums.size(); ++c) {
    model.columns[c].product = sums[c].first;
    model.columns[c].least = sums[c].second;
  }
}

std::tuple<Out<std::int64_t>, Out2<double>> weights(const Interior& model) {
  const std::shared_lock together(model.guard);
  const auto first = static_cast<std::size_t>(model.groups());
  const auto n = static_cast<std::size_t>(model.slots()) - first, m = model.columns.size();
  Fresh<std::int64_t> keys(n);
  Fresh<double> out(n * m);
  for (std::size_t i = 0; i < n; ++i) {
    keys.get()[i] = model.keys[first + i];
    for (std::size_t c = 0; c < m; ++c)
      out.get()[i * m + c] = model.weight(static_cast<int>(c), static_cast<std::int64_t>(first + i));
  }
  return {give(std::move(keys)), give(std::move(out), m)};
}

std::tuple<Out<std::int64_t>, Out2<double>> rows(const Interior& model) {
  const std::shared_lock together(model.guard);
  const auto n = static_cast<std::size_t>(model.slots()), width = static_cast<std::size_t>(model.width());
  Fresh<double> out(n * width);
  model.save(out.get());
  return {give(std::vector<std::int64_t>(model.keys)), give(std::move(out), width)};
}

void set_rows(Interior& model, const In<std::int64_t>& keys, const In2<double>& values,
              const std::optional<In<std::uint8_t>>& names,
              const std::optional<In<std::int64_t>>& name_offsets) {
  if (values.shape(0) != keys.size() || static_cast<int>(values.shape(1)) != model.width())
    throw nb::value_error("rows of another shape");
  const bool named = names && name_offsets;
  if (named) check_names(*names, *name_offsets, keys.size());
  if (!model.restore(keys.data(), values.data(), static_cast<std::int64_t>(keys.size()),
                     named ? reinterpret_cast<const char*>(names->data()) : nullptr,
                     named ? name_offsets->data() : nullptr))
    throw nb::value_error("rows do not fit this model");
}

std::tuple<Out<std::uint8_t>, Out<std::int64_t>> all_names(const Interior& model) {
  const std::shared_lock together(model.guard);
  return {give(std::vector<std::uint8_t>(model.names.bytes)),
          give(std::vector<std::int64_t>(model.names.offsets))};
}

}  // namespace

void bind_interior(nb::module_& m) {
  nb::class_<Interior>(m, "Interior", "The L1-regularised delta rule by interior points, columns wide.")
      .def(nb::new_(&make), nb::arg("loss"), nb::arg("normalize"), nb::arg("columns"),
           nb::arg("fit_intercept"), nb::arg("dimension"), nb::arg("numbers"), nb::arg("bounds").none(),
           nb::arg("own_bounds"), nb::arg("group_bounds"))
      .def("learn", &learn<std::int32_t>, nb::arg("indptr"), nb::arg("indices").noconvert(),
           nb::arg("values"), nb::arg("labels"), nb::arg("weights").none(), nb::arg("order").none(),
           nb::arg("names").none(), nb::arg("name_offsets").none(), nb::arg("offsets") = nb::none())
      .def("learn", &learn<std::int64_t>, nb::arg("indptr"), nb::arg("indices").noconvert(),
           nb::arg("values"), nb::arg("labels"), nb::arg("weights").none(), nb::arg("order").none(),
           nb::arg("names").none(), nb::arg("name_offsets").none(), nb::arg("offsets") = nb::none())
      .def("score", &score<std::int32_t>, nb::arg("indptr"), nb::arg("indices").noconvert(),
           nb::arg("values"), nb::arg("keep"), nb::arg("offsets") = nb::none())
      .def("score", &score<std::int64_t>, nb::arg("indptr"), nb::arg("indices").noconvert(),
           nb::arg("values"), nb::arg("keep"), nb::arg("offsets") = nb::none())
      .def("weights", &weights, "Features seen, in the order in which they came, and their weights.")
      .def("rows", &rows,
           "The features of all slots, negative ones first for those never seen, and their state.")
      .def("set_rows", &set_rows, nb::arg("keys"), nb::arg("values"), nb::arg("names").none(),
           nb::arg("name_offsets").none())
      .def_prop_ro("named", &Interior::named)
      .def("names", &all_names, "The names of all slots, as bytes and offsets; empty for those never seen.")
      .def_prop_rw("sums", &sums, &set_sums)
      .def_prop_rw(
          "intercept", [](const Interior& model) { return model.intercept; },
          [](Interior& model, const std::vector<double>& intercept) {
            if (intercept.size() != model.intercept.size())
              throw nb::value_error("another number of columns");
            model.intercept = intercept;
          })
      .def_prop_ro("steps", [](const Interior& model) { return model.steps; })
      .def_rw("t", &Interior::t)
      .def_rw("features", &Interior::features)
      .def_rw("rate_factor", &Interior::rate_factor);
}

}  // namespace riata::bind
