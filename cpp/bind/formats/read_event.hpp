// A dict that was read by a schema, before it is learned or scored.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace riata::bind {

// Its features, none of them twice and none of them zero.
struct ReadEvent {
  std::vector<std::int64_t> keys;  // by the default hash
  std::vector<float> values;
  std::vector<std::size_t> name_ends;
  std::string names;

  void reserve(std::size_t features) {
    keys.reserve(features);
    values.reserve(features);
    name_ends.reserve(features);
    names.reserve(16 * features);
  }
  void add(std::uint64_t key, std::string_view name, float value) {
    if (value == 0) return;
    keys.push_back(static_cast<std::int64_t>(key));
    values.push_back(value);
    names += name;
    name_ends.push_back(names.size());
  }
  std::string_view name(std::size_t k) const noexcept {
    const std::size_t begin = k == 0 ? 0 : name_ends[k - 1];
    return std::string_view(names).substr(begin, name_ends[k] - begin);
  }
};

// The text of a string of Python, which owns it.
inline std::string_view text_of(PyObject* string) {
  Py_ssize_t size = PyUnicode_GET_LENGTH(string);
  if (PyUnicode_IS_COMPACT_ASCII(string))
    return {reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(string)), static_cast<std::size_t>(size)};
  const char* const data = PyUnicode_AsUTF8AndSize(string, &size);
  if (data == nullptr) {
    PyErr_Clear();
    throw nanobind::value_error(
        "a feature's name or value has half a character (a lone surrogate): not text");
  }
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace riata::bind
