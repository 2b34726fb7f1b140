// Banks: check the arrays, release the GIL, call.
#include "riata/bank/bank.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>

#include "bind/block_view.hpp"
#include "bind/linear/spec.hpp"
#include "bind/model.hpp"
#include "riata/linear/scale_kernels.hpp"

namespace riata::bind {

namespace {

constexpr std::int64_t kMostColumns = std::int64_t{1} << 24;

std::unique_ptr<Bank> make(const std::string& family, const std::string& update, const std::string& loss,
                           const std::string& normalize, int outputs, bool fit_intercept,
                           const std::vector<Numbers>& settings, int groups) {
  if (settings.empty() || groups < 1 || outputs < 1 ||
      static_cast<std::int64_t>(settings.size()) * groups * outputs > kMostColumns)
    throw nb::value_error("a bank has at least one column, and at most 2^24");
  std::vector<LinearSpec> specs;
  for (const Numbers& numbers : settings)
    specs.push_back(spec_of(loss, normalize, outputs, fit_intercept, numbers));
  std::unique_ptr<Bank> bank = make_bank(family, update, specs, groups);
  if (bank == nullptr)
    throw nb::value_error(
        "unknown family or update, or settings of AdaGrad that differ in period or explicit");
  return bank;
}

std::size_t columns_of(const Bank& bank) {
  return static_cast<std::size_t>(bank.settings()) * static_cast<std::size_t>(bank.groups()) *
         static_cast<std::size_t>(bank.outputs());
}

// (scores, examples done, what stopped it: "", "diverged" or "uneven", which setting)
template <class Index>
std::tuple<Out2<double>, std::int64_t, std::string, int> learn(
    Bank& bank, const In<std::int64_t>& indptr, const In<Index>& indices, const In<float>& values,
    const In<double>& labels, const std::optional<In<double>>& weights, const In<std::int64_t>& order,
    const std::optional<In<std::int64_t>>& folds, const std::optional<In<std::uint8_t>>& names,
    const std::optional<In<std::int64_t>>& name_offsets, const std::optional<In<double>>& offsets) {
  const BlockView<Index> block =
      view<Index>(indptr, indices, values, labels, weights, names, name_offsets, offsets);
  if (folds && folds->size() != order.size()) throw nb::value_error("folds and order differ in length");
  const auto n = static_cast<std::int64_t>(order.size());
  const std::size_t columns = columns_of(bank);
  NewArray<double> scores(static_cast<std::size_t>(n) * columns);
  const BankOutcome outcome = writing(bank, [&] {
    return bank.learn(block, order.data(), n, folds ? folds->data() : nullptr, scores.get());
  });
  check(outcome.outcome);
  const char* why = outcome.kind == BankOutcome::Kind::diverged ? "diverged"
                    : outcome.kind == BankOutcome::Kind::uneven ? "uneven"
                                                                : "";
  return {give(std::move(scores), columns), outcome.outcome.done, why, outcome.setting};
}

void check_place(const Bank& bank, int setting, int group) {
  if (setting < 0 || setting >= bank.settings() || group < 0 || group >= bank.groups())
    throw nb::index_error("there is no such setting or group");
}

nb::dict unit(const Bank& bank, int setting, int group) {
  check_place(bank, setting, group);
  UnitState state = reading(bank, [&] { return bank.unit(setting, group); });
  ModelState common{std::move(state.rows),
                    static_cast<std::size_t>(state.row_width),
                    std::move(state.intercept),
                    state.t,
                    state.features,
                    state.named,
                    std::move(state.names)};
  nb::dict out = as_dict(std::move(common));
  out["clock"] = nb::cast(give(std::move(state.rule_state)));
  out["rate_factor"] = nb::cast(give(std::vector<double>{state.rate_factor}));
  if (state.scaled) {
    out["scale_keys"] = nb::cast(give(std::move(state.scale_sums.keys)));
    out["scale_sums"] = nb::cast(give(std::move(state.scale_sums.values), kScaleSums));
  }
  return out;
}

}  // namespace

void bind_tally(nb::module_& m);

void bind_bank(nb::module_& m) {
  bind_tally(m);
  nb::class_<Bank> bank(m, "Bank", "Many settings of one rule, learned side by side.");
  bank.def(nb::new_(&make), nb::arg("family"), nb::arg("update"), nb::arg("loss"), nb::arg("normalize"),
           nb::arg("outputs"), nb::arg("fit_intercept"), nb::arg("settings"), nb::arg("groups"))
      .def("learn", &learn<std::int32_t>, nb::arg("indptr"), nb::arg("indices").noconvert(),
           nb::arg("values"), nb::arg("labels"), nb::arg("weights").none(), nb::arg("order"),
           nb::arg("folds").none(), nb::arg("names").none(), nb::arg("name_offsets").none(),
           nb::arg("offsets").none())
      .def("learn", &learn<std::int64_t>, nb::arg("indptr"), nb::arg("indices").noconvert(),
           nb::arg("values"), nb::arg("labels"), nb::arg("weights").none(), nb::arg("order"),
           nb::arg("folds").none(), nb::arg("names").none(), nb::arg("name_offsets").none(),
           nb::arg("offsets").none())
      .def("unit", &unit, nb::arg("setting"), nb::arg("group"),
           nb::sig("def unit(self, setting: int, group: int) -> dict[str, NDArray[typing.Any]]"),
           "What a linear model of this setting that learned what the group did has as its state.")
      .def(
          "live_weights", [](const Bank& of) { return reading(of, [&] { return of.live_weights(); }); },
          "How many weights of each unit are not zero, group by group.")
      .def(
          "keep",
          [](Bank& of, const std::vector<int>& settings) {
            for (const int setting : settings) check_place(of, setting, 0);
            if (settings.empty()) throw nb::value_error("keep at least one setting");
            if (!writing(of, [&] { return of.keep(settings); })) throw std::bad_alloc();
          },
          nb::arg("settings"), "Leave out all others, for good.")
      .def(
          "set_rate_factors",
          [](Bank& of, const std::vector<double>& factors) {
            if (factors.size() != static_cast<std::size_t>(of.settings()))
              throw nb::value_error("a factor for every setting");
            writing(of, [&] { of.set_rate_factors(factors); });
          },
          nb::arg("factors"), "What the learning rates of each setting are multiplied by from now on.")
      .def_prop_ro("bytes", [](const Bank& of) { return reading(of, [&] { return of.bytes(); }); });
}

}  // namespace riata::bind
