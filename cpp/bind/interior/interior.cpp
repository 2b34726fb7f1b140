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
#include <optional>
#include <string>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/block_view.hpp"
#include "bind/model.hpp"

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
  if (columns < 1 || columns > 1 << 24)
    throw nb::value_error("a model has at least one column, and at most 2^24");
  InteriorSpec spec;
  spec.loss = find_loss(loss);
  if (spec.loss == nullptr) throw nb::value_error("unknown loss");
  if (!spec.loss->parameter.empty()) spec.loss_parameter = numbers.at(std::string(spec.loss->parameter));
  spec.l1 = numbers.at("l1");
  spec.sigma = numbers.at("sigma");
  spec.k0 = numbers.at("k0");
  spec.start = numbers.at("start");
  spec.dual = numbers.at("dual");
  spec.averaged = numbers.at("averaged") != 0;
  spec.eta0 = numbers.at("eta0");
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
  return learned(model, block, order, model.columns.size());
}

template <class Index>
Out2<double> score(const Interior& model, const In<std::int64_t>& indptr, const In<Index>& indices,
                   const In<float>& values, const In<double>& keep,
                   const std::optional<In<double>>& offsets) {
  if (keep.size() != model.columns.size()) throw nb::value_error("keep needs a number a column");
  const auto block = view<Index>(indptr, indices, values, {}, {}, {}, {}, offsets);
  NewArray<double> scores(static_cast<std::size_t>(block.rows) * model.columns.size());
  check(reading(model, [&] { return model.score(block, keep.data(), scores.get()); }));
  return give(std::move(scores), model.columns.size());
}

// (loss, slope and weight a column; the gradient of the features seen, as `weights` has them; features never seen).
template <class Index>
std::tuple<Out2<double>, Out2<double>, std::int64_t> judge(const Interior& model,
                                                           const In<std::int64_t>& indptr,
                                                           const In<Index>& indices, const In<float>& values,
                                                           const In<double>& labels,
                                                           const std::optional<In<double>>& weights,
                                                           const std::optional<In<double>>& offsets) {
  const auto block = view<Index>(indptr, indices, values, labels, weights, {}, {}, offsets);
  const std::size_t m = model.columns.size();
  std::vector<double> sums(3 * m), gradient;
  std::int64_t unknown = 0;
  check(reading(model, [&] {
    gradient.assign(model.keys.size() * m, 0.0);
    return model.judge(block, sums.data(), gradient.data(), &unknown);
  }));
  gradient.erase(gradient.begin(), gradient.begin() + static_cast<std::ptrdiff_t>(model.groups()) *
                                                          static_cast<std::ptrdiff_t>(m));
  return {give(std::move(sums), 3), give(std::move(gradient), m), unknown};
}

// The bounds of the features seen, as `weights` has them.
Out2<double> intervals(const Interior& model) {
  std::vector<double> ends;
  reading(model, [&] {
    for (std::int64_t slot = model.groups(); slot < model.slots(); ++slot) {
      const Interval own = model.interval(slot);
      ends.insert(ends.end(), {own.low, own.high});
    }
  });
  return give(std::move(ends), 2);
}

std::tuple<Out<std::int64_t>, Out2<double>> weights(const Interior& model) {
  const std::size_t m = model.columns.size();
  std::vector<std::int64_t> keys;
  std::vector<double> out;
  reading(model, [&] {
    for (std::int64_t slot = model.groups(); slot < model.slots(); ++slot) {
      keys.push_back(model.keys[static_cast<std::size_t>(slot)]);
      for (std::size_t c = 0; c < m; ++c) out.push_back(model.weight(static_cast<int>(c), slot));
    }
  });
  return {give(std::move(keys)), give(std::move(out), m)};
}

// Weights to read from now on, as `weights` has them, and intercepts.
void polish(Interior& model, const In2<double>& weights, const In<double>& intercept) {
  const std::size_t m = model.columns.size();
  const bool fits = writing(model, [&] {
    const auto groups = static_cast<std::size_t>(model.groups());
    if (weights.shape(0) + groups != model.keys.size() || weights.shape(1) != m || intercept.size() != m)
      return false;
    model.polished.assign(groups * m, 0.0);
    model.polished.insert(model.polished.end(), weights.data(), weights.data() + weights.size());
    model.polished_intercept.assign(intercept.data(), intercept.data() + m);
    return true;
  });
  if (!fits) throw nb::value_error("the weights to read have another shape than the model");
}

nb::dict snapshot(const Interior& model) {
  struct {
    ModelState common;
    std::vector<double> sums;
    double rate_factor;
    std::vector<double> polished, polished_intercept;
    std::int64_t groups;
  } now = reading(model, [&] {
    const auto width = static_cast<std::size_t>(model.width());
    Rows rows{model.keys, std::vector<double>(model.keys.size() * width)};
    model.save(rows.values.data());
    std::vector<double> sums;
    for (const InteriorColumn& column : model.columns)
      sums.insert(sums.end(), {column.product, column.least});
    const bool named = model.named();
    ModelState common{std::move(rows),
                      width,
                      model.intercept,
                      model.t,
                      model.features,
                      named,
                      named ? model.names : Names{}};
    return decltype(now){std::move(common), std::move(sums),          model.rate_factor,
                         model.polished,    model.polished_intercept, model.groups()};
  });
  nb::dict out = as_dict(std::move(now.common));
  out["sums"] = nb::cast(give(std::move(now.sums), 2));
  out["rate_factor"] = nb::cast(give(std::vector<double>{now.rate_factor}));
  if (!now.polished_intercept.empty()) {
    const std::size_t m = now.polished_intercept.size();
    now.polished.erase(
        now.polished.begin(),
        now.polished.begin() + static_cast<std::ptrdiff_t>(m) * static_cast<std::ptrdiff_t>(now.groups));
    out["polished"] = nb::cast(give(std::move(now.polished), m));
    out["polished_intercept"] = nb::cast(give(std::move(now.polished_intercept)));
  }
  return out;
}

// Puts a snapshot back.
void restore(Interior& model, const In<std::int64_t>& keys, const In2<double>& rows, const In2<double>& sums,
             const In<double>& intercept, const In<std::int64_t>& seen, double rate_factor,
             const std::optional<In<std::uint8_t>>& names,
             const std::optional<In<std::int64_t>>& name_offsets) {
  if (rows.shape(0) != keys.size() || static_cast<int>(rows.shape(1)) != model.width())
    throw nb::value_error("rows of another shape");
  if (sums.shape(0) != model.columns.size() || sums.shape(1) != 2 ||
      intercept.size() != model.columns.size() || seen.size() != 2 || seen.data()[0] < 0 ||
      seen.data()[1] < 0)
    throw nb::value_error("sums, intercept or seen of another shape");
  const bool named = names && name_offsets;
  if (named) check_names(*names, *name_offsets, keys.size());
  const bool fits = writing(model, [&] {
    if (!model.restore(keys.data(), rows.data(), static_cast<std::int64_t>(keys.size()),
                       named ? reinterpret_cast<const char*>(names->data()) : nullptr,
                       named ? name_offsets->data() : nullptr))
      return false;
    for (std::size_t c = 0; c < model.columns.size(); ++c) {
      model.columns[c].product = sums.data()[2 * c];
      model.columns[c].least = sums.data()[2 * c + 1];
    }
    model.intercept.assign(intercept.data(), intercept.data() + intercept.size());
    model.t = static_cast<std::uint64_t>(seen.data()[0]);
    model.features = seen.data()[1];
    model.rate_factor = rate_factor;
    return true;
  });
  if (!fits) throw nb::value_error("rows do not fit this model");
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
      .def("judge", &judge<std::int32_t>, nb::arg("indptr"), nb::arg("indices").noconvert(),
           nb::arg("values"), nb::arg("labels"), nb::arg("weights").none(), nb::arg("offsets").none())
      .def("judge", &judge<std::int64_t>, nb::arg("indptr"), nb::arg("indices").noconvert(),
           nb::arg("values"), nb::arg("labels"), nb::arg("weights").none(), nb::arg("offsets").none(),
           "Sums at the weights that are read: (loss, slope and weight a column, gradients, features never "
           "seen).")
      .def("intervals", &intervals, "Where the weights of the features seen may be: low and high.")
      .def("weights", &weights, "Features seen, in the order in which they came, and their weights.")
      .def("polish", &polish, nb::arg("weights"), nb::arg("intercept"),
           "Weights to read, in the order of `weights`, until another example is learned.")
      .def("snapshot", &snapshot, nb::sig("def snapshot(self) -> dict[str, NDArray[typing.Any]]"),
           "All of the model's state at one moment, by name: keys are the features of all slots, negative "
           "ones "
           "first for those never seen.")
      .def("restore", &restore, nb::arg("keys"), nb::arg("rows"), nb::arg("sums"), nb::arg("intercept"),
           nb::arg("seen"), nb::arg("rate_factor"), nb::arg("names").none(), nb::arg("name_offsets").none())
      .def_prop_ro("named",
                   [](const Interior& model) { return glancing(model, [&] { return model.named(); }); })
      .def_prop_ro("intercept",
                   [](const Interior& model) { return glancing(model, [&] { return model.intercept; }); })
      .def_prop_ro("read_intercept",
                   [](const Interior& model) {
                     return glancing(model, [&] {
                       return model.is_polished() ? model.polished_intercept : model.intercept;
                     });
                   })
      .def_prop_ro("steps",
                   [](const Interior& model) { return glancing(model, [&] { return model.steps; }); })
      .def_prop_ro("t", [](const Interior& model) { return glancing(model, [&] { return model.t; }); })
      .def_prop_ro("features",
                   [](const Interior& model) { return glancing(model, [&] { return model.features; }); });
}

}  // namespace riata::bind
