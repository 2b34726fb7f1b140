#include <nanobind/stl/string.h>

#include <cstring>
#include <string>

#include "bind/hand_over.hpp"
#include "riata/formats/svmlight/reader.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

constexpr std::size_t kExcerpt = 60;

nb::object describe(const SvmlightRows& rows, const char* end) {
  if (rows.error == SvmlightError::none) return nb::none();
  if (rows.error == SvmlightError::no_memory) {
    PyErr_NoMemory();
    throw nb::python_error();
  }
  const char* stop = rows.where;
  while (stop < end && !detail::ends_token(*stop) && stop < rows.where + kExcerpt + 1) ++stop;
  return nb::make_tuple(name_of(rows.error), rows.where - rows.line_start + 1,
                        nb::bytes(rows.where, static_cast<std::size_t>(stop - rows.where)), rows.previous);
}

// For tests: the reader as it would be on another processor.
Instructions instructions_called(const std::string& name) {
  constexpr const char* names[] = {"plain", "avx2", "avx512"};
  if (name.empty()) return best_instructions();
  for (int i = 0; i <= static_cast<int>(available_instructions()); ++i) {
    if (name == names[i]) return static_cast<Instructions>(i);
  }
  throw nb::value_error("no such instructions on this processor");
}

nb::tuple parse_svmlight(const In<std::uint8_t>& text, std::size_t size, bool zero_based, bool labelled,
                         const std::string& instructions) {
  if (size > text.size()) throw nb::value_error("size is larger than the text");
  const SvmlightOptions options{zero_based, labelled, instructions_called(instructions)};
  const char* begin = reinterpret_cast<const char*>(text.data());
  SvmlightRows rows;
  Array<char> copy;
  bool copied = true;
  {
    nb::gil_scoped_release release;
    if (text.size() - size < kPadding || (size > 0 && begin[size - 1] != '\n')) {
      copied = copy.reserve(size + 1 + kPadding) && copy.append(begin, size) &&
               ((size > 0 && begin[size - 1] == '\n') || copy.push_back('\n'));
      if (copied) std::memset(copy.data() + copy.size(), 0, kPadding);
      begin = copy.data();
      size = copy.size();
    }
    if (copied) read_svmlight(begin, begin + size, options, rows);
  }
  if (!copied) rows.error = SvmlightError::no_memory;
  nb::object error = describe(rows, begin + size);
  nb::object indices = rows.is_wide ? nb::cast(hand_over(rows.wide)) : nb::cast(hand_over(rows.narrow));
  return nb::make_tuple(hand_over(rows.labels), hand_over(rows.indptr), indices, hand_over(rows.values),
                        hand_over(rows.lines), rows.n_lines, error);
}

}  // namespace

void bind_svmlight(nb::module_& m) {
  m.attr("SVMLIGHT_PADDING") = kPadding;
  m.def(
      "parse_svmlight", &parse_svmlight, "text"_a, "size"_a, "zero_based"_a, "labelled"_a,
      "instructions"_a = "",
      nb::sig(
          "def parse_svmlight("
          "text: bytes | bytearray | memoryview | NDArray[numpy.uint8], size: int, zero_based: bool, "
          "labelled: bool, instructions: str = ...) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], "
          "NDArray[numpy.int32] | NDArray[numpy.int64], NDArray[numpy.float32], NDArray[numpy.int64], int, "
          "tuple[str, int, bytes, int] | None]"),
      "Rows of the first `size` bytes of svmlight text, which are whole lines.\n\n"
      "Returns labels, indptr, indices (from 0), values, the line of each row (from 0), the number of lines "
      "read,\n"
      "and None or what was wrong with the line after them: (kind, column from 1, excerpt, previous index).\n"
      "`instructions` (plain, avx2, avx512) asks for a reader narrower than the processor allows.\n"
      "The text is not copied if it ends in a newline and SVMLIGHT_PADDING more bytes follow within the "
      "buffer.");
}

}  // namespace riata::bind
