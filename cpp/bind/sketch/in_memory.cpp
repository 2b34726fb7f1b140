// The exact solution over examples in memory: check the arrays, release the GIL, call.
#include "riata/sketch/in_memory.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "bind/arrays.hpp"
#include "bind/block_view.hpp"
#include "bind/sketch/parts.hpp"
#include "riata/sketch/row_hashes.hpp"

namespace riata::bind {

namespace {

std::unique_ptr<ExampleColumns> make_columns(const In<std::int64_t>& indptr, const In<std::int32_t>& indices,
                                             const In<float>& values, std::int64_t features) {
  const auto block = view<std::int32_t>(indptr, indices, values, {}, {}, {}, {});
  for (std::int64_t i = 0; i < block.rows; ++i)
    if (!block.holds(i)) throw nb::value_error("the block is not well formed");
  if (block.rows >= std::numeric_limits<std::int32_t>::max() || features < 0)
    throw nb::value_error("too many examples for memory, or fewer than no features");
  for (std::int64_t k = 0; k < block.nnz; ++k)
    if (block.indices[k] < 0 || block.indices[k] >= features || !std::isfinite(block.values[k]))
      throw nb::value_error("a feature is not among those named, or its value not finite");
  const nb::gil_scoped_release nogil;
  return std::make_unique<ExampleColumns>(block, static_cast<std::size_t>(features));
}

// A solution, and what is known of it.
struct InMemorySolution {
  Out<double> weights;
  double intercept, objective, gap;
  bool converged;
  int steps;
  Out<double> pulls;
};

template <class Index>
Out<std::uint64_t> hashes_of(const In<std::int64_t>& indptr, const In<Index>& indices,
                             const In<float>& values) {
  const auto block = view<Index>(indptr, indices, values, {}, {}, {}, {});
  for (std::int64_t i = 0; i < block.rows; ++i)
    if (!block.holds(i)) throw nb::value_error("the block is not well formed");
  NewArray<std::uint64_t> hashes(static_cast<std::size_t>(block.rows));
  row_hashes(block, hashes.get());
  return give(std::move(hashes));
}

template <class Index>
void bind_hashes(nb::module_& m) {
  m.def("row_hashes", &hashes_of<Index>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
        "A hash of each example: of its length, and its first, middle and last feature.");
}

// Whether Ctrl-C was pressed; the error is set then.
bool interrupted() {
  const nb::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

using MayBe = std::optional<In<double>>;

InMemorySolution solve(const ExampleColumns& x, const std::string& link, bool fit_intercept,
                       const In<double>& signs, const MayBe& weights, const MayBe& offsets, double gamma,
                       double gamma0, const MayBe& low, const MayBe& high, double tolerance, double tau,
                       std::size_t capacity, const MayBe& start, double intercept, double work) {
  const auto fits = [](const MayBe& array, std::size_t n) { return !array || array->size() == n; };
  if (signs.size() != x.rows() || !fits(weights, x.rows()) || !fits(offsets, x.rows()))
    throw nb::value_error("signs, weights or offsets are not as many as the examples");
  if (!fits(start, x.features()) || !fits(low, x.features()) || !fits(high, x.features()) ||
      low.has_value() != high.has_value())
    throw nb::value_error("weights or bounds are not as many as the features");
  InMemoryTask task;
  task.signs = signs.data();
  task.weights = weights ? weights->data() : nullptr;
  task.offsets = offsets ? offsets->data() : nullptr;
  task.intercept = fit_intercept;
  task.gamma = gamma, task.gamma0 = gamma0;
  if (low) task.bounds = {low->data(), high->data()};
  task.tolerance = tolerance, task.tau = tau, task.capacity = capacity, task.work = work;
  task.interrupted = &interrupted;
  std::vector<double> b(x.features());
  if (start) b.assign(start->data(), start->data() + start->size());
  const Link& kind = link_named(link);
  InMemory solver(kind, x, task);
  bool converged = false;
  {
    const nb::gil_scoped_release nogil;
    converged = solver.solve(b, intercept);
  }
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return {give(std::move(b)),           intercept, solver.objective, solver.gap, converged, solver.steps,
          give(std::move(solver.pulls))};
}

}  // namespace

void bind_in_memory(nb::module_& m) {
  bind_hashes<std::int32_t>(m);
  bind_hashes<std::int64_t>(m);
  nb::class_<InMemorySolution>(m, "InMemorySolution", "Weights by feature, and what is known of them.")
      .def_ro("weights", &InMemorySolution::weights, nb::rv_policy::automatic)
      .def_ro("intercept", &InMemorySolution::intercept)
      .def_ro("objective", &InMemorySolution::objective)
      .def_ro("gap", &InMemorySolution::gap, "The objective is at most this much above its minimum.")
      .def_ro("converged", &InMemorySolution::converged, "The gap is within the tolerance.")
      .def_ro("steps", &InMemorySolution::steps)
      .def_ro("pulls", &InMemorySolution::pulls, nb::rv_policy::automatic,
              "The negative gradient of the losses, by feature.");
  nb::class_<ExampleColumns>(m, "ExampleColumns", "Examples in memory, by columns.")
      .def(nb::new_(&make_columns), nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("features"))
      .def("solve", &solve, nb::arg("link"), nb::arg("fit_intercept"), nb::arg("signs"),
           nb::arg("weights").none(), nb::arg("offsets").none(), nb::arg("gamma"), nb::arg("gamma0"),
           nb::arg("low") = nb::none(), nb::arg("high") = nb::none(), nb::arg("tolerance") = 1e-6,
           nb::arg("tau") = 0.8, nb::arg("capacity") = 0, nb::arg("start") = nb::none(),
           nb::arg("intercept") = 0.0, nb::arg("work") = InMemoryTask().work,
           "The minimum of the losses + gamma sum |b| + gamma0 |intercept|, inside the bounds.");
}

}  // namespace riata::bind
