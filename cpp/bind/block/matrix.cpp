// Sparse and dense matrices: what is wrong with them, and dense ones as sparse rows.
#include "riata/block/matrix.hpp"

#include "bind/hand_over.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

template <class Index>
nb::tuple inspect(const In<std::int64_t>& indptr, const In<Index>& indices, const In<float>& values,
                  std::int64_t n_columns) {
  if (indptr.size() == 0 || indices.size() != values.size()) throw nb::value_error("not a sparse row matrix");
  Inspection found;
  {
    nb::gil_scoped_release release;
    found = inspect_rows(indptr.data(), static_cast<std::int64_t>(indptr.size()) - 1, indices.data(),
                         values.data(), static_cast<std::int64_t>(values.size()), n_columns);
  }
  constexpr const char* names[] = {"", "pointers", "index_range", "not_finite"};
  return nb::make_tuple(names[static_cast<std::size_t>(found.error)], found.row, found.position,
                        found.canonical);
}

template <class Float>
std::int64_t not_finite(const In2<Float>& dense) {
  nb::gil_scoped_release release;
  return first_not_finite(dense.data(), static_cast<std::int64_t>(dense.size()));
}

template <class Float>
nb::tuple compress(const In2<Float>& dense) {
  if (dense.shape(1) > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw nb::value_error("too many columns for a dense matrix");
  }
  DenseRows rows;
  bool done = false;
  {
    nb::gil_scoped_release release;
    done = compress_rows(dense.data(), static_cast<std::int64_t>(dense.shape(0)),
                         static_cast<std::int32_t>(dense.shape(1)), rows);
  }
  if (!done) {
    PyErr_NoMemory();
    throw nb::python_error();
  }
  return nb::make_tuple(hand_over(rows.indptr), hand_over(rows.indices), hand_over(rows.values));
}

constexpr const char* kInspect =
    "(error or '', its row, its position, whether rows are ascending without zeros)";
constexpr const char* kNotFinite =
    "Where the first entry is that is not a finite float32, counted row by row.";
constexpr const char* kCompress = "The entries that are not zero: indptr, indices, values.";

}  // namespace

void bind_matrix(nb::module_& m) {
  m.def("inspect_rows", &inspect<std::int32_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "values"_a.noconvert(), "n_columns"_a,
        nb::sig("def inspect_rows(indptr: NDArray[numpy.int64], indices: NDArray[numpy.int32], "
                "values: NDArray[numpy.float32], n_columns: int) -> tuple[str, int, int, bool]"),
        kInspect);
  m.def("inspect_rows", &inspect<std::int64_t>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "values"_a.noconvert(), "n_columns"_a,
        nb::sig("def inspect_rows(indptr: NDArray[numpy.int64], indices: NDArray[numpy.int64], "
                "values: NDArray[numpy.float32], n_columns: int) -> tuple[str, int, int, bool]"),
        kInspect);
  m.def("first_not_finite", &not_finite<float>, "dense"_a.noconvert(),
        nb::sig("def first_not_finite(dense: NDArray[numpy.float32]) -> int"), kNotFinite);
  m.def("first_not_finite", &not_finite<double>, "dense"_a.noconvert(),
        nb::sig("def first_not_finite(dense: NDArray[numpy.float64]) -> int"), kNotFinite);
  m.def("compress_rows", &compress<float>, "dense"_a.noconvert(),
        nb::sig("def compress_rows(dense: NDArray[numpy.float32]) -> tuple[NDArray[numpy.int64], "
                "NDArray[numpy.int32], NDArray[numpy.float32]]"),
        kCompress);
  m.def("compress_rows", &compress<double>, "dense"_a.noconvert(),
        nb::sig("def compress_rows(dense: NDArray[numpy.float64]) -> tuple[NDArray[numpy.int64], "
                "NDArray[numpy.int32], NDArray[numpy.float32]]"),
        kCompress);
}

}  // namespace riata::bind
