// What linear and Bayesian models and portfolios have in common.
#include "bind/model.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bind/block_view.hpp"

namespace riata::bind {

ModelState state_of(const Model& model, bool with_rows) {
  ModelState now{with_rows ? model.rows() : Rows{},
                 static_cast<std::size_t>(model.row_width()),
                 model.intercept,
                 model.t,
                 model.features,
                 with_rows && model.named(),
                 {},
                 with_rows};
  if (now.named)
    now.names = model.names(now.rows.keys.data(), static_cast<std::int64_t>(now.rows.keys.size()));
  return now;
}

nb::dict as_dict(ModelState&& state) {
  nb::dict out;
  if (state.with_rows) {
    out["keys"] = nb::cast(give(std::move(state.rows.keys)));
    out["rows"] = nb::cast(give(std::move(state.rows.values), state.width));
  }
  out["intercept"] = nb::cast(give(std::move(state.intercept)));
  out["seen"] = nb::cast(give(std::vector<std::int64_t>{static_cast<std::int64_t>(state.t), state.features}));
  if (state.named) {
    out["names"] = nb::cast(give(std::move(state.names.bytes)));
    out["name_offsets"] = nb::cast(give(std::move(state.names.offsets)));
  }
  return out;
}

std::tuple<Out<std::int64_t>, Out2<double>> keys_and_values(Rows&& rows, std::size_t width) {
  return {give(std::move(rows.keys)), give(std::move(rows.values), width)};
}

namespace {

std::tuple<Out<std::int64_t>, Out2<double>> rows(const Model& model) {
  std::size_t width = 1;
  Rows now = reading(model, [&] {
    width = static_cast<std::size_t>(model.row_width());
    return model.rows();
  });
  return keys_and_values(std::move(now), width);
}

void set_rows(Model& model, const In<std::int64_t>& keys, const In2<double>& values,
              const std::optional<In<std::uint8_t>>& names,
              const std::optional<In<std::int64_t>>& name_offsets) {
  const auto n = static_cast<std::int64_t>(keys.size());
  const bool named = names && name_offsets;
  if (named) check_names(*names, *name_offsets, keys.size());
  const bool fits = writing(model, [&] {
    return values.shape(0) == keys.size() && model.fits(n, static_cast<int>(values.shape(1))) &&
           model.set_rows(keys.data(), values.data(), n,
                          named ? reinterpret_cast<const char*>(names->data()) : nullptr,
                          named ? name_offsets->data() : nullptr);
  });
  if (!fits) throw nb::value_error("rows do not fit this model or store");
}

std::tuple<Out<std::uint8_t>, Out<std::int64_t>> names(const Model& model, const In<std::int64_t>& keys) {
  Names out =
      reading(model, [&] { return model.names(keys.data(), static_cast<std::int64_t>(keys.size())); });
  return {give(std::move(out.bytes)), give(std::move(out.offsets))};
}

}  // namespace

void bind_model(nb::module_& m) {
  nb::class_<Model>(m, "Model", "A model that is learned one example at a time: rows of state by feature.")
      .def("rows", &rows, "Keys of the live rows and their state as it is.")
      .def("set_rows", &set_rows, nb::arg("keys"), nb::arg("values"), nb::arg("names").none(),
           nb::arg("name_offsets").none())
      .def_prop_ro("named", [](const Model& model) { return glancing(model, [&] { return model.named(); }); })
      .def("names", &names, nb::arg("keys"),
           "The names of these keys, as bytes and offsets; empty where there is none.")
      .def_prop_rw(
          "intercept", [](const Model& model) { return glancing(model, [&] { return model.intercept; }); },
          [](Model& model, const std::vector<double>& intercept) {
            if (intercept.size() != model.intercept.size())
              throw nb::value_error("an intercept of another shape");
            writing(model, [&] { model.intercept = intercept; });
          })
      .def_prop_rw(
          "t", [](const Model& model) { return glancing(model, [&] { return model.t; }); },
          [](Model& model, std::uint64_t t) { writing(model, [&] { model.t = t; }); })
      .def_prop_rw(
          "features", [](const Model& model) { return glancing(model, [&] { return model.features; }); },
          [](Model& model, std::int64_t n) { writing(model, [&] { model.features = n; }); })
      .def_prop_ro("row_width",
                   [](const Model& model) { return glancing(model, [&] { return model.row_width(); }); })
      .def_prop_ro("live_weights",
                   [](const Model& model) { return reading(model, [&] { return model.live_weights(); }); })
      .def_prop_ro("bytes", [](const Model& model) { return reading(model, [&] { return model.bytes(); }); });
}

}  // namespace riata::bind
