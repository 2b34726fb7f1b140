// What bindings share of all that keeps the running root mean squares of features.
#pragma once

#include <cstdint>

#include "bind/arrays.hpp"
#include "bind/turns.hpp"
#include "riata/linear/feature_scale.hpp"

namespace riata::bind {

template <class Kept, class Index>
Out<float> apply_scale(const Kept& kept, const In<Index>& indices, const In<float>& values) {
  if (indices.size() != values.size()) throw nb::value_error("as many values as indices are needed");
  NewArray<float> out(values.size());
  reading(kept, [&] {
    kept.scale_values(indices.data(), values.data(), static_cast<std::int64_t>(values.size()), out.get());
    return 0;
  });
  return give(std::move(out));
}

// Kept: ScaleSums with a `guard`.
template <class Kept, class Class>
void bind_scale_sums(Class& bound) {
  bound
      .def("apply", &apply_scale<Kept, std::int32_t>, nb::arg("indices"), nb::arg("values"),
           "The values as they are scored.")
      .def("apply", &apply_scale<Kept, std::int64_t>, nb::arg("indices"), nb::arg("values"))
      .def(
          "roots",
          [](const Kept& kept, const In<std::int64_t>& keys) {
            NewArray<double> out(keys.size());
            reading(kept, [&] {
              kept.roots(keys.data(), static_cast<std::int64_t>(keys.size()), out.get());
              return 0;
            });
            return give(std::move(out));
          },
          nb::arg("keys"), "The root mean squares of features; 1 of those never seen.")
      .def(
          "set_sums",
          [](Kept& kept, const In<std::int64_t>& keys, const In2<double>& sums) {
            if (sums.shape(0) != keys.size() || sums.shape(1) != kScaleSums || !kept.scaled())
              throw nb::value_error("two sums a feature are needed");
            const auto n = static_cast<std::int64_t>(keys.size());
            if (!writing(kept, [&] { return kept.set_scale_sums(keys.data(), sums.data(), n); }))
              throw nb::value_error("a key is out of range, or memory is exhausted");
          },
          nb::arg("keys"), nb::arg("sums"));
}

}  // namespace riata::bind
