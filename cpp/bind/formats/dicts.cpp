// Dicts read by a schema: each becomes the features that it means, names and numbers only.
#include <nanobind/nanobind.h>

#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "bind/formats/columns.hpp"
#include "bind/formats/read_event.hpp"
#include "riata/text/scan.hpp"
#include "riata/text/truths.hpp"

namespace riata::bind {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

class DictFormat {
 public:
  DictFormat(const std::vector<ColumnSpec>& columns, bool open, const std::vector<std::string>& absent,
             bool missing, bool as_written)
      : columns_(make_columns(columns, {})),
        open_(open),
        missing_(missing),
        as_written_(as_written),
        absent_(absent) {
    for (const SchemaColumn& column : columns_)
      keys_.push_back(nb::steal(PyUnicode_InternFromString(column.name.c_str())));
    one_ = nb::steal(PyFloat_FromDouble(1));
    // Without = in the names of columns, features of two columns have two names.
    simple_ = !open_;
    for (const SchemaColumn& column : columns_)
      simple_ = simple_ && column.role != ColumnRole::free && column.name.find('=') == std::string::npos;
  }

  nb::object read(nb::handle features) const {
    if (PyDict_CheckExact(features.ptr())) {
      Reader<DictSink> simple{*this, false, {*this}};
      if (simple.read(features.ptr())) return std::move(simple.sink.out);
    }
    // Values of other kinds are converted by code that may do anything, even change the dict.
    const nb::object own =
        nb::steal(PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyDict_Type), features.ptr()));
    if (!own.is_valid()) throw nb::python_error();
    Reader<DictSink> reader{*this, true, {*this}};
    reader.read(own.ptr());
    return std::move(reader.sink.out);
  }

  // The same for the core alone, without objects of Python in between: nearly all dicts of nearly all schemas.
  nb::object event(nb::handle features) const {
    if (simple_ && PyDict_CheckExact(features.ptr())) {
      Reader<RowSink> simple{*this, false, {*this}};
      simple.sink.row.reserve(static_cast<std::size_t>(PyDict_GET_SIZE(features.ptr())));
      if (simple.read(features.ptr())) return nb::cast(std::move(simple.sink.row));
    }
    return read(features);
  }

 private:
  // Where features go: a dict...
  struct DictSink {
    static constexpr bool kLists = true;  // a list may have a feature twice
    const DictFormat& format;
    nb::object out = nb::steal(PyDict_New());

    void number(std::size_t c, float value) {
      const nb::object number = nb::steal(PyFloat_FromDouble(static_cast<double>(value)));
      if (!number.is_valid()) throw nb::python_error();
      set(format.keys_[c].ptr(), number.ptr());
    }
    // A feature with the value 1, or one more where it is there already.
    void add(std::string_view feature) {
      const nb::object key =
          nb::steal(PyUnicode_FromStringAndSize(feature.data(), static_cast<Py_ssize_t>(feature.size())));
      if (!key.is_valid()) throw nb::python_error();
      PyObject* const before = PyDict_GetItemWithError(out.ptr(), key.ptr());
      if (before == nullptr) return set(key.ptr(), format.one_.ptr());
      const nb::object more = nb::steal(PyFloat_FromDouble(PyFloat_AsDouble(before) + 1));
      set(key.ptr(), more.ptr());
    }
    void set(PyObject* key, PyObject* value) {
      if (!out.is_valid() || PyDict_SetItem(out.ptr(), key, value) != 0) throw nb::python_error();
    }
  };
  // ...or a row for the core, of a schema that lets no value through as it is.
  struct RowSink {
    static constexpr bool kLists = false;
    const DictFormat& format;
    ReadEvent row{};

    void number(std::size_t c, float value) {
      const SchemaColumn& column = format.columns_[c];
      row.add(column.key, column.name, value);
    }
    void add(std::string_view feature) {
      if (feature.size() > std::size_t{1} << 16)
        throw nb::value_error("a feature's name or value is longer than 64 KiB");
      row.add(key_of_name(feature.data(), feature.size()), feature, 1);
    }
    void set(PyObject*, PyObject*) noexcept {}
  };

  // One dict. `any`: values may be of other kinds than Python's own.
  template <class Sink>
  struct Reader {
    const DictFormat& format;
    bool any;
    Sink sink;
    std::vector<bool> seen = std::vector<bool>(format.missing_ ? format.columns_.size() : 0);

    // False: there is a value of another kind, or one that the sink does not take.
    bool read(PyObject* features) {
      Py_ssize_t at = 0;
      PyObject *key, *value;
      std::size_t likely = 0;
      while (PyDict_Next(features, &at, &key, &value)) {
        if (!PyUnicode_Check(key)) throw nb::type_error("a feature's name must be a string");
        const std::string_view name = text_of(key);
        const std::size_t c = format.columns_.find(name, likely);
        if (c == SchemaColumns::kNone) {
          if (!take_unknown(key, name, value)) return false;
          continue;
        }
        likely = c + 1;
        if (!seen.empty()) seen[c] = true;
        if (!take(c, value)) return false;
      }
      if (!format.open_)
        for (std::size_t c = 0; c < seen.size(); ++c)
          if (!seen[c] && is_feature(format.columns_[c].role)) set_missing(format.columns_[c]);
      return true;
    }

    bool take_unknown(PyObject* key, std::string_view name, PyObject* value) {
      if (!format.open_ && value != Py_None) format.refuse(name);
      if (format.open_) take_free(key, name, value);
      return true;
    }

    // A value that says what it is, or where texts stay as they are written its name.
    void take_free(PyObject* key, std::string_view name, PyObject* value) {
      const bool text = PyUnicode_Check(value);
      if (!format.as_written_ || !(text || PyList_Check(value) || PyTuple_Check(value)))
        return sink.set(key, value);
      SchemaColumn column;
      column.role = ColumnRole::category;
      column.set_name(name);
      return text ? set_category(column, text_of(value)) : take_list(column, value);
    }

    bool take(std::size_t c, PyObject* value) {
      const SchemaColumn& column = format.columns_[c];
      if (!is_feature(column.role)) return true;
      if (column.role == ColumnRole::free) {
        const int truth = column.numeric && PyUnicode_Check(value) ? truth_of(text_of(value)) : -1;
        if (truth >= 0) {
          sink.number(c, static_cast<float>(truth));
        } else {
          take_free(format.keys_[c].ptr(), column.name, value);
        }
        return true;
      }
      if (value == Py_None) return set_missing(column), true;
      if (PyFloat_CheckExact(value)) return take_number(c, PyFloat_AS_DOUBLE(value), value), true;
      if (PyUnicode_Check(value)) return take_text(c, text_of(value)), true;
      if (PyBool_Check(value) || PyLong_CheckExact(value)) return take_whole(c, value), true;
      if (PyList_Check(value) || PyTuple_Check(value)) {
        if (Sink::kLists) take_list(column, value);
        return Sink::kLists;
      }
      return any && take_other(c, value);
    }

    bool take_other(std::size_t c, PyObject* value) {  // NumPy's scalars
      if (PyFloat_Check(value)) return take_number(c, PyFloat_AS_DOUBLE(value), value), true;
      const nb::object number = nb::steal(PyObject_CallMethod(value, "item", nullptr));
      if (!number.is_valid() || Py_TYPE(number.ptr()) == Py_TYPE(value)) {
        PyErr_Clear();
        format.fail(format.columns_[c], "the value must be a number, a string, a bool or a list of strings");
      }
      return take(c, number.ptr());
    }

    void take_number(std::size_t c, double x, PyObject* value) {
      const SchemaColumn& column = format.columns_[c];
      if (std::isnan(x)) return set_missing(column);
      if (column.role != ColumnRole::category) return set_number(c, x);
      char* const shown = PyOS_double_to_string(x, 'r', 0, 0, nullptr);
      if (shown == nullptr) throw nb::python_error();
      const std::string word(shown);
      PyMem_Free(shown);
      set_category(column, word);
      static_cast<void>(value);
    }

    void take_whole(std::size_t c, PyObject* value) {
      const SchemaColumn& column = format.columns_[c];
      if (column.role != ColumnRole::category) {
        const double x = PyFloat_AsDouble(value);
        if (x == -1 && PyErr_Occurred()) throw nb::python_error();
        return set_number(c, x);
      }
      if (PyBool_Check(value)) return set_category(column, value == Py_True ? "true" : "false");
      const nb::object shown = nb::steal(PyObject_Str(value));
      if (!shown.is_valid()) throw nb::python_error();
      set_category(column, text_of(shown.ptr()));
    }

    void take_text(std::size_t c, std::string_view word) {
      const SchemaColumn& column = format.columns_[c];
      if (column.role == ColumnRole::category) {
        return format.is_absent(word) ? set_missing(column) : set_category(column, word);
      }
      while (!word.empty() && is_blank(word.front())) word.remove_prefix(1);
      while (!word.empty() && is_blank(word.back())) word.remove_suffix(1);
      if (word.empty() || means_missing(word) || format.is_absent(word)) return set_missing(column);
      if (const int truth = truth_of(word); truth >= 0) return set_number(c, truth);
      float x = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
      if (error != std::errc() || end != word.data() + word.size())
        format.fail(column, "the model was trained with numbers there, but here is a text");
      set_number(c, static_cast<double>(x));
    }

    void take_list(const SchemaColumn& column, PyObject* value) {
      if (column.role != ColumnRole::category)
        format.fail(column, "the model was trained with numbers there, but here is a list");
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
        PyObject* const item = PySequence_Fast_ITEMS(value)[i];
        if (!PyUnicode_Check(item)) format.fail(column, "a list must hold strings");
        set_category(column, text_of(item));
      }
    }

    void set_number(std::size_t c, double exact) {
      const SchemaColumn& column = format.columns_[c];
      const auto x = static_cast<float>(exact);
      if (!std::isfinite(x)) format.fail(column, "the value is infinite or beyond a 32-bit float");
      if (column.role == ColumnRole::bucket) return sink.add(column.bucket_name(x));
      const float value = column.value_of(x);
      if (!std::isfinite(value)) format.fail(column, "the value is beyond a 32-bit float");
      sink.number(c, value);
    }

    void set_missing(const SchemaColumn& column) {
      if (format.missing_) sink.add(column.absent);
    }

    void set_category(const SchemaColumn& column, std::string_view word) {
      name.assign(column.prefix);
      name.append(format.as_written_ ? word : as_category(word));
      sink.add(name);
    }

    std::string name;
  };

  bool is_absent(std::string_view word) const noexcept {
    for (const std::string& one : absent_)
      if (word == one) return true;
    return false;
  }
  [[noreturn]] void refuse(std::string_view name) const {
    std::string known;
    for (const SchemaColumn& column : columns_) known += (known.empty() ? "'" : ", '") + column.name + "'";
    throw nb::value_error(("'" + std::string(name.substr(0, 80)) +
                           "' was not there before: the model was trained with " + known.substr(0, 400) +
                           "; leave it out")
                              .c_str());
  }
  [[noreturn]] static void fail(const SchemaColumn& column, const char* what) {
    throw nb::value_error(("column '" + column.name.substr(0, 80) + "': " + what).c_str());
  }

  SchemaColumns columns_;
  const bool open_, missing_;
  const bool as_written_;  // texts are names as they stand there, also True and FALSE
  bool simple_ = true;     // the features of a dict can be a row at once
  std::vector<std::string> absent_;
  std::vector<nb::object> keys_;  // the names, for Python
  nb::object one_;
};

}  // namespace

void bind_dicts(nb::module_& m) {
  nb::class_<DictFormat>(m, "DictFormat", "How to read dicts by a schema.")
      .def(nb::init<const std::vector<ColumnSpec>&, bool, const std::vector<std::string>&, bool, bool>(),
           "columns"_a, "open"_a, "absent"_a, "missing"_a, "as_written"_a = false)
      .def("read", &DictFormat::read, "features"_a,
           nb::sig("def read(self, features: Mapping[str, object]) -> dict[str, object]"),
           "The features that a dict means, as names and numbers; a ValueError where it does not fit.")
      .def("event", &DictFormat::event, "features"_a,
           nb::sig("def event(self, features: Mapping[str, object]) -> Mapping[str, object]"),
           "The same, as events of the core take it: not always a dict.");
  nb::class_<ReadEvent>(m, "ReadEvent", "A dict that was read by a schema.");
}

}  // namespace riata::bind
