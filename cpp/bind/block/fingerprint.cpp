// The fingerprint of examples, for Python.
#include "riata/block/fingerprint.hpp"

#include <nanobind/stl/optional.h>

#include "bind/block_view.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

template <class Index>
void add(Fingerprint& fingerprint, const In<std::int64_t>& indptr, const In<Index>& indices,
         const In<float>& values, const std::optional<In<double>>& labels,
         const std::optional<In<double>>& weights, const std::optional<In<double>>& offsets,
         std::int64_t start, std::int64_t stop) {
  const BlockView<Index> block = view(indptr, indices, values, labels, weights, {}, {}, offsets);
  bool good = false;
  {
    nb::gil_scoped_release release;
    good = fingerprint.add(block, start, stop);
  }
  if (!good) throw nb::value_error("rows do not fit together");
}

}  // namespace

void bind_fingerprint(nb::module_& m) {
  const auto signature = [](const char* width) {
    return std::string("def add(self, indptr: NDArray[numpy.int64], indices: NDArray[numpy.") + width +
           "], values: NDArray[numpy.float32], labels: NDArray[numpy.float64] | None, "
           "weights: NDArray[numpy.float64] | None, offsets: NDArray[numpy.float64] | None, "
           "start: int, stop: int) -> None";
  };
  nb::class_<Fingerprint>(m, "Fingerprint",
                          "A rolling fingerprint of examples, however they are cut into Blocks.")
      .def(nb::init<>())
      .def("add", &add<std::int32_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
           "labels"_a.noconvert().none(), "weights"_a.noconvert().none(), "offsets"_a.noconvert().none(),
           "start"_a, "stop"_a, nb::sig(signature("int32").c_str()))
      .def("add", &add<std::int64_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
           "labels"_a.noconvert().none(), "weights"_a.noconvert().none(), "offsets"_a.noconvert().none(),
           "start"_a, "stop"_a, nb::sig(signature("int64").c_str()), "Rows [start, stop) of a Block.")
      .def_prop_ro("rows", &Fingerprint::rows)
      .def("digest", &Fingerprint::digest, "Of all rows so far; more may follow.");
}

}  // namespace riata::bind
