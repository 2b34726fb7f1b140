// How class codes follow one another, for Python.
#include "riata/block/label_counts.hpp"

#include "bind/arrays.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

void add(LabelCounts& counts, const In<double>& codes) {
  if (!counts.add(codes.data(), static_cast<std::int64_t>(codes.size())))
    throw nb::value_error("class codes are 0, 1, 2, ...");
}

}  // namespace

void bind_label_counts(nb::module_& m) {
  nb::class_<LabelCounts>(m, "LabelCounts", "How class codes follow one another in a stream.")
      .def(nb::init<>())
      .def("add", &add, "codes"_a, "The next class codes: 0, 1, 2, ...")
      .def_prop_ro("examples", &LabelCounts::examples)
      .def_prop_ro("changes", &LabelCounts::changes, "How many labels are not the one before.")
      .def_prop_ro("run", &LabelCounts::run, "How many examples at the end are of one class.")
      .def_prop_ro("last", &LabelCounts::last, "The class code of the last example.")
      .def_prop_ro("length", &LabelCounts::length, "How many examples are in a piece.")
      .def_prop_ro(
          "ended", [](const LabelCounts& c) { return give(std::vector<std::int64_t>(c.ended())); },
          nb::rv_policy::move, "How many runs of each class have ended.")
      .def_prop_ro(
          "pieces",
          [](const LabelCounts& c) {
            return give(std::vector<std::int64_t>(c.pieces()), c.classes() > 0 ? c.classes() : 1);
          },
          nb::rv_policy::move, "Of each class in each piece of the stream, pieces by rows.");
}

}  // namespace riata::bind
