// Rows of a column of Parquet, as its pages have them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <variant>

#include "riata/base/array.hpp"
#include "riata/formats/parquet/column.hpp"

namespace riata::bind {

struct Decoded {
  struct Codes : Array<std::int32_t> {};  // of texts; below 0: missing
  std::variant<Codes, Array<std::int32_t>, Array<std::int64_t>, Array<float>, Array<double>> values;
  std::shared_ptr<const parquet::TextDictionary> texts;  // what codes point into
  parquet::Bits bits;                                    // of what is there, where something is missing
  std::size_t missing = 0;

  std::size_t rows() const noexcept {
    return std::visit([](const auto& array) { return array.size(); }, values);
  }

  // Numbers as doubles, NaN where they are missing, perhaps in `room`; null: no memory, or no numbers. With
  // `once` those that are too large for a double are rounded to what will be a float at once, as in text.
  const double* numbers(Array<double>& room, bool once) const noexcept {
    if (const auto* const doubles = std::get_if<Array<double>>(&values)) return doubles->data();
    if (std::holds_alternative<Codes>(values) || !room.reserve(rows() + 1)) return nullptr;
    std::visit(
        [&](const auto& array) {
          for (std::size_t i = 0; i < array.size(); ++i)
            room.data()[i] =
                once ? static_cast<double>(static_cast<float>(array[i])) : static_cast<double>(array[i]);
        },
        values);
    for (std::size_t i = 0; missing > 0 && i < rows(); ++i)
      if (!bits[i]) room.data()[i] = std::numeric_limits<double>::quiet_NaN();
    return room.data();
  }
};

}  // namespace riata::bind
