// Single events: a dict of features to a row of keys and values, without a detour through arrays.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "outcome.hpp"
#include "riata/hash.hpp"
#include "riata/linear.hpp"

namespace riata::bind {

namespace {

// The features of one event. "key" with a number; "key=value" with 1 for a string; several of these for a
// list.
class Event {
 public:
  explicit Event(nb::dict features) {
    Py_ssize_t at = 0;
    PyObject *key, *value;
    while (PyDict_Next(features.ptr(), &at, &key, &value)) add(key, value);
    merge_repeated();
    pointers_[1] = static_cast<std::int64_t>(keys_.size());
  }

  BlockView<std::int64_t> view(const double* label, const double* weight) const noexcept {
    return {1,     pointers_[1], pointers_,     keys_.data(),   values_.data(),
            label, weight,       names_.data(), offsets_.data()};
  }
  // For tests and for whoever wants Blocks.
  nb::tuple arrays() && {
    return nb::make_tuple(give(std::move(keys_)), give(std::move(values_)),
                          give(std::vector<std::uint8_t>(names_.begin(), names_.end())),
                          give(std::move(offsets_)));
  }

 private:
  static std::string_view text(PyObject* object) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(object, &size);
    if (data == nullptr) throw nb::python_error();
    if (size > kLongest) throw nb::value_error("a feature's name or value is longer than 64 KiB");
    return {data, static_cast<std::size_t>(size)};
  }

  void add(PyObject* key, PyObject* value) {
    if (!PyUnicode_Check(key)) {
      throw nb::type_error(
          ("a feature's name must be a string, not " + std::string(Py_TYPE(key)->tp_name)).c_str());
    }
    const std::string_view name = text(key);
    if (PyFloat_CheckExact(value)) {
      number(name, PyFloat_AS_DOUBLE(value));
    } else if (PyUnicode_Check(value)) {
      category(name, text(value));
    } else if (PyList_Check(value) || PyTuple_Check(value)) {
      PyObject** items = PySequence_Fast_ITEMS(value);
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
        if (!PyUnicode_Check(items[i])) fail(name, "a list must hold strings");
        category(name, text(items[i]));
      }
    } else if (value != Py_None) {  // bool, int, NumPy's scalars: whatever is a number
      const double x = PyFloat_AsDouble(value);
      if (x == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        fail(name, "the value must be a number, a string, a bool or a list of strings");
      }
      number(name, x);
    }
  }

  void number(std::string_view name, double x) {
    const auto value = static_cast<float>(x);
    if (!std::isfinite(value)) fail(name, "the value is NaN, infinite or beyond a 32-bit float");
    if (value == 0) return;
    names_.append(name);
    finish(value);
  }
  void category(std::string_view name, std::string_view value) {
    names_.append(name).append(1, '=').append(value);
    finish(1);
  }

  // The name that stands at the end of names_ becomes an entry.
  void finish(float value) {
    const auto start = static_cast<std::size_t>(offsets_.back());
    keys_.push_back(static_cast<std::int64_t>(key_of_name(names_.data() + start, names_.size() - start)));
    values_.push_back(value);
    offsets_.push_back(static_cast<std::int64_t>(names_.size()));
  }

  // {"a": ["b", "b"]}, or {"a": "b", "a=b": 1}: rare, but a row holds each feature once. Values add up.
  void merge_repeated() {
    std::size_t size = 4;
    while (size < 2 * keys_.size()) size *= 2;
    std::vector<std::uint32_t> places(size, 0);  // 1 + the entry whose key falls here
    std::size_t kept = 0;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      std::size_t at = scatter(static_cast<std::uint64_t>(keys_[k])) >> 20 & (size - 1);
      while (places[at] != 0 && keys_[places[at] - 1] != keys_[k]) at = (at + 1) & (size - 1);
      if (places[at] != 0) {
        values_[places[at] - 1] += values_[k];
        continue;
      }
      if (kept != k) move_entry(k, kept);
      places[at] = static_cast<std::uint32_t>(++kept);
    }
    keys_.resize(kept);
    values_.resize(kept);
    offsets_.resize(kept + 1);
  }
  void move_entry(std::size_t from, std::size_t to) {
    const auto size = static_cast<std::size_t>(offsets_[from + 1] - offsets_[from]);
    std::memmove(names_.data() + offsets_[to], names_.data() + offsets_[from], size);
    keys_[to] = keys_[from];
    values_[to] = values_[from];
    offsets_[to + 1] = offsets_[to] + static_cast<std::int64_t>(size);
  }

  [[noreturn]] static void fail(std::string_view name, const char* what) {
    throw nb::value_error(("feature '" + std::string(name.substr(0, 80)) + "': " + what).c_str());
  }

  static constexpr Py_ssize_t kLongest = 1 << 16;
  std::int64_t pointers_[2] = {0, 0};
  std::vector<std::int64_t> keys_;
  std::vector<float> values_;
  std::string names_;
  std::vector<std::int64_t> offsets_ = {0};
};

}  // namespace

void bind_events(nb::module_& m) {
  m.def(
      "event", [](nb::dict features) { return Event(features).arrays(); }, nb::arg("features"),
      nb::sig("def event(features: dict[str, object]) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32], "
              "NDArray[numpy.uint8], NDArray[numpy.int64]]"),
      "The keys, values, names and name offsets of one event.");
  m.def(
      "learn_event",
      [](Linear& model, nb::dict features, double label, double weight) {
        const Event event(features);
        std::vector<double> scores(model.intercept.size());
        const std::unique_lock alone(model.guard);
        const Outcome outcome = model.learn(event.view(&label, &weight), nullptr, 1, scores.data());
        check(outcome);
        return nb::make_tuple(outcome.done == 1, scores);
      },
      nb::arg("model"), nb::arg("features"), nb::arg("label"), nb::arg("weight"),
      nb::sig("def learn_event(model: Linear, features: dict[str, object], label: float, weight: float) -> "
              "tuple[bool, list[float]]"),
      "The scores before learning, and whether it was learned: not where the model has diverged.");
  m.def(
      "score_event",
      [](const Linear& model, nb::dict features) {
        const Event event(features);
        std::vector<double> scores(model.intercept.size());
        const std::shared_lock together(model.guard);
        model.score(event.view(nullptr, nullptr), scores.data());
        return scores;
      },
      nb::arg("model"), nb::arg("features"),
      nb::sig("def score_event(model: Linear, features: dict[str, object]) -> list[float]"));
}

}  // namespace riata::bind
