// Values divided by their running root mean square: check the arrays, release the GIL, call.
#include "riata/linear/running_scale.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "bind/block_view.hpp"
#include "bind/linear/scale_sums.hpp"
#include "bind/model.hpp"
#include "riata/stores/hashed.hpp"
#include "riata/stores/table.hpp"

namespace riata::bind {

namespace {

std::unique_ptr<RunningScale> make(const std::string& store, int bits) {
  if (bits < 1 || bits > 32) throw nb::value_error("bits must be 1 to 32");
  if (store == "table") return std::make_unique<StoredScale<TableStore>>(bits);
  if (store == "hashed") return std::make_unique<StoredScale<HashedStore>>(bits);
  throw nb::value_error("unknown store");
}

template <class Index>
Out<float> learn(RunningScale& scale, const In<std::int64_t>& indptr, const In<Index>& indices,
                 const In<float>& values, const std::optional<In<double>>& weights,
                 const std::optional<In<std::int64_t>>& order) {
  const BlockView<Index> block = view<Index>(indptr, indices, values, {}, weights, {}, {}, {});
  const auto n = order ? static_cast<std::int64_t>(order->size()) : block.rows;
  NewArray<float> out(values.size());
  std::copy(values.data(), values.data() + values.size(), out.get());
  check(writing(scale, [&] { return scale.learn(block, order ? order->data() : nullptr, n, out.get()); }));
  return give(std::move(out));
}

std::tuple<Out<std::int64_t>, Out2<double>> sums(const RunningScale& scale) {
  return keys_and_values(reading(scale, [&] { return scale.scale_sums(); }), kScaleSums);
}

}  // namespace

void bind_running_scale(nb::module_& m) {
  nb::class_<RunningScale> scale(m, "RunningScale",
                                 "Values divided by their feature's running root mean square.");
  scale.def(nb::new_(&make), nb::arg("store"), nb::arg("bits"))
      .def("learn", &learn<std::int32_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("weights").none(), nb::arg("order").none(),
           "The values of rows in this order, each by what came up to it.")
      .def("learn", &learn<std::int64_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("weights").none(), nb::arg("order").none())
      .def("sums", &sums, "Keys, and how often each was not zero beside the sum of its squares.")
      .def_prop_ro("bytes", [](const RunningScale& of) { return glancing(of, [&] { return of.bytes(); }); });
  bind_scale_sums<RunningScale>(scale);
}

}  // namespace riata::bind
