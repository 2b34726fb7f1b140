// Rows and tables written as text.
#include "riata/text/write.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "bind/hand_over.hpp"
#include "riata/text/write_table.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

template <class T>
using Maybe = std::optional<In<T>>;

// Whether offsets ascend within 0 .. limit.
bool ascending(const In<std::int64_t>& offsets, std::size_t limit) noexcept {
  if (offsets.size() == 0 || offsets.data()[0] < 0) return false;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets.data()[i] < offsets.data()[i - 1]) return false;
  }
  return offsets.data()[offsets.size() - 1] <= static_cast<std::int64_t>(limit);
}

nb::tuple write_text(const std::string& format, const In<std::int64_t>& indptr,
                     const In<std::int64_t>& indices, const In<float>& values, const Maybe<double>& labels,
                     const Maybe<double>& weights, const Maybe<std::uint8_t>& names,
                     const Maybe<std::int64_t>& name_offsets, std::int64_t base,
                     const Maybe<double>& offsets) {
  const std::size_t n = indptr.size() - 1;
  const bool fits =
      ascending(indptr, indices.size()) && indices.size() == values.size() &&
      (!labels || labels->size() == n) && (!weights || weights->size() == n) &&
      (!offsets || offsets->size() == n) && names.has_value() == name_offsets.has_value() &&
      (!names || (name_offsets->size() == indices.size() + 1 && ascending(*name_offsets, names->size())));
  if (!fits) throw nb::value_error("the arrays do not fit together");
  RowsToWrite rows;
  rows.rows = static_cast<std::int64_t>(n);
  rows.indptr = indptr.data();
  rows.indices = indices.data();
  rows.values = values.data();
  rows.labels = labels ? labels->data() : nullptr;
  rows.weights = weights ? weights->data() : nullptr;
  rows.offsets = offsets ? offsets->data() : nullptr;
  rows.names = names ? names->data() : nullptr;
  rows.name_offsets = name_offsets ? name_offsets->data() : nullptr;
  rows.base = base;
  Array<char> text;
  TextWriter writer(text);
  bool done = false;
  {
    nb::gil_scoped_release release;
    done =
        text.reserve(16 * indices.size() + 64) && (format == "vw" ? writer.vw(rows) : writer.svmlight(rows));
  }
  if (!done) throw std::bad_alloc();
  return nb::make_tuple(nb::bytes(text.data(), text.size()), writer.escaped());
}

// A column is an array of numbers, or which of some texts each row has, and the texts.
TableColumn column_from(nb::handle given, std::size_t& rows, std::vector<nb::object>& kept) {
  TableColumn column;
  if (!nb::isinstance<nb::tuple>(given)) {
    const auto numbers = nb::cast<In<double>>(given, false);
    column.numbers = numbers.data();
    rows = numbers.size();
    return column;
  }
  const auto pair = nb::cast<nb::tuple>(given);
  if (pair.size() != 2) throw nb::value_error("a column of texts is codes and texts");
  const auto codes = nb::cast<In<std::int64_t>>(pair[0], false);
  column.codes = codes.data();
  rows = codes.size();
  for (const nb::handle text : pair[1]) {
    Py_ssize_t size = 0;
    const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    column.texts.emplace_back(data, static_cast<std::size_t>(size));
    kept.push_back(nb::borrow(text));
  }
  for (std::size_t i = 0; i < rows; ++i)
    if (column.codes[i] < 0 || static_cast<std::size_t>(column.codes[i]) >= column.texts.size())
      throw nb::value_error("a code has no text");
  return column;
}

nb::bytes table_rows(const nb::list& given, const std::string& delimiter) {
  std::vector<TableColumn> columns;
  std::vector<nb::object> kept;
  std::size_t rows = 0;
  for (const nb::handle column : given) {
    std::size_t here = 0;
    columns.push_back(column_from(column, here, kept));
    if (columns.size() > 1 && here != rows) throw nb::value_error("columns differ in length");
    rows = here;
  }
  if (delimiter.size() != 1) throw nb::value_error("a delimiter has one byte");
  Array<char> text;
  bool done = false;
  {
    nb::gil_scoped_release release;
    done = text.reserve(24 * rows * columns.size() + 64) && write_table(columns, rows, delimiter[0], text);
  }
  if (!done) throw std::bad_alloc();
  return nb::bytes(text.data(), text.size());
}

}  // namespace

void bind_write_text(nb::module_& m) {
  m.def("table_rows", &table_rows, "columns"_a, "delimiter"_a,
        nb::sig("def table_rows(columns: list[NDArray[numpy.float64] | tuple[NDArray[numpy.int64], "
                "list[str]]], "
                "delimiter: str) -> bytes"),
        "Columns as lines of text, with numbers as Python has them.");
  m.def("write_text", &write_text, "format"_a, "indptr"_a, "indices"_a, "values"_a, "labels"_a.none(),
        "weights"_a.none(), "names"_a.none(), "name_offsets"_a.none(), "base"_a, "offsets"_a.none(),
        nb::sig("def write_text(format: str, indptr: NDArray[numpy.int64], indices: NDArray[numpy.int64], "
                "values: NDArray[numpy.float32], labels: NDArray[numpy.float64] | None, "
                "weights: NDArray[numpy.float64] | None, names: NDArray[numpy.uint8] | None, "
                "name_offsets: NDArray[numpy.int64] | None, base: int, offsets: NDArray[numpy.float64] | "
                "None) -> tuple[bytes, int]"),
        "Rows as svmlight or vw text, and how many names had to be written in another way.");
}

}  // namespace riata::bind
