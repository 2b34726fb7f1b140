#include "bind/formats/named.hpp"
#include "riata/formats/vw/reader.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

nb::tuple parse_vw(const In<std::uint8_t>& text, std::size_t size, bool labelled, bool names,
                   const CrossNames& crosses) {
  const Crosses made = make_crosses(crosses);
  const Text lines(text, size);
  NamedRows rows;
  ParseError error;
  {
    nb::gil_scoped_release release;
    error = read_vw(lines.begin(), lines.end(), {labelled, names}, made, rows);
  }
  return give_rows(rows, names, describe(error, lines));
}

}  // namespace

void bind_vw(nb::module_& m) {
  m.def("parse_vw", &parse_vw, "text"_a, "size"_a, "labelled"_a, "names"_a, "crosses"_a,
        nb::sig("def parse_vw(text: bytes | bytearray | memoryview | NDArray[numpy.uint8], size: int, "
                "labelled: bool, names: bool, crosses: Sequence[Sequence[str]]) -> " RIATA_NAMED_ROWS),
        "Rows of the first `size` bytes of Vowpal Wabbit text, which are whole lines.\n\n"
        "Returns labels, weights, offsets (or None), indptr, keys, values, names and their offsets (or "
        "None), the line of each "
        "row\n"
        "(from 0), the number of lines read, and None or what was wrong with the line after them:\n"
        "(kind, column from 1, excerpt, where that line starts, detail).");
}

}  // namespace riata::bind
