#include "riata/write_text.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "hand_over.hpp"
#include "riata/checksum.hpp"

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
                     const Maybe<std::int64_t>& name_offsets, std::int64_t base) {
  const std::size_t n = indptr.size() - 1;
  const bool fits =
      ascending(indptr, indices.size()) && indices.size() == values.size() &&
      (!labels || labels->size() == n) && (!weights || weights->size() == n) &&
      names.has_value() == name_offsets.has_value() &&
      (!names || (name_offsets->size() == indices.size() + 1 && ascending(*name_offsets, names->size())));
  if (!fits) throw nb::value_error("the arrays do not fit together");
  RowsToWrite rows;
  rows.rows = static_cast<std::int64_t>(n);
  rows.indptr = indptr.data();
  rows.indices = indices.data();
  rows.values = values.data();
  rows.labels = labels ? labels->data() : nullptr;
  rows.weights = weights ? weights->data() : nullptr;
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

// Memory that is taken from, and goes back to, what the core keeps.
Out<std::uint8_t> buffer(std::size_t size) {
  Array<std::uint8_t> memory;
  if (!memory.reserve(size)) throw std::bad_alloc();
  memory.set_size(size);
  return hand_over(memory);
}

template <class Length>
Out<std::int64_t> offsets(const In<Length>& lengths) {
  Array<std::int64_t> sums;
  if (!sums.reserve(lengths.size() + 1)) throw std::bad_alloc();
  {
    nb::gil_scoped_release release;
    std::int64_t sum = 0;
    std::int64_t* const out = sums.data();
    out[0] = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) out[i + 1] = sum += lengths.data()[i];
    sums.set_size(lengths.size() + 1);
  }
  return hand_over(sums);
}

template <class Length>
void bind_offsets(nb::module_& m, const char* signature) {
  m.def("offsets", &offsets<Length>, "lengths"_a.noconvert(), nb::sig(signature),
        "Where each of some things begins that lie one behind another, and where the last one ends.");
}

}  // namespace

void bind_write_text(nb::module_& m) {
  m.def("buffer", &buffer, "size"_a, nb::sig("def buffer(size: int) -> NDArray[numpy.uint8]"),
        "So many bytes, not zeroed.");
  bind_offsets<std::uint8_t>(m, "def offsets(lengths: NDArray[numpy.uint8]) -> NDArray[numpy.int64]");
  bind_offsets<std::uint16_t>(m, "def offsets(lengths: NDArray[numpy.uint16]) -> NDArray[numpy.int64]");
  bind_offsets<std::uint32_t>(m, "def offsets(lengths: NDArray[numpy.uint32]) -> NDArray[numpy.int64]");
  m.def("write_text", &write_text, "format"_a, "indptr"_a, "indices"_a, "values"_a, "labels"_a.none(),
        "weights"_a.none(), "names"_a.none(), "name_offsets"_a.none(), "base"_a,
        nb::sig("def write_text(format: str, indptr: NDArray[numpy.int64], indices: NDArray[numpy.int64], "
                "values: NDArray[numpy.float32], labels: NDArray[numpy.float64] | None, "
                "weights: NDArray[numpy.float64] | None, names: NDArray[numpy.uint8] | None, "
                "name_offsets: NDArray[numpy.int64] | None, base: int) -> tuple[bytes, int]"),
        "Rows as svmlight or vw text, and how many names had to be written in another way.");
  m.def(
      "checksum",
      [](const In<std::uint8_t>& data) {
        nb::gil_scoped_release release;
        return checksum(reinterpret_cast<const char*>(data.data()), data.size());
      },
      "data"_a, nb::sig("def checksum(data: bytes | bytearray | memoryview | NDArray[numpy.uint8]) -> int"),
      "A 64-bit checksum.");
}

}  // namespace riata::bind
