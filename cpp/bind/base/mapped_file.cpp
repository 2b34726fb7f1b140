// Files mapped into memory, and arrays that are views of them.
#include "riata/base/mapped_file.hpp"

#include <cerrno>
#include <new>

#include "bind/arrays.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

using View = nb::ndarray<nb::numpy, const std::uint8_t, nb::ndim<1>, nb::c_contig>;

void map_file(Mapped* self, int descriptor, std::size_t size) {
  new (self) Mapped();
  if (const int error = self->open(descriptor, size); error != 0) {
    errno = error;
    PyErr_SetFromErrno(PyExc_OSError);
    throw nb::python_error();
  }
}

void check_inside(const Mapped& mapped, std::size_t start, std::size_t size) {
  if (start > mapped.size() || size > mapped.size() - start)
    throw nb::value_error("beyond the end of the file");
}

}  // namespace

void bind_mapped(nb::module_& m) {
  nb::class_<Mapped>(m, "Mapped",
                     "The first bytes of an open file in memory. The mapping lasts as long as arrays of it, "
                     "also when the file is closed or deleted.")
      .def("__init__", &map_file, "descriptor"_a, "size"_a)
      .def("__len__", &Mapped::size)
      .def(
          "array",
          [](nb::handle_t<Mapped> self, std::size_t start, std::size_t size) {
            const auto& mapped = nb::cast<const Mapped&>(self);
            check_inside(mapped, start, size);
            return View(mapped.data() + start, {size}, self);
          },
          "start"_a, "size"_a, nb::sig("def array(self, start: int, size: int) -> NDArray[numpy.uint8]"),
          "Bytes of the file, not copied, not to be written to.")
      .def(
          "fetch",
          [](const Mapped& mapped, std::size_t start, std::size_t size) {
            check_inside(mapped, start, size);
            nb::gil_scoped_release release;
            mapped.fetch(start, size);
          },
          "start"_a, "size"_a, "They are needed soon.")
      .def(
          "release",
          [](const Mapped& mapped, std::size_t start, std::size_t size) {
            check_inside(mapped, start, size);
            nb::gil_scoped_release release;
            mapped.release(start, size);
          },
          "start"_a, "size"_a,
          "They are not needed for a while, and need not count as memory of this process.")
      .def_prop_ro("lost", &Mapped::lost,
                   "Somebody read bytes that the file did not have any more: they were zeros.");
}

}  // namespace riata::bind
