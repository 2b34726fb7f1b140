// The names of a cache, checked once, for many Blocks.
#pragma once

#include <utility>

#include "arrays.hpp"
#include "riata/array.hpp"
#include "riata/glossary.hpp"

namespace riata::bind {

class Glossary {
 public:
  Glossary(In<std::uint8_t> names, In<std::int64_t> name_offsets)
      : names_(std::move(names)), offsets_(std::move(name_offsets)) {
    if (offsets_.size() == 0) throw nb::value_error("offsets are empty");
    view.size = offsets_.size() - 1;
    view.names = reinterpret_cast<const char*>(names_.data());
    view.name_offsets = offsets_.data();
    bool good = view.name_offsets[0] == 0;
    for (std::size_t i = 0; good && i < view.size; ++i)
      good = view.name_offsets[i] <= view.name_offsets[i + 1];
    if (!good || view.name_offsets[view.size] != static_cast<std::int64_t>(names_.size()))
      throw nb::value_error("names and offsets do not fit together");
  }

  void check(const In<std::uint32_t>& numbers) const {
    bool good = false;
    {
      nb::gil_scoped_release release;
      good = view.holds(numbers.data(), numbers.size());
    }
    if (!good) throw nb::value_error("a number beyond the last feature");
  }

  GlossaryView view;

 private:
  In<std::uint8_t> names_;
  In<std::int64_t> offsets_;
};

}  // namespace riata::bind
