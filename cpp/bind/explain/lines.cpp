// Rows of contributions as lines of text.
#include "riata/explain/lines.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/block_view.hpp"
#include "riata/base/parallel_for.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

template <class T>
using Maybe = std::optional<In<T>>;

// (text before, numbers | integers | (codes, texts) | None); what they point to is kept by the caller.
RowField field_of(nb::handle given, std::size_t rows) {
  const auto pair = nb::cast<nb::tuple>(given);
  RowField field;
  const auto before = nb::cast<nb::bytes>(pair[0]);
  field.before.assign(before.c_str(), before.size());
  std::size_t length = rows;
  if (In<double> numbers; nb::try_cast(pair[1], numbers, false)) {
    field.numbers = numbers.data();
    length = numbers.size();
  } else if (In<std::int64_t> integers; nb::try_cast(pair[1], integers, false)) {
    field.integers = integers.data();
    length = integers.size();
  } else if (nb::isinstance<nb::tuple>(pair[1])) {
    const auto both = nb::cast<nb::tuple>(pair[1]);
    In<std::int32_t> codes;
    if (!nb::try_cast(both[0], codes, false)) throw nb::type_error("codes are 32-bit integers");
    for (nb::handle text : nb::cast<nb::list>(both[1])) {
      const auto bytes = nb::cast<nb::bytes>(text);
      field.texts.emplace_back(bytes.c_str(), bytes.size());
    }
    field.codes = codes.data();
    length = codes.size();
    for (std::size_t i = 0; i < codes.size(); ++i)
      if (codes.data()[i] < 0 || static_cast<std::size_t>(codes.data()[i]) >= field.texts.size())
        throw nb::value_error("a code has no text");
  } else if (!pair[1].is_none()) {
    throw nb::type_error("a field has numbers, codes with texts, or nothing");
  }
  if (length != rows) throw nb::value_error("a field differs in length");
  return field;
}

std::vector<RowField> fields_of(const nb::list& given, std::size_t rows) {
  std::vector<RowField> fields;
  for (nb::handle one : given) fields.push_back(field_of(one, rows));
  return fields;
}

nb::bytes explanation_lines(const std::string& format, const nb::list& fields, const nb::list& others,
                            const In<std::int64_t>& starts, const In<std::int64_t>& places,
                            const In<std::int64_t>& indices, std::int64_t base,
                            const Maybe<std::uint8_t>& names, const Maybe<std::int64_t>& name_offsets,
                            const In<double>& values, const In<double>& weights,
                            const In<double>& contributions, const Maybe<double>& deviations) {
  const std::size_t entries = indices.size();
  bool fits = starts.size() > 0 && starts.data()[0] == 0 && values.size() == entries &&
              weights.size() == entries && contributions.size() == entries &&
              (!deviations || deviations->size() == entries) &&
              names.has_value() == name_offsets.has_value() &&
              starts.data()[starts.size() - 1] == static_cast<std::int64_t>(places.size());
  for (std::size_t i = 1; fits && i < starts.size(); ++i) fits = starts.data()[i] >= starts.data()[i - 1];
  for (std::size_t k = 0; fits && k < places.size(); ++k)
    fits = places.data()[k] >= 0 && places.data()[k] < static_cast<std::int64_t>(entries);
  if (!fits) throw nb::value_error("the arrays do not fit together");
  if (names) check_names(*names, *name_offsets, entries);
  const std::size_t rows = starts.size() - 1;
  const std::vector<RowField> head = fields_of(fields, rows), rest = fields_of(others, rows);
  for (const RowField& other : rest)
    if (other.numbers == nullptr) throw nb::value_error("others are numbers");
  ShownEntries shown;
  shown.starts = starts.data();
  shown.places = places.data();
  shown.names = names ? names->data() : nullptr;
  shown.name_offsets = name_offsets ? name_offsets->data() : nullptr;
  shown.indices = indices.data();
  shown.base = base;
  shown.values = values.data();
  shown.weights = weights.data();
  shown.contributions = contributions.data();
  shown.deviations = deviations ? deviations->data() : nullptr;
  std::string first, second;  // of the two halves of the rows
  std::exception_ptr failed;
  {
    nb::gil_scoped_release nogil;
    std::mutex guard;
    parallel_for(static_cast<std::int64_t>(rows), 256, [&](std::int64_t from, std::int64_t to) {
      try {
        std::string& text = from == 0 ? first : second;
        text.reserve(128 * static_cast<std::size_t>(to - from + shown.starts[to] - shown.starts[from]));
        ExplanationWriter writer(text);
        for (std::int64_t row = from; row < to; ++row) {
          if (format == "csv") {
            writer.csv(head, shown, rest, row);
          } else {
            writer.json(head, shown, row);
          }
        }
      } catch (...) {
        const std::lock_guard lock(guard);
        failed = std::current_exception();
      }
    });
  }
  if (failed) std::rethrow_exception(failed);
  nb::bytes text = nb::steal<nb::bytes>(
      PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(first.size() + second.size())));
  if (!text.is_valid()) throw nb::python_error();
  char* out = PyBytes_AS_STRING(text.ptr());
  std::copy(second.begin(), second.end(), std::copy(first.begin(), first.end(), out));
  return text;
}

}  // namespace

void bind_explanation_lines(nb::module_& m) {
  m.def(
      "explanation_lines", &explanation_lines, "format"_a, "fields"_a, "others"_a, "starts"_a, "places"_a,
      "indices"_a, "base"_a, "names"_a.none(), "name_offsets"_a.none(), "values"_a, "weights"_a,
      "contributions"_a, "deviations"_a.none(),
      nb::sig(
          "def explanation_lines(format: str, fields: list[tuple[bytes, object]], others: "
          "list[tuple[bytes, object]], starts: NDArray[numpy.int64], places: NDArray[numpy.int64], indices: "
          "NDArray[numpy.int64], base: int, names: NDArray[numpy.uint8] | None, name_offsets: "
          "NDArray[numpy.int64] | None, values: NDArray[numpy.float64], weights: NDArray[numpy.float64], "
          "contributions: NDArray[numpy.float64], deviations: NDArray[numpy.float64] | None) -> bytes"),
      "Rows as lines of json, or several lines of csv each: what they have in common, and the entries at "
      "`places`.");
}

}  // namespace riata::bind
