// The names of a cache, checked once, for many Blocks.
#pragma once

#include <utility>

#include "bind/arrays.hpp"
#include "riata/base/array.hpp"
#include "riata/block/name_list.hpp"

namespace riata::bind {

class NameList {
 public:
  NameList(nb::object names, nb::object name_offsets, std::uint32_t base)
      : names_(std::move(names)), offsets_(std::move(name_offsets)) {
    const auto text = nb::cast<In<std::uint8_t>>(names_, false);
    const auto ends = nb::cast<In<std::int64_t>>(offsets_, false);
    if (ends.size() == 0) throw nb::value_error("offsets are empty");
    view.size = ends.size() - 1;
    view.base = base;
    view.names = reinterpret_cast<const char*>(text.data());
    view.names_size = text.size();
    view.name_offsets = ends.data();
    bool good = view.name_offsets[0] == 0;
    for (std::size_t i = 0; good && i < view.size; ++i)
      good = view.name_offsets[i] <= view.name_offsets[i + 1];
    if (!good || view.name_offsets[view.size] != static_cast<std::int64_t>(text.size()))
      throw nb::value_error("names and offsets do not fit together");
  }

  void check(const In<std::uint32_t>& numbers) const {
    bool good = false;
    {
      nb::gil_scoped_release release;
      good = view.holds(numbers.data(), numbers.size());
    }
    if (!good) throw nb::value_error("a number of no feature");
  }

  NameListView view;

 private:
  // As objects, which end properly while Python does: as arrays of the core they would outlive it.
  nb::object names_, offsets_;
};

}  // namespace riata::bind
