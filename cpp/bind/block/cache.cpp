// What the file of Blocks needs: checksums, numbers for names, and the way back.
#include <algorithm>
#include <new>

#include "bind/base/hash_key.hpp"
#include "bind/block/name_list.hpp"
#include "bind/block_view.hpp"
#include "bind/hand_over.hpp"
#include "riata/block/name_numbers.hpp"
#include "riata/simd/checksum.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

template <class T>
Array<T> room(std::size_t size) {
  Array<T> array;
  if (!array.reserve(size == 0 ? 1 : size)) throw std::bad_alloc();
  array.set_size(size);
  return array;
}

// Rows as a Block has them, from rows as Arrow has them: copied first and then checked, because the copy is
// what will be used, whatever becomes of the file.
Out<std::int64_t> rows_of(const In<std::int32_t>& offsets, std::int64_t entries) {
  Array<std::int64_t> rows = room<std::int64_t>(offsets.size());
  bool good = offsets.size() > 0;
  if (good) {
    nb::gil_scoped_release release;
    std::int64_t* const out = rows.data();
    std::copy_n(offsets.data(), offsets.size(), out);
    for (std::size_t i = 1; i < offsets.size(); ++i) good &= out[i - 1] <= out[i];
    good = good && out[0] == 0 && out[offsets.size() - 1] == entries;
  }
  if (!good) throw nb::value_error("rows do not fit together");
  return hand_over(rows);
}

nb::object number(NameNumbers& name_numbers, const In<std::int64_t>& keys, const In<std::uint8_t>& names,
                  const In<std::int64_t>& name_offsets) {
  check_names(names, name_offsets, keys.size());
  Array<std::uint32_t> numbers = room<std::uint32_t>(keys.size());
  NameNumbers::Done done{};
  {
    nb::gil_scoped_release release;
    done = name_numbers.number(keys.data(), keys.size(), reinterpret_cast<const char*>(names.data()),
                               name_offsets.data(), numbers.data());
  }
  if (done == NameNumbers::Done::no_memory) throw std::bad_alloc();
  if (done == NameNumbers::Done::no_text) return nb::none();
  if (done == NameNumbers::Done::no_numbers) {
    PyErr_SetString(PyExc_OverflowError, "more than 2147483647 names");
    throw nb::python_error();
  }
  return nb::cast(hand_over(numbers));
}

nb::tuple arrays_of(const NameNumbers& name_numbers) {
  const auto copy = []<class T>(const auto& from, T) {
    Array<T> to = room<T>(from.size());
    if (from.size() > 0) std::memcpy(to.data(), from.data(), from.size() * sizeof(T));
    return hand_over(to);
  };
  return nb::make_tuple(copy(name_numbers.names, std::uint8_t{}), copy(name_numbers.ends, std::int64_t{}));
}

nb::tuple names_of(const NameList& name_list, const In<std::uint32_t>& numbers) {
  name_list.check(numbers);
  Array<std::int64_t> ends = room<std::int64_t>(numbers.size() + 1);
  Array<std::uint8_t> text;
  bool enough = false;
  {
    nb::gil_scoped_release release;
    name_list.view.offsets_of(numbers.data(), numbers.size(), ends.data());
    const auto size = static_cast<std::size_t>(ends.back());
    enough = text.reserve(size + 1);
    if (enough) {
      name_list.view.names_of(numbers.data(), numbers.size(), ends.data(),
                              reinterpret_cast<char*>(text.data()));
      text.set_size(size);
    }
  }
  if (!enough) throw std::bad_alloc();
  return nb::make_tuple(hand_over(text), hand_over(ends));
}

}  // namespace

void bind_cache(nb::module_& m) {
  m.def("rows_of", &rows_of, "offsets"_a.noconvert(), "entries"_a,
        nb::sig("def rows_of(offsets: NDArray[numpy.int32], entries: int) -> NDArray[numpy.int64]"),
        "The same in 64 bits. ValueError unless they ascend from 0 to `entries`.");
  m.def(
      "checksum",
      [](const In<std::uint8_t>& data) {
        nb::gil_scoped_release release;
        return checksum(reinterpret_cast<const char*>(data.data()), data.size());
      },
      "data"_a, nb::sig("def checksum(data: bytes | bytearray | memoryview | NDArray[numpy.uint8]) -> int"),
      "A 64-bit checksum.");
  nb::class_<Checksum>(m, "Checksum", "The same of bytes that come in pieces.")
      .def(nb::init<>())
      .def(
          "add",
          [](Checksum& sum, const In<std::uint8_t>& data) {
            nb::gil_scoped_release release;
            sum.add(reinterpret_cast<const char*>(data.data()), data.size());
          },
          "data"_a,
          nb::sig("def add(self, data: bytes | bytearray | memoryview | NDArray[numpy.uint8]) -> None"))
      .def("end", &Checksum::end, "Once, and then no more.");
  nb::class_<NameNumbers>(m, "NameNumbers", "Features, numbered as they come.")
      .def(
          "__init__",
          [](NameNumbers* self, std::uint32_t base, bool text, nb::handle hash_key) {
            new (self) NameNumbers(base, text, hash_key_from(hash_key));
          },
          "base"_a = 0, "text"_a = false, "hash_key"_a.none() = nb::none(),
          nb::sig("def __init__(self, base: int = 0, text: bool = False, hash_key: bytes | None = None) -> "
                  "None"))
      .def("number", &number, "keys"_a.noconvert(), "names"_a, "name_offsets"_a,
           nb::sig("def number(self, keys: NDArray[numpy.int64], names: NDArray[numpy.uint8], "
                   "name_offsets: NDArray[numpy.int64]) -> NDArray[numpy.uint32] | None"),
           "From `base` on. None where names must be text, and one is not.")
      .def("arrays", &arrays_of,
           nb::sig("def arrays(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]"),
           "Names, and where each begins.")
      .def("__len__", [](const NameNumbers& name_numbers) { return name_numbers.size(); })
      .def_prop_ro("full", &NameNumbers::full, "It is time for another one.");

  nb::class_<NameList>(m, "NameList", "Names, by the numbers of features.")
      .def(nb::init<nb::object, nb::object, std::uint32_t>(), "names"_a, "name_offsets"_a, "base"_a = 0,
           nb::sig("def __init__(self, names: NDArray[numpy.uint8], name_offsets: NDArray[numpy.int64], "
                   "base: int = 0) -> None"))
      .def("__len__", [](const NameList& name_list) { return name_list.view.size; })
      .def("names", &names_of, "numbers"_a.noconvert(),
           nb::sig("def names(self, numbers: NDArray[numpy.uint32]) -> tuple[NDArray[numpy.uint8], "
                   "NDArray[numpy.int64]]"),
           "One behind another, and where each begins.");
}

}  // namespace riata::bind
