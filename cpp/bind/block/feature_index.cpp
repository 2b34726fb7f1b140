// Names of features and their numbers.
#include "riata/block/feature_index.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

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

// The numbers of these keys; where names come along, new ones join, otherwise an unknown key is -1.
Out<std::int32_t> translate(SharedIndex& shared, const In<std::int64_t>& keys,
                            const std::optional<In<std::uint8_t>>& names,
                            const std::optional<In<std::int64_t>>& offsets) {
  if (names.has_value() != offsets.has_value() || (offsets && offsets->size() != keys.size() + 1))
    throw nb::value_error("keys and names differ in length");
  if (offsets) check_names(*names, *offsets, keys.size());
  NewArray<std::int32_t> numbers(keys.size());
  FeatureIndex& index = shared.index;
  if (names) {
    writing(shared, [&] {
      for (std::size_t k = 0; k < keys.size(); ++k) {
        const std::int64_t start = offsets->data()[k], stop = offsets->data()[k + 1];
        const auto* text = reinterpret_cast<const char*>(names->data()) + start;
        numbers.get()[k] = index.add(keys.data()[k], {text, static_cast<std::size_t>(stop - start)});
      }
    });
  } else {
    reading(shared, [&] {
      for (std::size_t k = 0; k < keys.size(); ++k) numbers.get()[k] = index.find(keys.data()[k]);
    });
  }
  return give(std::move(numbers));
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
            FeatureIndex now = reading(s, [&] { return s.index; });
            std::vector<std::int64_t> offsets{0};
            offsets.insert(offsets.end(), now.ends().begin(), now.ends().end());
            return std::make_tuple(give(std::vector<std::int64_t>(now.keys())),
                                   give(std::vector<std::uint8_t>(now.names().begin(), now.names().end())),
                                   give(std::move(offsets)));
          },
          "Keys, names and name offsets, by number.")
      .def("__len__", [](const SharedIndex& s) { return glancing(s, [&] { return s.index.size(); }); });
}

}  // namespace riata::bind
