// What the file of Blocks needs: checksums, fewer bytes for the same numbers, and the way back.
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <vector>

#include "block_view.hpp"
#include "glossary.hpp"
#include "hand_over.hpp"
#include "riata/checksum.hpp"
#include "riata/numbering.hpp"
#include "riata/packed_values.hpp"

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

// Memory that is taken from, and goes back to, what the core keeps.
Out<std::uint8_t> buffer(std::size_t size) {
  Array<std::uint8_t> memory = room<std::uint8_t>(size);
  return hand_over(memory);
}

template <class Length>
Out<std::int64_t> offsets(const In<Length>& lengths) {
  Array<std::int64_t> sums = room<std::int64_t>(lengths.size() + 1);
  {
    nb::gil_scoped_release release;
    std::int64_t sum = 0;
    std::int64_t* const out = sums.data();
    out[0] = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) out[i + 1] = sum += lengths.data()[i];
  }
  return hand_over(sums);
}

template <class Length>
void bind_offsets(nb::module_& m, const char* signature) {
  m.def("offsets", &offsets<Length>, "lengths"_a.noconvert(), nb::sig(signature),
        "Where each of some things begins that lie one behind another, and where the last one ends.");
}

// The first values of each piece tell how all are held; if the others are different, it takes more bytes.
nb::tuple pack_values(const std::vector<In<float>>& pieces) {
  constexpr std::size_t kSample = 2048;
  Array<std::uint8_t> bytes;
  Array<float> others;
  Packing packing = Packing::plain;
  bool enough = true;
  {
    nb::gil_scoped_release release;
    std::size_t n = 0;
    ValueKinds kinds;
    for (const In<float>& piece : pieces) {
      kinds.add(piece.data(), std::min(kSample, piece.size()));
      n += piece.size();
    }
    packing = kinds.best();
    const auto pack = [&](auto packer) {
      for (const In<float>& piece : pieces) packer.add(piece.data(), piece.size());
      others.set_size(packer.others(others.data()));
    };
    if (packing != Packing::plain) {
      bytes.set_size(packing == Packing::counts ? n : (n + 7) / 8);
      enough = bytes.reserve(bytes.size() + 1) && others.reserve(n + 1);
      if (enough && packing == Packing::counts) pack(CountPacker(bytes.data(), others.data()));
      if (enough && packing != Packing::counts) {
        std::memset(bytes.data(), 0, bytes.size());
        pack(MixedPacker(bytes.data(), others.data()));
        packing = others.size() == 0 ? Packing::ones : Packing::mixed;
      }
    }
  }
  if (!enough) throw std::bad_alloc();
  constexpr const char* names[] = {"ones", "counts", "mixed", "plain"};
  return nb::make_tuple(names[static_cast<int>(packing)], hand_over(bytes), hand_over(others));
}

Out<float> unpack_counts_of(const In<std::uint8_t>& counts, const In<float>& others) {
  Array<float> values = room<float>(counts.size());
  bool good = false;
  {
    nb::gil_scoped_release release;
    good = unpack_counts(counts.data(), counts.size(), others.data(), others.size(), values.data());
  }
  if (!good) throw nb::value_error("counts and values do not fit together");
  return hand_over(values);
}

Out<float> unpack_mixed_of(const In<std::uint8_t>& bits, const In<float>& others, std::size_t size) {
  if (size > 8 * bits.size()) throw nb::value_error("fewer bits than values");
  Array<float> values = room<float>(size);
  bool good = false;
  {
    nb::gil_scoped_release release;
    good = unpack_mixed(bits.data(), size, others.data(), others.size(), values.data());
  }
  if (!good) throw nb::value_error("bits and values do not fit together");
  return hand_over(values);
}

Out<std::uint32_t> number(Numbering& numbering, const In<std::int64_t>& keys, const In<std::uint8_t>& names,
                          const In<std::int64_t>& name_offsets) {
  check_names(names, name_offsets, keys.size());
  Array<std::uint32_t> numbers = room<std::uint32_t>(keys.size());
  bool done = false;
  {
    nb::gil_scoped_release release;
    done = numbering.number(keys.data(), keys.size(), reinterpret_cast<const char*>(names.data()),
                            name_offsets.data(), numbers.data());
  }
  if (!done) throw std::bad_alloc();
  return hand_over(numbers);
}

nb::tuple arrays_of(const Numbering& numbering) {
  const auto copy = []<class T>(const auto& from, T) {
    Array<T> to = room<T>(from.size());
    if (from.size() > 0) std::memcpy(to.data(), from.data(), from.size() * sizeof(T));
    return hand_over(to);
  };
  return nb::make_tuple(copy(numbering.names, std::uint8_t{}), copy(numbering.lengths, std::uint32_t{}));
}

nb::tuple names_of(const Glossary& glossary, const In<std::uint32_t>& numbers) {
  glossary.check(numbers);
  Array<std::int64_t> ends = room<std::int64_t>(numbers.size() + 1);
  Array<std::uint8_t> text;
  bool enough = false;
  {
    nb::gil_scoped_release release;
    glossary.view.offsets_of(numbers.data(), numbers.size(), ends.data());
    const auto size = static_cast<std::size_t>(ends.back());
    enough = text.reserve(size + 1);
    if (enough) {
      glossary.view.names_of(numbers.data(), numbers.size(), reinterpret_cast<char*>(text.data()));
      text.set_size(size);
    }
  }
  if (!enough) throw std::bad_alloc();
  return nb::make_tuple(hand_over(text), hand_over(ends));
}

}  // namespace

void bind_cache(nb::module_& m) {
  m.def("buffer", &buffer, "size"_a, nb::sig("def buffer(size: int) -> NDArray[numpy.uint8]"),
        "So many bytes, not zeroed.");
  bind_offsets<std::uint8_t>(m, "def offsets(lengths: NDArray[numpy.uint8]) -> NDArray[numpy.int64]");
  bind_offsets<std::uint16_t>(m, "def offsets(lengths: NDArray[numpy.uint16]) -> NDArray[numpy.int64]");
  bind_offsets<std::uint32_t>(m, "def offsets(lengths: NDArray[numpy.uint32]) -> NDArray[numpy.int64]");
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
  m.def("pack_values", &pack_values, "pieces"_a,
        nb::sig("def pack_values(pieces: list[NDArray[numpy.float32]]) -> tuple[str, NDArray[numpy.uint8], "
                "NDArray[numpy.float32]]"),
        "How values can be held: 'ones', 'counts' (bytes, and those that are none), 'mixed' "
        "(bits, and those that are not 1), "
        "'plain'.");
  m.def("unpack_counts", &unpack_counts_of, "counts"_a.noconvert(), "others"_a.noconvert(),
        nb::sig("def unpack_counts(counts: NDArray[numpy.uint8], others: NDArray[numpy.float32]) -> "
                "NDArray[numpy.float32]"),
        "The counts as values, and the next of the others where one is 0.");
  m.def("unpack_mixed", &unpack_mixed_of, "bits"_a.noconvert(), "others"_a.noconvert(), "size"_a,
        nb::sig("def unpack_mixed(bits: NDArray[numpy.uint8], others: NDArray[numpy.float32], size: int) -> "
                "NDArray[numpy.float32]"),
        "1 where a bit is not set, else the next of the others.");

  nb::class_<Numbering>(m, "Numbering", "Features, numbered as they come.")
      .def(nb::init<>())
      .def("number", &number, "keys"_a.noconvert(), "names"_a, "name_offsets"_a,
           nb::sig("def number(self, keys: NDArray[numpy.int64], names: NDArray[numpy.uint8], "
                   "name_offsets: NDArray[numpy.int64]) -> NDArray[numpy.uint32]"))
      .def("arrays", &arrays_of,
           nb::sig("def arrays(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.uint32]]"),
           "Names, and the lengths of these.")
      .def("__len__", [](const Numbering& numbering) { return numbering.size(); })
      .def_prop_ro("full", &Numbering::full, "It is time for another one.");

  nb::class_<Glossary>(m, "Glossary", "Names, by the numbers of features.")
      .def(nb::init<In<std::uint8_t>, In<std::int64_t>>(), "names"_a, "name_offsets"_a,
           nb::sig("def __init__(self, names: NDArray[numpy.uint8], name_offsets: NDArray[numpy.int64]) -> "
                   "None"))
      .def("__len__", [](const Glossary& glossary) { return glossary.view.size; })
      .def("names", &names_of, "numbers"_a.noconvert(),
           nb::sig("def names(self, numbers: NDArray[numpy.uint32]) -> tuple[NDArray[numpy.uint8], "
                   "NDArray[numpy.int64]]"),
           "One behind another, and where each begins.");
}

}  // namespace riata::bind
