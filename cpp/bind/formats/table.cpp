// Rows from the columns of a table in memory.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "bind/formats/decoded.hpp"
#include "bind/formats/parsed.hpp"
#include "bind/words/ngrams.hpp"
#include "riata/formats/table/reader.hpp"
#include "riata/text/truths.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

using Valid = std::optional<In<std::uint8_t>>;
using Lists = std::optional<In<std::int64_t>>;

struct TableRows {
  nb::object indptr, keys, values, names, name_offsets;
  std::optional<ColumnError> error;
};

// Columns of as many rows, and the arrays that their values lie in.
class Columns {
 public:
  explicit Columns(std::int64_t n_rows) : n_rows_(n_rows) {
    if (n_rows < 0) throw nb::value_error("a negative number of rows");
  }
  Columns(const Columns&) = delete;

  void number(const std::string& name, const In<double>& values, const Valid& valid, bool log1p,
              double centre, double scale) {
    set_scale(start_numbers(name, log1p ? ColumnKind::log1p : ColumnKind::number, values, valid), centre,
              scale);
  }

  void bucket(const std::string& name, const In<double>& values, const Valid& valid,
              const std::vector<double>& edges, const std::vector<std::string>& buckets) {
    if (buckets.size() != edges.size() + 1) throw nb::value_error("one bucket more than edges");
    start_numbers(name, ColumnKind::bucket, values, valid).set_buckets(edges, buckets);
  }

  void text(const std::string& name, const In<std::int64_t>& offsets, const In<std::uint8_t>& data,
            const Valid& valid, const Lists& lists) {
    if (offsets.size() == 0 || (!lists && offsets.size() != rows() + 1)) {
      throw nb::value_error("a text a row, please");
    }
    Column& column = start(name, ColumnKind::text, valid);
    set_texts(column, offsets, data);
    set_lists(column, lists);
  }

  void words(const std::string& name, const In<std::int64_t>& offsets, const In<std::uint8_t>& data,
             const Valid& valid, const TextColumnSpec& spec) {
    if (offsets.size() != rows() + 1) throw nb::value_error("a text a row, please");
    Column& column = start(name, ColumnKind::words, valid);
    column.spec = text_spec_of(spec);
    set_texts(column, offsets, data);
  }

  void coded(const std::string& name, const In<std::int32_t>& codes, const In<std::int64_t>& offsets,
             const In<std::uint8_t>& data, const In<std::int64_t>& keys, const Valid& valid,
             const Lists& lists) {
    if (offsets.size() != keys.size() + 1 || (!lists && codes.size() != rows())) {
      throw nb::value_error("a code a row and a key a text, please");
    }
    Column& column = start(name, ColumnKind::coded, valid);
    set_texts(column, offsets, data);
    set_lists(column, lists);
    column.codes = codes.data();
    column.n_codes = static_cast<std::int64_t>(codes.size());
    column.keys = keys.data();
    keep(codes);
    keep(keys);
  }

  // The same of what a Parquet file has.
  void decoded_number(const std::string& name, nb::object values, bool log1p, double centre, double scale) {
    set_scale(start_decoded(name, log1p ? ColumnKind::log1p : ColumnKind::number, std::move(values)), centre,
              scale);
  }

  void decoded_bucket(const std::string& name, nb::object values, const std::vector<double>& edges,
                      const std::vector<std::string>& buckets) {
    if (buckets.size() != edges.size() + 1) throw nb::value_error("one bucket more than edges");
    start_decoded(name, ColumnKind::bucket, std::move(values)).set_buckets(edges, buckets);
  }

  void decoded_text(const std::string& name, nb::object values) {
    const auto& decoded = nb::cast<const Decoded&>(values);
    const auto* const codes = std::get_if<Decoded::Codes>(&decoded.values);
    if (codes == nullptr || codes->size() != rows()) throw nb::value_error("a code a row, please");
    Column& column = start(name, ColumnKind::coded, {});
    column.texts = decoded.texts->texts.view();
    column.sound = column.texts.count > 0;
    column.longest = decoded.texts->longest();
    column.codes = codes->data();
    column.n_codes = static_cast<std::int64_t>(codes->size());
    column.keys = decoded.texts->keys();
    column.checked = true;
    column.named_keys = decoded.texts->named_keys();
    kept_.push_back(std::move(values));
  }

  void cross(const CrossNames& crosses) {
    crosses_ = make_crosses(crosses);
    for (Column& column : columns_) column.group = crosses_.group_of(column.name);
  }

  TableRows read(std::int64_t first, std::int64_t last, bool names, bool missing) const {
    if (first < 0 || last < first || last > n_rows_) throw nb::value_error("there are no such rows");
    NamedRows rows;
    ColumnError error;
    {
      nb::gil_scoped_release release;
      error = read_columns(columns_, first, last, crosses_, names, missing, rows);
    }
    if (error.kind == ColumnErrorKind::no_memory) throw std::bad_alloc();
    TableRows given;
    given.indptr = nb::cast(hand_over(rows.indptr));
    given.keys = nb::cast(hand_over(rows.keys));
    given.values = nb::cast(hand_over(rows.values));
    given.names = names ? nb::cast(hand_over(rows.names)) : nb::none();
    given.name_offsets = names ? nb::cast(hand_over(rows.name_offsets)) : nb::none();
    if (error.kind != ColumnErrorKind::none) given.error = error;
    return given;
  }

 private:
  std::size_t rows() const noexcept { return static_cast<std::size_t>(n_rows_); }

  static void set_scale(Column& column, double centre, double scale) {
    if (!(scale > 0)) throw nb::value_error("a scale must be above 0");
    column.centre = centre;
    column.scale = scale;
  }

  template <class T>
  void keep(const In<T>& array) {
    kept_.push_back(nb::cast(array));
  }

  Column& start(const std::string& name, ColumnKind kind, const Valid& valid) {
    if (valid && valid->size() != rows()) throw nb::value_error("valid needs a byte a row");
    Column& column = columns_.emplace_back();
    column.kind = kind;
    column.set_name(name);
    if (valid) {
      column.valid = valid->data();
      keep(*valid);
    }
    return column;
  }

  Column& start_numbers(const std::string& name, ColumnKind kind, const In<double>& values,
                        const Valid& valid) {
    if (values.size() != rows()) throw nb::value_error("a number a row, please");
    Column& column = start(name, kind, valid);
    column.numbers = values.data();
    keep(values);
    return column;
  }

  Column& start_decoded(const std::string& name, ColumnKind kind, nb::object values) {
    const auto& decoded = nb::cast<const Decoded&>(values);
    const double* const numbers = decoded.numbers(converted_.emplace_back(), kind == ColumnKind::number);
    if (numbers == nullptr || decoded.rows() != rows()) throw nb::value_error("a number a row, please");
    Column& column = start(name, kind, {});
    column.numbers = numbers;
    kept_.push_back(std::move(values));
    return column;
  }

  void set_texts(Column& column, const In<std::int64_t>& offsets, const In<std::uint8_t>& data) {
    column.texts = {static_cast<std::int64_t>(offsets.size()) - 1, offsets.data(),
                    reinterpret_cast<const char*>(data.data()), static_cast<std::int64_t>(data.size())};
    column.look_at_texts();
    keep(offsets);
    keep(data);
  }

  void set_lists(Column& column, const Lists& lists) {
    if (!lists) return;
    if (lists->size() != rows() + 1) throw nb::value_error("a list a row, please");
    column.lists = lists->data();
    keep(*lists);
  }

  std::int64_t n_rows_;
  std::vector<Column> columns_;
  Crosses crosses_;
  std::vector<nb::object> kept_;
  std::vector<Array<double>> converted_;
};

Out<std::int64_t> text_keys(const std::string& name, const In<std::int64_t>& offsets,
                            const In<std::uint8_t>& data) {
  if (offsets.size() == 0) throw nb::value_error("offsets are one more than texts");
  const Texts texts{static_cast<std::int64_t>(offsets.size()) - 1, offsets.data(),
                    reinterpret_cast<const char*>(data.data()), static_cast<std::int64_t>(data.size())};
  NewArray<std::int64_t> keys(offsets.size() - 1);
  bool done = false;
  {
    nb::gil_scoped_release release;
    done = keys_of_texts(name, texts, keys.get());
  }
  if (!done) throw nb::value_error("offsets that lead nowhere");
  return give(std::move(keys));
}

// The same texts with true and false in one spelling; None where that changes nothing.
nb::object respelled(const In<std::int64_t>& offsets, const In<std::uint8_t>& data) {
  if (offsets.size() == 0) throw nb::value_error("offsets are one more than texts");
  const Texts texts{static_cast<std::int64_t>(offsets.size()) - 1, offsets.data(),
                    reinterpret_cast<const char*>(data.data()), static_cast<std::int64_t>(data.size())};
  const auto changes = [&](std::int64_t i) {
    const std::int64_t size = offsets.data()[i + 1] - offsets.data()[i];
    return (size == 4 || size == 5) && texts.holds(i) && is_respelled(texts[i]);
  };
  std::int64_t i = 0;
  while (i < texts.count && !changes(i)) ++i;
  if (i == texts.count) return nb::none();
  NewArray<std::uint8_t> own(data.size());
  std::copy(data.data(), data.data() + data.size(), own.get());
  for (; i < texts.count; ++i)
    if (changes(i)) respell(reinterpret_cast<char*>(own.get()) + texts.offsets[i], texts[i].size());
  return nb::cast(give(std::move(own)));
}

}  // namespace

void bind_columns(nb::module_& m) {
  m.def("text_keys", &text_keys, "name"_a, "offsets"_a, "data"_a,
        nb::sig("def text_keys(name: str, offsets: NDArray[numpy.int64], data: NDArray[numpy.uint8]) -> "
                "NDArray[numpy.int64]"),
        "The keys of the features `name=text`.");
  m.def(
      "respelled", &respelled, "offsets"_a, "data"_a,
      nb::sig("def respelled(offsets: NDArray[numpy.int64], data: NDArray[numpy.uint8]) -> "
              "NDArray[numpy.uint8] | None"),
      "The bytes of the texts with True, TRUE, False and FALSE as `true` and `false`; None: there are none.");
  nb::class_<ColumnError>(m, "ColumnError", "What is wrong with a cell of a table.")
      .def_prop_ro("kind", [](const ColumnError& error) { return name_of(error.kind); })
      .def_ro("row", &ColumnError::row)
      .def_ro("column", &ColumnError::column, "Its number, from 0.");
  nb::class_<TableRows>(m, "TableRows",
                        "Rows of a table up to the first that cannot be read: `error` says why.")
      .def_ro("indptr", &TableRows::indptr, nb::sig("def indptr(self) -> NDArray[numpy.int64]"))
      .def_ro("keys", &TableRows::keys, nb::sig("def keys(self) -> NDArray[numpy.int64]"))
      .def_ro("values", &TableRows::values, nb::sig("def values(self) -> NDArray[numpy.float32]"))
      .def_ro("names", &TableRows::names, nb::sig("def names(self) -> NDArray[numpy.uint8] | None"))
      .def_ro("name_offsets", &TableRows::name_offsets,
              nb::sig("def name_offsets(self) -> NDArray[numpy.int64] | None"))
      .def_prop_ro(
          "error", [](const TableRows& rows) { return rows.error; },
          nb::sig("def error(self) -> ColumnError | None"));
  nb::class_<Columns>(m, "Columns", "Columns of a table, to be read as rows of named features.")
      .def(nb::init<std::int64_t>(), "n_rows"_a)
      .def("number", &Columns::number, "name"_a, "values"_a, "valid"_a.none(), "log1p"_a = false,
           "centre"_a = 0.0, "scale"_a = 1.0,
           nb::sig("def number(self, name: str, values: NDArray[numpy.float64], "
                   "valid: NDArray[numpy.uint8] | None, log1p: bool = False, centre: float = 0.0, "
                   "scale: float = 1.0) -> None"),
           "A column of numbers; those where `valid` is 0, and NaN, are missing.")
      .def("bucket", &Columns::bucket, "name"_a, "values"_a, "valid"_a.none(), "edges"_a, "buckets"_a,
           nb::sig("def bucket(self, name: str, values: NDArray[numpy.float64], "
                   "valid: NDArray[numpy.uint8] | None, edges: Sequence[float], buckets: Sequence[str]) "
                   "-> None"),
           "The same, each number being the feature of the bucket it falls into.")
      .def("text", &Columns::text, "name"_a, "offsets"_a, "data"_a, "valid"_a.none(), "lists"_a.none(),
           nb::sig("def text(self, name: str, offsets: NDArray[numpy.int64], data: NDArray[numpy.uint8], "
                   "valid: NDArray[numpy.uint8] | None, lists: NDArray[numpy.int64] | None) -> None"),
           "A column of texts, or of lists of texts.")
      .def("words", &Columns::words, "name"_a, "offsets"_a, "data"_a, "valid"_a.none(), "spec"_a,
           nb::sig("def words(self, name: str, offsets: NDArray[numpy.int64], data: NDArray[numpy.uint8], "
                   "valid: NDArray[numpy.uint8] | None, "
                   "spec: tuple[tuple[int, int, int, int], str, bool]) -> None"),
           "A column of texts whose n-grams are features.")
      .def("coded", &Columns::coded, "name"_a, "codes"_a, "offsets"_a, "data"_a, "keys"_a, "valid"_a.none(),
           "lists"_a.none(),
           nb::sig("def coded(self, name: str, codes: NDArray[numpy.int32], offsets: NDArray[numpy.int64], "
                   "data: NDArray[numpy.uint8], keys: NDArray[numpy.int64], "
                   "valid: NDArray[numpy.uint8] | None, lists: NDArray[numpy.int64] | None) -> None"),
           "A column of codes into a dictionary of texts, or of lists of codes; a negative code is missing.")
      .def("number", &Columns::decoded_number, "name"_a, "values"_a, "log1p"_a = false, "centre"_a = 0.0,
           "scale"_a = 1.0,
           nb::sig("def number(self, name: str, values: Decoded, log1p: bool = False, centre: float = 0.0, "
                   "scale: float = 1.0) -> None"))
      .def("bucket", &Columns::decoded_bucket, "name"_a, "values"_a, "edges"_a, "buckets"_a,
           nb::sig("def bucket(self, name: str, values: Decoded, edges: Sequence[float], "
                   "buckets: Sequence[str]) -> None"))
      .def("coded", &Columns::decoded_text, "name"_a, "values"_a,
           nb::sig("def coded(self, name: str, values: Decoded) -> None"))
      .def("cross", &Columns::cross, "crosses"_a,
           nb::sig("def cross(self, crosses: Sequence[Sequence[str]]) -> None"),
           "Multiply the features of columns, once all are there.")
      .def("read", &Columns::read, "first"_a, "last"_a, "names"_a, "missing"_a,
           nb::sig("def read(self, first: int, last: int, names: bool, missing: bool) -> TableRows"),
           "Rows `first` up to `last`, perhaps from several threads at once.");
}

}  // namespace riata::bind
