// Columns of Parquet files from their pages.
#include <nanobind/stl/string.h>

#include <string>
#include <variant>

#include "bind/formats/decoded.hpp"
#include "bind/hand_over.hpp"
#include "riata/formats/parquet/pages.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

using parquet::Byte;
using parquet::NumberColumn;
using parquet::Outcome;
using parquet::Pages;
using parquet::TextColumn;

void check(Outcome outcome) {
  if (outcome == Outcome::no_memory) throw std::bad_alloc();
  if (outcome == Outcome::damaged) throw nb::value_error("a page is damaged");
}

template <class T>
Out<T> copy_of(const T* from, std::size_t size) {
  NewArray<T> array(size);
  std::copy(from, from + size, array.get());
  return give(std::move(array));
}

nb::tuple arrow_of(const Decoded& decoded) {
  nb::object values = std::visit(
      [](const auto& array) { return nb::cast(copy_of(array.data(), array.size())); }, decoded.values);
  nb::object bits = nb::none();
  if (decoded.missing > 0) bits = nb::cast(copy_of(decoded.bits.bytes(), (decoded.rows() + 7) / 8));
  return nb::make_tuple(values, bits, decoded.missing);
}

nb::tuple texts_of(const Decoded& decoded) {
  if (decoded.texts == nullptr) throw nb::value_error("a column of numbers");
  const Texts texts = decoded.texts->texts.view();
  const auto* const data = reinterpret_cast<const Byte*>(texts.data);
  return nb::make_tuple(copy_of(texts.offsets, static_cast<std::size_t>(texts.count) + 1),
                        copy_of(data, static_cast<std::size_t>(texts.bytes)));
}

class ParquetColumn {
 public:
  ParquetColumn(const std::string& kind, bool optional, const std::string& name, bool names,
                const std::string& codec)
      : column_(make(kind, optional, name, names)),
        pages_(codec.empty()       ? parquet::Packing::none
               : codec == "snappy" ? parquet::Packing::snappy
                                   : parquet::Packing::other) {}

  void begin(std::size_t rows) {
    check(std::visit([&](auto& column) { return column.begin(rows); }, column_));
  }

  void give(const In<Byte>& bytes) {
    if (!pages_.give(bytes.data(), bytes.data() + bytes.size())) throw std::bad_alloc();
    given_ = nb::cast(bytes);
  }

  nb::object fill() {
    Pages::Next what = Pages::Next::page;
    Outcome outcome = Outcome::done;
    {
      nb::gil_scoped_release release;
      outcome = std::visit([&](auto& column) { return parquet::fill(column, pages_, what); }, column_);
    }
    if (outcome != Outcome::more) {
      check(outcome);
      return nb::none();
    }
    return nb::make_tuple(what == Pages::Next::packed, pages_.needed());
  }

  Out<Byte> packed() const { return copy_of(pages_.packed(), pages_.packed_size()); }

  void unpacked(const In<Byte>& bytes) {
    parquet::Page page;
    const Pages::Next what = pages_.set_unpacked(bytes.data(), bytes.data() + bytes.size(), page);
    nb::gil_scoped_release release;
    const Outcome outcome =
        std::visit([&](auto& column) { return parquet::take_page(column, what, page); }, column_);
    nb::gil_scoped_acquire acquire;
    check(outcome);
  }

  Decoded take() {
    Decoded decoded;
    std::visit(
        [&](auto& column) {
          decoded.missing = column.presence().missing();
          if (decoded.missing > 0) std::swap(decoded.bits, column.presence().bits());
          take_values(column, decoded);
        },
        column_);
    return decoded;
  }

 private:
  using Any = std::variant<TextColumn, NumberColumn<std::int32_t>, NumberColumn<std::int64_t>,
                           NumberColumn<float>, NumberColumn<double>>;

  static Any make(const std::string& kind, bool optional, const std::string& name, bool names) {
    if (kind == "BYTE_ARRAY") return Any(std::in_place_type<TextColumn>, optional, name, names);
    if (kind == "INT32") return Any(std::in_place_type<NumberColumn<std::int32_t>>, optional);
    if (kind == "INT64") return Any(std::in_place_type<NumberColumn<std::int64_t>>, optional);
    if (kind == "FLOAT") return Any(std::in_place_type<NumberColumn<float>>, optional);
    if (kind == "DOUBLE") return Any(std::in_place_type<NumberColumn<double>>, optional);
    throw nb::value_error("no such type");
  }

  static void take_values(TextColumn& column, Decoded& decoded) {
    {
      nb::gil_scoped_release release;
      decoded.texts = column.texts();
    }
    if (decoded.texts == nullptr) throw std::bad_alloc();
    static_cast<Array<std::int32_t>&>(decoded.values.emplace<Decoded::Codes>()) = std::move(column.codes());
  }
  template <class T>
  static void take_values(NumberColumn<T>& column, Decoded& decoded) {
    decoded.values.emplace<Array<T>>(std::move(column.values()));
  }

  Any column_;
  Pages pages_;
  nb::object given_;
};

}  // namespace

void bind_parquet(nb::module_& m) {
  nb::class_<Decoded>(m, "Decoded", "Rows of a column of a Parquet file.")
      .def("__len__", &Decoded::rows)
      .def_prop_ro(
          "respelled",
          [](const Decoded& decoded) { return decoded.texts != nullptr && decoded.texts->respelled(); },
          "Whether its texts have true or false among them in another spelling.")
      .def_prop_ro("is_text", [](const Decoded& decoded) { return decoded.texts != nullptr; })
      .def_prop_ro(
          "shared",
          [](const Decoded& decoded) { return reinterpret_cast<std::uintptr_t>(decoded.texts.get()); },
          "The same number for all rows whose codes point into the same texts, while they live.")
      .def("arrow", &arrow_of,
           nb::sig("def arrow(self) -> tuple[NDArray[numpy.generic], NDArray[numpy.uint8] | None, int]"),
           "The values of the rows, or the codes of texts; bits that say which are there; how many are not.")
      .def("texts", &texts_of,
           nb::sig("def texts(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.uint8]]"),
           "What codes point into: offsets and bytes.");
  nb::class_<ParquetColumn>(m, "ParquetColumn", "The bytes of a column of a Parquet file to values.")
      .def(nb::init<const std::string&, bool, const std::string&, bool, const std::string&>(), "kind"_a,
           "optional"_a, "name"_a, "names"_a, "codec"_a,
           "`codec` is '', 'snappy', or any other: the caller unpacks those pages.")
      .def("begin", &ParquetColumn::begin, "rows"_a, "So many rows are wanted now.")
      .def("fill", &ParquetColumn::fill, nb::sig("def fill(self) -> tuple[bool, int] | None"),
           "Read rows; None once those wanted are there. (False, n): n more bytes are needed at least.\n"
           "(True, n): a page must be unpacked to n bytes.")
      .def("give", &ParquetColumn::give, "bytes"_a,
           nb::sig("def give(self, bytes: NDArray[numpy.uint8]) -> None"),
           "The next bytes of the column, where `fill` asked for them.")
      .def("packed", &ParquetColumn::packed, nb::sig("def packed(self) -> NDArray[numpy.uint8]"),
           "The page that must be unpacked.")
      .def("unpacked", &ParquetColumn::unpacked, "bytes"_a,
           nb::sig("def unpacked(self, bytes: NDArray[numpy.uint8]) -> None"), "The same, unpacked.")
      .def("take", &ParquetColumn::take, "The rows.");
}

}  // namespace riata::bind
