// Names of features and their numbers.
#include "riata/block/feature_index.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/block_view.hpp"
#include "bind/turns.hpp"
#include "riata/base/model_lock.hpp"

namespace riata::bind {

namespace {

struct SharedIndex {  // some threads score while one learns
  FeatureIndex index;
  mutable ModelLock guard;
};

constexpr std::size_t kAhead = 32;  // so many keys before they are looked up, their cells are asked for

constexpr std::size_t kStrayed = 1000;
constexpr std::int32_t kJump = 1000;

void look_ahead(const FeatureIndex& index, const In<std::int64_t>& keys, std::size_t k) noexcept {
  if (k + kAhead >= keys.size()) return;
  index.prefetch(keys.data()[k + kAhead]);
  index.prefetch_key(keys.data()[k + kAhead / 2]);
}

// The numbers of these keys; where names come along, new ones join, otherwise an unknown key is -1.
Out<std::int32_t> translate(SharedIndex& shared, const In<std::int64_t>& keys,
                            const std::optional<In<std::uint8_t>>& names,
                            const std::optional<In<std::int64_t>>& offsets) {
  if (names.has_value() != offsets.has_value() || (offsets && offsets->size() != keys.size() + 1))
    throw nb::value_error("keys and names differ in length");
  if (offsets) check_names(*names, *offsets, keys.size());
  NewArray<std::int32_t> numbers(keys.size());
  FeatureIndex& index = shared.index;
  std::int32_t* const out = numbers.get();
  const auto find_all = [&] {  // how many are not there
    std::size_t missing = 0, strayed = 0;
    std::int32_t last = -1;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      look_ahead(index, keys, k);
      const std::int64_t key = keys.data()[k];
      const bool in_order = strayed <= kStrayed + k / 4;  // or they have an order of their own
      std::int32_t found = in_order ? index.find_near(last + 1, key) : -1;
      if (found < 0) {
        found = index.find(key);
        ++strayed;
      }
      if (found > last && found < last + kJump) last = found;
      missing += (out[k] = found) < 0;
    }
    return missing;
  };
  if (!names) {
    reading(shared, find_all);
    return give(std::move(numbers));
  }
  writing(shared, [&] {
    const std::int64_t* const starts = offsets->data();
    if (index.size() == 0) {  // and some more: what is not used is not there
      const std::size_t n = keys.size(), bytes = static_cast<std::size_t>(starts[n] - starts[0]);
      index.reserve(n + n / 8, bytes + bytes / 8);
    }
    if (find_all() == 0) return;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (out[k] >= 0) continue;
      const auto* text = reinterpret_cast<const char*>(names->data()) + starts[k];
      out[k] = index.add(keys.data()[k], {text, static_cast<std::size_t>(starts[k + 1] - starts[k])});
    }
  });
  return give(std::move(numbers));
}

// Each row of `rows` to that of `into` whose number is given.
void add_rows(nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> into,
              const In<std::int32_t>& places, const In2<double>& rows) {
  const std::size_t n = places.size(), width = rows.shape(1);
  bool good = into.shape(1) == width && rows.shape(0) == n;
  for (std::size_t k = 0; good && k < n; ++k)
    good = places.data()[k] >= 0 && static_cast<std::size_t>(places.data()[k]) < into.shape(0);
  if (!good) throw nb::value_error("the rows do not fit together");
  double* const sums = into.data();
  const double* from = rows.data();
  const nb::gil_scoped_release nogil;
  for (std::size_t k = 0; k < n; ++k) {
    if (k + kAhead < n)
      __builtin_prefetch(sums + static_cast<std::size_t>(places.data()[k + kAhead]) * width, 1);
    double* const to = sums + static_cast<std::size_t>(places.data()[k]) * width;
    for (std::size_t j = 0; j < width; ++j) to[j] += *from++;
  }
}

}  // namespace

void bind_feature_index(nb::module_& m) {
  nb::class_<SharedIndex>(m, "FeatureIndex", "Named features, numbered as they come.")
      .def(nb::init<>())
      .def("translate", &translate, nb::arg("keys"), nb::arg("names").none(), nb::arg("offsets").none())
      .def("name",
           [](const SharedIndex& s, std::size_t number) {
             const auto name = reading(s, [&]() -> std::optional<std::string> {
               if (number >= s.index.size()) return std::nullopt;
               return std::string(s.index.name(number));
             });
             if (!name) throw nb::index_error("no such feature");
             return nb::bytes(name->data(), name->size());
           })
      .def(
          "arrays",
          [](const SharedIndex& s) {
            FeatureIndex::Arrays now = reading(s, [&] { return s.index.arrays(); });
            return std::make_tuple(give(std::move(now.keys)), give(std::move(now.names)),
                                   give(std::move(now.offsets)));
          },
          "Keys, names and name offsets, by number.")
      .def(
          "take",
          [](SharedIndex& s) {
            FeatureIndex::Arrays now = writing(s, [&] { return s.index.take(); });
            return std::make_tuple(give(std::move(now.keys)), give(std::move(now.names)),
                                   give(std::move(now.offsets)));
          },
          "The same without a copy: nothing is left here.")
      .def("__len__", [](const SharedIndex& s) { return glancing(s, [&] { return s.index.size(); }); });
  m.def("add_rows", &add_rows, nb::arg("into").noconvert(), nb::arg("places"), nb::arg("rows"),
        "Add each row to that of `into` whose number is given.");
}

}  // namespace riata::bind
