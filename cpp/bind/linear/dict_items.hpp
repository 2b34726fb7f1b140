// The items of a dict, all of them at once: to ask PyDict_Next for each is a third of learning an event.
//
// CPython 3.11 to 3.13 keep the items of a dict whose keys are strings side by side, behind a head and a hash
// table. Nothing promises that, so it is tried out first on dicts of which all is known; where it does not
// hold, and in any other Python, they are asked for one by one.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

namespace riata::bind {

struct DictItem {
  PyObject *key, *value;
  bool operator==(const DictItem&) const = default;
};

class DictItems {
 public:
  // The items of a dict, at most n of them, to where there is room for n. Returned is how many; `seen` is
  // called with each.
  template <class Seen>
  static std::size_t read(PyObject* dict, DictItem* to, std::size_t n, Seen seen) {
    static const bool tried = try_out();
    std::size_t count = 0;
    if (Entries some; tried && find(dict, some)) {
      for (std::size_t i = 0; i < some.used && count < n; ++i) {
        if (some.items[i].value == nullptr) continue;  // deleted
        seen(to[count++] = some.items[i]);
      }
      return count;
    }
    Py_ssize_t at = 0;
    for (; count < n && PyDict_Next(dict, &at, &to[count].key, &to[count].value); ++count) seen(to[count]);
    return count;
  }

  // Where the items begin, or a little before: to have them come from memory.
  static const char* near_items(PyObject* dict) noexcept {
    return reinterpret_cast<const char*>(reinterpret_cast<PyDictObject*>(dict)->ma_keys);
  }

 private:
  struct Entries {
    const DictItem* items = nullptr;
    std::size_t used = 0;  // deleted ones among them
  };

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED)
  struct Head {
    Py_ssize_t references;
    std::uint8_t log_slots, log_bytes, kind;  // the hash table has 2^log_bytes bytes
    std::uint32_t version;
    Py_ssize_t usable, used;
  };
  static constexpr std::uint8_t kStrings = 1;

  static bool find(PyObject* dict, Entries& out) noexcept {
    const auto* const object = reinterpret_cast<PyDictObject*>(dict);
    const auto* const head = reinterpret_cast<const Head*>(object->ma_keys);
    if (object->ma_values != nullptr || head->kind != kStrings) return false;
    const char* const table = reinterpret_cast<const char*>(head + 1);
    out.items = reinterpret_cast<const DictItem*>(table + (std::size_t{1} << head->log_bytes));
    out.used = static_cast<std::size_t>(head->used);
    return true;
  }

  static bool try_out() noexcept {
    for (const int n : {1, 5, 6, 60, 200, 1000}) {
      PyObject* const dict = PyDict_New();
      const bool fine = dict != nullptr && fill(dict, n) && is_so(dict, n);
      Py_XDECREF(dict);
      PyErr_Clear();
      if (!fine) return false;
    }
    return true;
  }
  // n strings, and one more that goes again.
  static bool fill(PyObject* dict, int n) noexcept {
    for (int i = 0; i <= n; ++i) {
      PyObject* const key = PyUnicode_FromFormat("key %d", i);
      const bool set = key != nullptr && PyDict_SetItem(dict, key, key) == 0;
      Py_XDECREF(key);
      if (!set) return false;
    }
    return PyDict_DelItemString(dict, "key 0") == 0;
  }
  static bool is_so(PyObject* dict, int n) noexcept {
    const auto* const head = reinterpret_cast<const Head*>(reinterpret_cast<PyDictObject*>(dict)->ma_keys);
    if (head->references != 1 || head->log_slots > 12 || head->log_bytes > 14 || head->used != n + 1)
      return false;
    Entries some;
    if (!find(dict, some) || some.items[0].value != nullptr) return false;
    Py_ssize_t at = 0;
    DictItem item;
    int count = 0;
    while (PyDict_Next(dict, &at, &item.key, &item.value)) {
      if (!(some.items[++count] == item)) return false;
    }
    return count == n;
  }
#else
  static bool find(PyObject*, Entries&) noexcept { return false; }
  static bool try_out() noexcept { return false; }
#endif
};

}  // namespace riata::bind
