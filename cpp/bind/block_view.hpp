// Arrays from Python as a view of a block, checked.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "bind/arrays.hpp"
#include "riata/block/block.hpp"

namespace riata::bind {

// Names beside entries: as many as there are, ascending, inside the bytes.
inline void check_names(const In<std::uint8_t>& names, const In<std::int64_t>& offsets, std::size_t entries) {
  bool good = offsets.size() == entries + 1 && offsets.data()[0] >= 0 &&
              offsets.data()[entries] <= static_cast<std::int64_t>(names.size());
  std::int64_t odd = 0;  // its sign bit: something is negative that must not be
  for (std::size_t k = 0; good && k < entries; ++k) {
    const std::int64_t length = offsets.data()[k + 1] - offsets.data()[k];
    odd |= length | (std::numeric_limits<std::int32_t>::max() - length);
  }
  good = good && odd >= 0;
  if (!good) throw nb::value_error("names and name_offsets do not fit together");
}

// What is added to the score of each row: a number that a float can hold, or scores might not be finite.
inline const double* check_offsets(const In<double>& offsets, std::int64_t rows) {
  if (static_cast<std::int64_t>(offsets.size()) != rows) throw nb::value_error("offsets differ in length");
  bool good = true;
  for (std::int64_t i = 0; i < rows; ++i)
    good &= std::fabs(offsets.data()[i]) <= std::numeric_limits<float>::max();
  if (!good) throw nb::value_error("offsets must be finite numbers, of at most 3.4e38");
  return offsets.data();
}

template <class Index>
BlockView<Index> view(const In<std::int64_t>& indptr, const In<Index>& indices, const In<float>& values,
                      const std::optional<In<double>>& labels, const std::optional<In<double>>& weights,
                      const std::optional<In<std::uint8_t>>& names,
                      const std::optional<In<std::int64_t>>& name_offsets,
                      const std::optional<In<double>>& offsets = {}) {
  if (indptr.size() < 1) throw nb::value_error("indptr is empty");
  if (indices.size() != values.size()) throw nb::value_error("indices and values differ in length");
  const auto rows = static_cast<std::int64_t>(indptr.size()) - 1;
  if (labels && static_cast<std::int64_t>(labels->size()) != rows)
    throw nb::value_error("labels differ in length");
  if (weights && static_cast<std::int64_t>(weights->size()) != rows)
    throw nb::value_error("weights differ in length");
  BlockView<Index> out{rows,
                       static_cast<std::int64_t>(indices.size()),
                       indptr.data(),
                       indices.data(),
                       values.data(),
                       labels ? labels->data() : nullptr,
                       weights ? weights->data() : nullptr};
  if (offsets) out.offsets = check_offsets(*offsets, rows);
  if (names && name_offsets) {
    check_names(*names, *name_offsets, indices.size());
    out.names = reinterpret_cast<const char*>(names->data());
    out.name_offsets = name_offsets->data();
  }
  return out;
}

}  // namespace riata::bind
