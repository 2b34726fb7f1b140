// What every reader of text returns: rows, and the line that it could not read.
#include "bind/formats/parsed.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

nb::bytes text_of(const LineError& error) { return nb::bytes(error.text.data(), error.text.size()); }

nb::object detail_of(const LineError& error) {
  const auto size = static_cast<Py_ssize_t>(error.detail.size());
  return nb::steal(PyUnicode_DecodeUTF8(error.detail.data(), size, "replace"));
}

void init_error(LineError* error, const std::string& kind, std::int64_t column, const nb::bytes& text) {
  new (error) LineError{kind, column, std::string(text.c_str(), text.size()), "", 0};
}

}  // namespace

void bind_parsed(nb::module_& m) {
  m.attr("PADDING") = kPadding;
  nb::class_<LineError>(m, "ParseError", "What is wrong with a line of text.")
      .def("__init__", &init_error, "kind"_a, "column"_a, "text"_a)
      .def_ro("kind", &LineError::kind, "The key of a message.")
      .def_ro("column", &LineError::column, "From 1.")
      .def_prop_ro("text", &text_of, nb::sig("def text(self) -> bytes"), "The offending text, shortened.")
      .def_prop_ro("detail", &detail_of, nb::sig("def detail(self) -> str"),
                   "What else the message mentions: the name of a column.")
      .def_ro("previous", &LineError::previous, "In svmlight: the index before it, as written.");

  constexpr const char* kRows =
      "The rows of some text up to the first line that cannot be read.\n\n"
      "`indices` are numbers of features from 0, or keys of their names. `lines` are the lines of the rows,\n"
      "from 0, and `n_lines` those read without error; `error` is what is wrong with the next one.";
  nb::class_<ParsedRows>(m, "ParsedRows", kRows)
      .def_ro("labels", &ParsedRows::labels, nb::sig("def labels(self) -> NDArray[numpy.float64]"))
      .def_ro("weights", &ParsedRows::weights, nb::sig("def weights(self) -> NDArray[numpy.float64] | None"))
      .def_ro("offsets", &ParsedRows::offsets, nb::sig("def offsets(self) -> NDArray[numpy.float64] | None"))
      .def_ro("indptr", &ParsedRows::indptr, nb::sig("def indptr(self) -> NDArray[numpy.int64]"))
      .def_ro("indices", &ParsedRows::indices,
              nb::sig("def indices(self) -> NDArray[numpy.int32] | NDArray[numpy.int64]"))
      .def_ro("values", &ParsedRows::values, nb::sig("def values(self) -> NDArray[numpy.float32]"))
      .def_ro("names", &ParsedRows::names, nb::sig("def names(self) -> NDArray[numpy.uint8] | None"))
      .def_ro("name_offsets", &ParsedRows::name_offsets,
              nb::sig("def name_offsets(self) -> NDArray[numpy.int64] | None"))
      .def_ro("lines", &ParsedRows::lines, nb::sig("def lines(self) -> NDArray[numpy.int64]"))
      .def_ro("n_lines", &ParsedRows::n_lines)
      .def_prop_ro(
          "error", [](const ParsedRows& rows) { return rows.error; },
          nb::sig("def error(self) -> ParseError | None"));
}

}  // namespace riata::bind
