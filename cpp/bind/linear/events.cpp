// Single events: a dict of features to a row of keys and values, without a detour through arrays.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory_resource>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/base/hash_key.hpp"
#include "bind/formats/read_event.hpp"
#include "bind/outcome.hpp"
#include "bind/turns.hpp"
#include "riata/base/hash.hpp"
#include "riata/base/probe_table.hpp"
#include "riata/linear/linear.hpp"
#include "riata/text/truths.hpp"

namespace riata::bind {

namespace {

// What goes into the key of a name of up to eight bytes, by their number.
struct Short {
  std::uint64_t mask, low, high;
};
using Shorts = std::array<Short, 9>;
constexpr Shorts shorts_of(HashKey hash_key) noexcept {
  Shorts all{};
  for (std::size_t size = 0; size < all.size(); ++size) {
    all[size].mask = size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
    key_seeds(size, all[size].low, all[size].high, hash_key);
  }
  return all;
}
constexpr Shorts kShorts = shorts_of({});

// The features of one event. "key" with a number; "key=value" with 1 for a string; several of these for a
// list. The dict stays as it is while there is an Event of it: names are where Python has them.
class Event {
 public:
  Event(nb::handle features, HashKey hash_key) : hash_key_(hash_key) {
    if (hash_key != HashKey{}) {
      own_shorts_ = shorts_of(hash_key);
      shorts_ = &own_shorts_;
    }
#ifndef Py_GIL_DISABLED  // without that lock, another thread may change the dict at any moment
    if (PyDict_CheckExact(features.ptr()) && read(features.ptr(), false)) return;
#endif
    if (const ReadEvent* found = nullptr; nb::try_cast(features, found, false)) {
      take(*found);
      return;
    }
    // Another kind of mapping, or some value is converted by code that may do anything, even change the dict.
    own_ = nb::steal(PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyDict_Type), features.ptr()));
    if (!own_.is_valid()) throw nb::python_error();
    read(own_.ptr(), true);
  }

  BlockView<std::int64_t> view(const double* label, const double* weight) noexcept {
    pointers_[1] = static_cast<std::int64_t>(size_);
    return {1, pointers_[1], pointers_, keys_, values_, label, weight, nullptr, nullptr, names_};
  }
  // From here on the dict may change: names are copied.
  void detach() {
    for (std::size_t k = 0; k < size_; ++k) {
      auto* const own = allocate<char>(names_[k].size());
      std::memcpy(own, names_[k].data(), names_[k].size());
      names_[k] = {own, names_[k].size()};
    }
  }
  // For learners that want Blocks.
  nb::tuple arrays() const {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> offsets = {0};
    for (std::size_t k = 0; k < size_; ++k) {
      bytes.insert(bytes.end(), names_[k].begin(), names_[k].end());
      offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
    return nb::make_tuple(give(std::vector<std::int64_t>(keys_, keys_ + size_)),
                          give(std::vector<float>(values_, values_ + size_)), give(std::move(bytes)),
                          give(std::move(offsets)));
  }

 private:
  struct Item {
    PyObject *key, *value;
  };

  // What was read by a schema; its names stay where they are.
  void take(const ReadEvent& found) {
    grow(found.keys.size() + 1);
    for (size_ = 0; size_ < found.keys.size(); ++size_) {
      const std::string_view name = found.name(size_);
      keys_[size_] = shorts_ == &kShorts
                         ? found.keys[size_]
                         : static_cast<std::int64_t>(key_of_name(name.data(), name.size(), hash_key_));
      values_[size_] = found.values[size_];
      names_[size_] = name;
    }
  }

  // False: a value is neither a number nor a string of Python's own, and `any` is not wanted.
  bool read(PyObject* features, bool any) {
    const auto n = static_cast<std::size_t>(PyDict_GET_SIZE(features));
    grow(n + 1);
    auto* const items = allocate<Item>(n);
    // All items are fetched before the first is read: names and values are all over the memory, and come
    // from there while the others are looked up.
    std::size_t count = 0;
    Py_ssize_t at = 0;
    for (; count < n && PyDict_Next(features, &at, &items[count].key, &items[count].value); ++count) {
      __builtin_prefetch(items[count].key);
      __builtin_prefetch(items[count].value);
    }
    bool repeated = false;
    size_ = 0;
    for (std::size_t k = 0; k < count; ++k) {
      k = add_floats(items, k, count);
      if (k == count) break;
      if (!add_other(items[k].key, items[k].value, any, repeated)) return false;
      if (capacity_ - size_ < count - k) grow(capacity_ + count);
    }
    if (repeated) merge_repeated();
    return true;
  }

  // Nearly all features: an ASCII name and a float. Adds those from k on, up to one that is not like that or has
  // something wrong with it: its number.
  std::size_t add_floats(const Item* items, std::size_t k, std::size_t count) noexcept {
    std::int64_t* const keys = keys_;
    float* const values = values_;
    std::string_view* const names = names_;
    std::size_t size = size_;
    for (; k < count; ++k) {
      PyObject *const key = items[k].key, *const value = items[k].value;
      if (Py_TYPE(key) != &PyUnicode_Type || Py_TYPE(value) != &PyFloat_Type) break;
      const auto length = static_cast<std::size_t>(PyUnicode_GET_LENGTH(key));
      const auto x = static_cast<float>(PyFloat_AS_DOUBLE(value));
      if (!PyUnicode_IS_COMPACT_ASCII(key) || length > kLongest || !std::isfinite(x)) break;
      const char* name = reinterpret_cast<const char*>(reinterpret_cast<PyASCIIObject*>(key) + 1);
      keys[size] = static_cast<std::int64_t>(length <= 8 ? key_of_short(name, length)
                                                         : key_of_name(name, length, hash_key_));
      values[size] = x;
      names[size] = {name, length};
      size += x != 0;  // there is room for one that does not count
    }
    size_ = size;
    return k;
  }
  // Of at most eight characters. Python keeps them at an address divisible by eight, with a zero behind them,
  // so that eight bytes from there lie in one page, whatever the last of them are.
  __attribute__((no_sanitize("address"))) std::uint64_t key_of_short(const char* name,
                                                                     std::size_t size) const noexcept {
    static_assert(sizeof(PyASCIIObject) % 8 == 0);
    std::uint64_t word;
    std::memcpy(&word, name, sizeof word);
    const Short& with = (*shorts_)[size];
    return fold((word & with.mask) ^ with.low, with.high) >> 1;
  }
  bool add_other(PyObject* key, PyObject* value, bool any, bool& repeated) {
    const std::string_view name = name_of(key);
    repeated = repeated || !PyUnicode_CheckExact(key);
    if (PyFloat_Check(value)) {
      number(name, PyFloat_AS_DOUBLE(value));
    } else if (PyUnicode_Check(value) || PyList_Check(value) || PyTuple_Check(value)) {
      categories(name, value);
      repeated = true;
    } else if (any || PyLong_CheckExact(value) || PyBool_Check(value) || value == Py_None) {
      other(name, value);
    } else {
      return false;
    }
    return true;
  }

  static std::string_view name_of(PyObject* key) {
    if (!PyUnicode_Check(key)) {
      throw nb::type_error(
          ("a feature's name must be a string, not " + std::string(Py_TYPE(key)->tp_name)).c_str());
    }
    return text(key);
  }

  static std::string_view text(PyObject* object) {
    const std::string_view all = text_of(object);
    if (all.size() > kLongest) throw nb::value_error("a feature's name or value is longer than 64 KiB");
    return all;
  }

  void categories(std::string_view name, PyObject* value) {
    if (PyUnicode_Check(value)) return category(name, text(value));
#ifdef Py_GIL_DISABLED
    // `category` copies its text: the strings need not outlive the tuple.
    const nb::object own = nb::steal(PySequence_Tuple(value));
    if (!own.is_valid()) throw nb::python_error();
    value = own.ptr();
#endif
    PyObject** items = PySequence_Fast_ITEMS(value);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
      if (!PyUnicode_Check(items[i])) fail(name, "a list must hold strings");
      category(name, text(items[i]));
    }
  }
  void other(std::string_view name, PyObject* value) {  // bool, int, NumPy's scalars: whatever is a number
    if (value == Py_None) return;
    const double x = PyFloat_AsDouble(value);
    if (x == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      fail(name, "the value must be a number, a string, a bool or a list of strings");
    }
    number(name, x);
  }

  void number(std::string_view name, double x) {
    const auto value = static_cast<float>(x);
    if (!std::isfinite(value)) fail(name, "the value is NaN, infinite or beyond a 32-bit float");
    if (value != 0) add(name, value);
  }
  void category(std::string_view name, std::string_view value) {
    value = as_category(value);
    auto* const both = allocate<char>(name.size() + 1 + value.size());
    std::memcpy(both, name.data(), name.size());
    both[name.size()] = '=';
    std::memcpy(both + name.size() + 1, value.data(), value.size());
    add({both, name.size() + 1 + value.size()}, 1);
  }
  void add(std::string_view name, float value) {
    if (size_ == capacity_) grow(2 * capacity_);
    keys_[size_] = static_cast<std::int64_t>(key_of_name(name.data(), name.size(), hash_key_));
    values_[size_] = value;
    names_[size_] = name;
    ++size_;
  }

  // {"a": ["b", "b"]}, or {"a": "b", "a=b": 1}: rare, but a row holds each feature once. Values add up.
  void merge_repeated() {
    ProbeTable<std::uint32_t> entries;  // 1 + the number of the entry with this key
    const auto is_empty = [](std::uint32_t cell) { return cell == 0; };
    const auto key_of = [this](std::uint32_t cell) { return static_cast<std::uint64_t>(keys_[cell - 1]); };
    std::size_t kept = 0;
    for (std::size_t k = 0; k < size_; ++k) {
      const auto key = static_cast<std::uint64_t>(keys_[k]);
      if (entries.is_full() && !entries.grow(is_empty, key_of)) throw std::bad_alloc();
      std::uint32_t* const cell =
          entries.find(key, [&](std::uint32_t other) { return other == 0 || key_of(other) == key; });
      if (*cell != 0) {
        values_[*cell - 1] += values_[k];
        continue;
      }
      keys_[kept] = keys_[k];
      values_[kept] = values_[k];
      names_[kept] = names_[k];
      entries.put(cell, key, static_cast<std::uint32_t>(++kept));
    }
    size_ = kept;
  }

  [[noreturn]] static void fail(std::string_view name, const char* what) {
    throw nb::value_error(("feature '" + std::string(name.substr(0, 80)) + "': " + what).c_str());
  }

  // Memory goes with the Event: no need to give any back.
  template <class T>
  T* allocate(std::size_t n) {
    return static_cast<T*>(memory_.allocate(n * sizeof(T), alignof(T)));
  }
  void grow(std::size_t capacity) {
    const auto more = [&](auto*& array) {
      using T = std::remove_reference_t<decltype(*array)>;
      T* const larger = allocate<T>(capacity);
      std::copy_n(array, size_, larger);
      array = larger;
    };
    more(keys_), more(values_), more(names_);
    capacity_ = capacity;
  }

  static constexpr std::size_t kLongest = 1 << 16;
  alignas(16) std::byte room_[1 << 13];
  std::pmr::monotonic_buffer_resource memory_{room_, sizeof room_};
  HashKey hash_key_;
  const Shorts* shorts_ = &kShorts;
  Shorts own_shorts_;
  nb::object own_;
  std::int64_t pointers_[2] = {0, 0};
  std::int64_t* keys_ = nullptr;
  float* values_ = nullptr;
  std::string_view* names_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

void check_event(double label, double weight) {
  if (!std::isfinite(label)) throw nb::value_error("a label must be a finite number");
  if (!(weight >= 0 && std::isfinite(weight)))
    throw nb::value_error("a weight must be a finite number, and not negative");
}

// Room for the scores of one event, for most models without an allocation.
class Scores {
 public:
  explicit Scores(const Linear& model) : size_(model.intercept.size()) {
    if (size_ > kFew) many_.resize(size_);
  }
  double* data() noexcept { return size_ > kFew ? many_.data() : few_; }
  nb::object list() {
    nb::object out = nb::steal(PyList_New(static_cast<Py_ssize_t>(size_)));
    if (!out.is_valid()) throw nb::python_error();
    for (std::size_t c = 0; c < size_; ++c) {
      PyObject* score = PyFloat_FromDouble(data()[c]);
      if (score == nullptr) throw nb::python_error();
      PyList_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(c), score);
    }
    return out;
  }

 private:
  static constexpr std::size_t kFew = 16;
  std::size_t size_;
  double few_[kFew];
  std::vector<double> many_;
};

}  // namespace

void bind_events(nb::module_& m) {
  m.def(
      "event",
      [](nb::handle features, nb::handle hash_key) {
        return Event(features, hash_key_from(hash_key)).arrays();
      },
      nb::arg("features"), nb::arg("hash_key").none() = nb::none(),
      nb::sig(
          "def event(features: Mapping[str, object], hash_key: bytes | None = None) -> "
          "tuple[NDArray[numpy.int64], NDArray[numpy.float32], NDArray[numpy.uint8], NDArray[numpy.int64]]"),
      "The keys, values, names and name offsets of one event.");
  m.def(
      "set_hash_key",
      [](Linear& model, nb::handle hash_key) {
        const HashKey key = hash_key_from(hash_key);
        if (model.hash_key != key) writing(model, [&] { return model.hash_key = key; });
      },
      nb::arg("model"), nb::arg("hash_key").none(),
      nb::sig("def set_hash_key(model: Linear, hash_key: bytes | None) -> None"),
      "By which hash events' names get their keys.");
  m.def("check_event", &check_event, nb::arg("label"), nb::arg("weight"),
        "ValueError if one cannot be learned.");
  m.def(
      "learn_event",
      [](Linear& model, nb::handle features, double label, double weight) {
        check_event(label, weight);
        Event event(features, model.hash_key);
        Scores scores(model);
        const auto learn = [&] {
          return model.learn(event.view(&label, &weight), nullptr, 1, scores.data());
        };
        Outcome outcome;
        if (model.guard.try_lock()) {
          const std::unique_lock alone(model.guard, std::adopt_lock);
          outcome = learn();
        } else {
          event.detach();
          outcome = writing(model, learn);
        }
        check(outcome);
        return outcome.done == 1 ? scores.list() : nb::none();
      },
      nb::arg("model"), nb::arg("features"), nb::arg("label"), nb::arg("weight"),
      nb::sig(
          "def learn_event(model: Linear, features: Mapping[str, object], label: float, weight: float) -> "
          "list[float] | None"),
      "The scores before learning; None where the model has diverged, and has not learned.");
  m.def(
      "score_event",
      [](const Linear& model, nb::handle features) {
        Event event(features, model.hash_key);
        Scores scores(model);
        const auto score = [&] { return model.score(event.view(nullptr, nullptr), scores.data()); };
        if (model.guard.try_lock_shared()) {
          const std::shared_lock together(model.guard, std::adopt_lock);
          score();
        } else {
          event.detach();
          reading(model, score);
        }
        return scores.list();
      },
      nb::arg("model"), nb::arg("features"),
      nb::sig("def score_event(model: Linear, features: Mapping[str, object]) -> list[float]"));
}

}  // namespace riata::bind
