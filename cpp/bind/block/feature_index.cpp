// Names of features and their numbers.
#include "riata/block/feature_index.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <string_view>
#include <tuple>

#include "bind/arrays.hpp"

namespace riata::bind {

namespace {

// The numbers of these keys; where names come along, new ones join, otherwise an unknown key is -1.
Out<std::int32_t> translate(FeatureIndex& feature_index, const In<std::int64_t>& keys,
                            const std::optional<In<std::uint8_t>>& names,
                            const std::optional<In<std::int64_t>>& offsets) {
  if (names.has_value() != offsets.has_value() || (offsets && offsets->size() != keys.size() + 1))
    throw nb::value_error("keys and names differ in length");
  Fresh<std::int32_t> numbers(keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (!names) {
      numbers.get()[k] = feature_index.find(keys.data()[k]);
      continue;
    }
    const std::int64_t start = offsets->data()[k], stop = offsets->data()[k + 1];
    if (start < 0 || stop < start || static_cast<std::size_t>(stop) > names->size())
      throw nb::value_error("a name lies outside of the names");
    const auto* text = reinterpret_cast<const char*>(names->data()) + start;
    numbers.get()[k] = feature_index.add(keys.data()[k], {text, static_cast<std::size_t>(stop - start)});
  }
  return give(std::move(numbers));
}

}  // namespace

void bind_lexicon(nb::module_& m) {
  nb::class_<FeatureIndex>(m, "FeatureIndex", "Named features, numbered as they come.")
      .def(nb::init<>())
      .def("translate", &translate, nb::arg("keys"), nb::arg("names").none(), nb::arg("offsets").none())
      .def("name",
           [](const FeatureIndex& l, std::size_t number) {
             if (number >= l.size()) throw nb::index_error("no such feature");
             const std::string_view name = l.name(number);
             return nb::bytes(name.data(), name.size());
           })
      .def(
          "arrays",
          [](const FeatureIndex& l) {
            std::vector<std::int64_t> offsets{0};
            offsets.insert(offsets.end(), l.ends().begin(), l.ends().end());
            return std::make_tuple(give(std::vector<std::int64_t>(l.keys())),
                                   give(std::vector<std::uint8_t>(l.names().begin(), l.names().end())),
                                   give(std::move(offsets)));
          },
          "Keys, names and name offsets, by number.")
      .def("__len__", &FeatureIndex::size);
}

}  // namespace riata::bind
