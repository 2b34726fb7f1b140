#include <nanobind/stl/string.h>

#include <string>
#include <variant>

#include "hand_over.hpp"
#include "riata/parquet_column.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

using parquet::Byte;
using parquet::NumberColumn;
using parquet::Outcome;
using parquet::TextColumn;

void check(Outcome outcome) {
  if (outcome == Outcome::no_memory) throw std::bad_alloc();
  if (outcome == Outcome::damaged) throw nb::value_error("a page is damaged");
}

template <class T>
Out<T> copy_of(const Array<T>& array) {
  Fresh<T> fresh(array.size());
  std::copy(array.data(), array.data() + array.size(), fresh.get());
  return give(std::move(fresh));
}

// Bytes of 0 or 1 as the bits that Arrow has instead.
Out<Byte> as_bits(const Array<Byte>& valid) {
  Fresh<Byte> bits((valid.size() + 7) / 8);
  std::size_t i = 0;
  for (; i + 8 <= valid.size(); i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, valid.data() + i, 8);
    bits.get()[i / 8] = static_cast<Byte>((eight * 0x0102040810204080ULL) >> 56);
  }
  if (i < valid.size()) bits.get()[i / 8] = 0;
  for (; i < valid.size(); ++i)
    bits.get()[i / 8] = static_cast<Byte>(bits.get()[i / 8] | (valid[i] << (i % 8)));
  return give(std::move(bits));
}

class ParquetColumn {
 public:
  ParquetColumn(const std::string& kind, bool optional) : column_(make(kind, optional)) {}

  void dictionary(const In<Byte>& page, std::int64_t n_values) {
    check(without_gil([&](auto& column) {
      return column.set_dictionary(page.data(), page.data() + page.size(), n_values);
    }));
  }

  void page(const In<Byte>& data, std::int64_t n_values, std::int32_t encoding, std::int64_t levels) {
    parquet::Page page{data.data(), data.data() + data.size(), n_values,
                       static_cast<parquet::Encoding>(encoding), levels};
    page_ = nb::cast(data);
    check(std::visit([&](auto& column) { return column.set_page(page); }, column_));
  }

  void begin(std::size_t rows) {
    check(std::visit([&](auto& column) { return column.begin(rows); }, column_));
  }

  bool fill() {
    const Outcome outcome = without_gil([](auto& column) { return column.fill(); });
    check(outcome == Outcome::more ? Outcome::done : outcome);
    return outcome == Outcome::more;
  }

  nb::tuple take() {
    nb::object values = std::visit([](auto& column) { return give_values(column); }, column_);
    return std::visit(
        [&](auto& column) {
          const std::size_t missing = column.presence().missing();
          nb::object bits = missing == 0 ? nb::none() : nb::cast(as_bits(column.presence().valid()));
          return nb::make_tuple(values, bits, missing);
        },
        column_);
  }

  nb::object texts() {
    auto* const column = std::get_if<TextColumn>(&column_);
    if (column == nullptr) throw nb::value_error("a column of numbers");
    if (column->dictionary().offsets().size() == 0 && !column->dictionary().clear()) throw std::bad_alloc();
    return list_of(column->dictionary());
  }

  nb::object plain_texts() {
    auto* const column = std::get_if<TextColumn>(&column_);
    if (column == nullptr || column->plain().count() == 0) return nb::none();
    if (!column->mixed()) return list_of(column->plain());
    parquet::TextList both;
    if (!both.clear() || !both.append(column->dictionary()) || !both.append(column->plain()))
      throw std::bad_alloc();
    return list_of(both);
  }

 private:
  using Any = std::variant<TextColumn, NumberColumn<std::int32_t>, NumberColumn<std::int64_t>,
                           NumberColumn<float>, NumberColumn<double>>;

  static Any make(const std::string& kind, bool optional) {
    if (kind == "BYTE_ARRAY") return TextColumn(optional);
    if (kind == "INT32") return NumberColumn<std::int32_t>(optional);
    if (kind == "INT64") return NumberColumn<std::int64_t>(optional);
    if (kind == "FLOAT") return NumberColumn<float>(optional);
    if (kind == "DOUBLE") return NumberColumn<double>(optional);
    throw nb::value_error("no such type");
  }

  template <class Work>
  Outcome without_gil(Work work) {
    nb::gil_scoped_release release;
    return std::visit(work, column_);
  }

  static nb::object give_values(TextColumn& column) { return nb::cast(hand_over(column.codes())); }
  template <class T>
  static nb::object give_values(NumberColumn<T>& column) {
    return nb::cast(hand_over(column.values()));
  }
  static nb::object list_of(parquet::TextList& list) {
    return nb::make_tuple(copy_of(list.offsets()), copy_of(list.data()));
  }

  Any column_;
  nb::object page_;
};

// (kind, size, packed, unpacked, n_values, encoding, levels, is_packed), or None where the bytes are too few.
nb::object page_header(const In<Byte>& bytes) {
  parquet::PageHeader header;
  const auto state = parquet::read_page_header(bytes.data(), bytes.data() + bytes.size(), header);
  if (state == parquet::HeaderState::cut_short) return nb::none();
  if (state == parquet::HeaderState::damaged) throw nb::value_error("the header of a page is damaged");
  return nb::make_tuple(header.kind, header.size, header.packed, header.unpacked, header.n_values,
                        header.encoding, header.levels, header.is_packed);
}

}  // namespace

void bind_parquet(nb::module_& m) {
  m.def("parquet_page_header", &page_header, "bytes"_a,
        nb::sig("def parquet_page_header(bytes: NDArray[numpy.uint8]) -> "
                "tuple[int, int, int, int, int, int, int, bool] | None"),
        "What stands before a page: (kind, bytes of the header, bytes of the page packed and unpacked,\n"
        "values, encoding, bytes of the levels, whether the rest is packed); None if it is cut short.");
  nb::class_<ParquetColumn>(m, "ParquetColumn", "Pages of a column of a Parquet file to values.")
      .def(nb::init<const std::string&, bool>(), "kind"_a, "optional"_a)
      .def("dictionary", &ParquetColumn::dictionary, "page"_a, "n_values"_a,
           nb::sig("def dictionary(self, page: NDArray[numpy.uint8], n_values: int) -> None"),
           "The dictionary of the pages that follow, unpacked.")
      .def("begin", &ParquetColumn::begin, "rows"_a, "So many rows are wanted now.")
      .def("page", &ParquetColumn::page, "data"_a, "n_values"_a, "encoding"_a, "levels"_a = -1,
           nb::sig("def page(self, data: NDArray[numpy.uint8], n_values: int, encoding: int, "
                   "levels: int = -1) -> None"),
           "The next page, unpacked; `levels` bytes of it are levels, or below 0: it says so itself.")
      .def("fill", &ParquetColumn::fill, "Read rows; whether another page is needed for those wanted.")
      .def("take", &ParquetColumn::take,
           nb::sig("def take(self) -> tuple[NDArray[numpy.generic], NDArray[numpy.uint8] | None, int]"),
           "The values of the rows, or the codes of texts; bits that say which are there; how many are not.")
      .def("texts", &ParquetColumn::texts,
           nb::sig("def texts(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.uint8]]"),
           "The dictionary: offsets and bytes.")
      .def("plain_texts", &ParquetColumn::plain_texts,
           nb::sig("def plain_texts(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.uint8]] | None"),
           "What codes point into where some of the rows have no dictionary: after `take`.");
}

}  // namespace riata::bind
