// Bytes of open files as arrays, in memory of the pool.
#include "riata/base/read_file.hpp"

#include <cerrno>
#include <cstdint>

#include "bind/arrays.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

Out<std::uint8_t> read_at(int descriptor, std::uint64_t start, std::size_t size) {
  if (size > PTRDIFF_MAX || start > static_cast<std::uint64_t>(INT64_MAX) - size)
    throw nb::value_error("no file is that large");
  NewArray<std::uint8_t> bytes(size);
  FileRead read;
  {
    nb::gil_scoped_release release;
    read = read_file(descriptor, start, size, reinterpret_cast<char*>(bytes.get()));
  }
  if (read.error != 0) {
    errno = read.error;
    PyErr_SetFromErrno(PyExc_OSError);
    throw nb::python_error();
  }
  bytes.size = read.size;
  return give(std::move(bytes));
}

}  // namespace

void bind_read_file(nb::module_& m) {
  m.def("read_at", &read_at, "descriptor"_a, "start"_a, "size"_a,
        nb::sig("def read_at(descriptor: int, start: int, size: int) -> NDArray[numpy.uint8]"),
        "Bytes of an open file from there on: fewer where the file has no more.");
}

}  // namespace riata::bind
