// Sums by feature, in the order of their keys.
#include "riata/block/sorted_sums.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "bind/arrays.hpp"
#include "bind/block_view.hpp"
#include "bind/turns.hpp"
#include "riata/base/model_lock.hpp"

namespace riata::bind {

namespace {

struct SharedSums {
  explicit SharedSums(std::size_t width) : sums(width) {}
  SortedSums sums;
  mutable ModelLock guard;
};

void add(SharedSums& shared, const In<std::int64_t>& keys, const In2<double>& rows,
         const std::optional<In<std::uint8_t>>& names, const std::optional<In<std::int64_t>>& offsets) {
  const std::size_t n = keys.size();
  if (rows.shape(0) != n || rows.shape(1) != shared.sums.width())
    throw nb::value_error("the rows do not fit together");
  if (names.has_value() != offsets.has_value()) throw nb::value_error("keys and names differ in length");
  if (offsets) check_names(*names, *offsets, n);
  for (std::size_t k = 1; k < n; ++k)
    if (keys.data()[k] <= keys.data()[k - 1]) throw nb::value_error("keys must ascend");
  writing(shared, [&] {
    shared.sums.add(
        {n, keys.data(), rows.data(), names ? names->data() : nullptr, offsets ? offsets->data() : nullptr});
    return 0;
  });
}

// Memory that was given back in small pieces goes to the system: the arrays that are made next need as much.
void trim() noexcept {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

auto take(SharedSums& shared) {
  const std::size_t n = shared.sums.size(), width = shared.sums.width();
  NewArray<double> rows(n * width);
  writing(shared, [&] {
    shared.sums.take_rows(rows.get(), trim);
    return 0;
  });
  NewArray<std::uint8_t> names(shared.sums.name_bytes());
  NewArray<std::int64_t> keys(n), offsets(n + 1);
  writing(shared, [&] {
    shared.sums.take_names(names.get());
    shared.sums.take_keys(keys.get());
    shared.sums.take_offsets(offsets.get());
    shared.sums = SortedSums(width);
    trim();
    return 0;
  });
  return std::make_tuple(give(std::move(keys)), give(std::move(rows), width), give(std::move(names)),
                         give(std::move(offsets)));
}

}  // namespace

void bind_sorted_sums(nb::module_& m) {
  nb::class_<SharedSums>(m, "SortedSums",
                         "Rows of numbers by ascending key, to which those of other lists are added.")
      .def(nb::init<std::size_t>(), nb::arg("width"))
      .def(
          "rewind", [](SharedSums& s) { writing(s, [&] { return s.sums.rewind(), 0; }); },
          "Another list begins.")
      .def("add", &add, nb::arg("keys"), nb::arg("rows"), nb::arg("names").none(), nb::arg("offsets").none(),
           "The next rows of a list, with keys above all of it before.")
      .def("take", &take, "Keys, rows, names and name offsets; nothing is left here.")
      .def_prop_ro("width", [](const SharedSums& s) { return s.sums.width(); })
      .def("__len__", [](const SharedSums& s) { return glancing(s, [&] { return s.sums.size(); }); });
}

}  // namespace riata::bind
