// What a person reads of a model.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/block_view.hpp"
#include "riata/base/hash.hpp"
#include "riata/base/parallel_for.hpp"
#include "riata/explain/name_groups.hpp"
#include "riata/explain/places.hpp"
#include "riata/explain/strongest.hpp"
#include "riata/stores/hashed.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

constexpr std::size_t kAhead = 16;

template <class Index>
Out<std::int32_t> find(const Places& places, const In<Index>& keys) {
  NewArray<std::int32_t> found(keys.size());
  {
    nb::gil_scoped_release nogil;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (k + kAhead < keys.size()) places.prefetch(static_cast<std::int64_t>(keys.data()[k + kAhead]));
      found.get()[k] = places.find(static_cast<std::int64_t>(keys.data()[k]));
    }
  }
  return give(std::move(found));
}

template <class Index>
Out<std::int64_t> hashed_places(const In<Index>& keys, int bits) {
  if (bits < 1 || bits > 32) throw nb::value_error("bits are 1 to 32");
  NewArray<std::int64_t> found(keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k)
    found.get()[k] =
        static_cast<std::int64_t>(hashed_place(static_cast<std::uint64_t>(keys.data()[k]), bits));
  return give(std::move(found));
}

void check_rows(const In<std::int64_t>& indptr, std::size_t entries) {
  if (indptr.size() < 1 || indptr.data()[0] < 0) throw nb::value_error("indptr is empty or below zero");
  for (std::size_t i = 1; i < indptr.size(); ++i)
    if (indptr.data()[i] < indptr.data()[i - 1]) throw nb::value_error("indptr falls");
  if (indptr.data()[indptr.size() - 1] > static_cast<std::int64_t>(entries))
    throw nb::value_error("indptr ends behind the entries");
}

nb::tuple strongest_entries(const In<std::int64_t>& indptr, const In<double>& sizes, std::int64_t most) {
  check_rows(indptr, sizes.size());
  if (most < 0) throw nb::value_error("most is below zero");
  const std::size_t n = indptr.size() - 1;
  NewArray<std::int64_t> live(n);
  NewArray<double> all(n), shown(n);
  std::vector<std::int64_t> starts(n + 1, 0), first, second;  // entries of the two halves of the rows
  std::exception_ptr failed;
  {
    nb::gil_scoped_release nogil;
    std::mutex guard;
    parallel_for(static_cast<std::int64_t>(n), 256, [&](std::int64_t from, std::int64_t to) {
      try {
        std::vector<std::int64_t>& entries = from == 0 ? first : second;
        Strongest strongest(most);
        for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i) {
          const std::size_t before = entries.size();
          const RowSums sums = strongest.of(sizes.data(), indptr.data()[i], indptr.data()[i + 1], entries);
          starts[i + 1] = static_cast<std::int64_t>(entries.size() - before);
          live.get()[i] = sums.live;
          all.get()[i] = sums.all;
          shown.get()[i] = sums.shown;
        }
      } catch (...) {
        const std::lock_guard lock(guard);
        failed = std::current_exception();
      }
    });
    if (!failed) {
      for (std::size_t i = 0; i < n; ++i) starts[i + 1] += starts[i];
      first.insert(first.end(), second.begin(), second.end());
    }
  }
  if (failed) std::rethrow_exception(failed);
  return nb::make_tuple(give(std::move(starts)), give(std::move(first)), give(std::move(live)),
                        give(std::move(all)), give(std::move(shown)));
}

nb::tuple name_groups(const In<std::uint8_t>& names, const In<std::int64_t>& offsets,
                      const std::vector<std::string>& columns, std::size_t most) {
  if (offsets.size() < 1) throw nb::value_error("offsets are empty");
  const std::size_t n = offsets.size() - 1;
  check_names(names, offsets, n);
  NewArray<std::int32_t> groups(n);
  NameGroups known(columns, most);
  {
    nb::gil_scoped_release nogil;
    for (std::size_t k = 0; k < n; ++k) {
      const std::int64_t start = offsets.data()[k], stop = offsets.data()[k + 1];
      groups.get()[k] = known.of(
          {reinterpret_cast<const char*>(names.data()) + start, static_cast<std::size_t>(stop - start)});
    }
  }
  nb::list found;
  for (const std::string& name : known.names()) found.append(nb::bytes(name.data(), name.size()));
  return nb::make_tuple(give(std::move(groups)), found);
}

}  // namespace

void bind_explain(nb::module_& m) {
  nb::class_<Places>(m, "Places", "Where keys stand in a list.")
      .def(
          "__init__",
          [](Places* self, const In<std::int64_t>& keys) {
            if (keys.size() >= (std::size_t{1} << 31)) throw nb::value_error("too many keys");
            for (std::size_t k = 0; k < keys.size(); ++k)
              if (keys.data()[k] < 0) throw nb::value_error("a key is below zero");
            new (self) Places({keys.data(), keys.data() + keys.size()});
          },
          "keys"_a)
      .def("find", &find<std::int32_t>, "keys"_a)
      .def("find", &find<std::int64_t>, "keys"_a, "Of each key its place, or -1.");
  m.def("hashed_places", &hashed_places<std::int32_t>, "keys"_a, "bits"_a);
  m.def("hashed_places", &hashed_places<std::int64_t>, "keys"_a, "bits"_a,
        "The rows of a hashed store that these features have.");
  m.def(
      "strongest_entries", &strongest_entries, "indptr"_a, "sizes"_a, "most"_a,
      nb::sig("def strongest_entries(indptr: NDArray[numpy.int64], sizes: NDArray[numpy.float64], most: int) "
              "-> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64], "
              "NDArray[numpy.float64], "
              "NDArray[numpy.float64]]"),
      "Of each row the entries that are largest in absolute value, without zeros: where rows begin, and "
      "entries; how many are not zero; sums of all, and of those.");
  m.def("name_groups", &name_groups, "names"_a, "offsets"_a, "columns"_a, "most"_a,
        nb::sig("def name_groups(names: NDArray[numpy.uint8], offsets: NDArray[numpy.int64], columns: "
                "Sequence[str], most: int) -> tuple[NDArray[numpy.int32], list[bytes]]"),
        "The namespace or column of each name, as a number, and what these are called; -1: of too many.");
}

}  // namespace riata::bind
