// What becomes of the keys of JSON objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "riata/block/schema_column.hpp"
#include "riata/text/number.hpp"
#include "riata/text/parse_error.hpp"

namespace riata::json {

using Role = ColumnRole;

inline constexpr int kDeepest = 64;  // objects and lists within each other

struct Format {
  SchemaColumns columns;                 // keys, joined by points where objects are nested
  bool open = true;                      // other keys are features, too
  std::vector<std::string> label_names;  // the label is the place of its text here; empty: a number
  std::vector<std::string> absent;       // texts that mean a missing value
  bool missing = false;                  // null is a feature
  bool labelled = true;
  bool keep_names = true;
  bool as_written = false;  // texts are names as they stand there, also True and FALSE
  Crosses crosses;

  bool is_absent(std::string_view text) const noexcept {
    for (const std::string& one : absent)
      if (text == one) return true;
    return false;
  }
};

struct Place {                 // what is known of a value before it is read
  const SchemaColumn* column;  // null: nothing
  int group;

  Role role() const noexcept { return column == nullptr ? Role::free : column->role; }
};

// What belongs to the example and is no feature.
inline bool is_target(Role role) noexcept {
  return role == Role::label || role == Role::weight || role == Role::offset;
}
inline ErrorKind of_target(Role role, ErrorKind label, ErrorKind weight, ErrorKind offset) noexcept {
  return role == Role::label ? label : role == Role::weight ? weight : offset;
}
inline ErrorKind foreign(Role role) noexcept {
  return of_target(role, "label_kind", "weight_syntax", "offset_syntax");
}
inline ErrorKind not_finite(Role role) noexcept {
  if (!is_target(role)) return "value_not_finite";
  return of_target(role, "label_not_finite", "weight_not_finite", "offset_not_finite");
}
// The number between start and end, behind which stands something that is none.
inline ErrorKind read_target(const char* start, const char* end, Role role, double& value) noexcept {
  const Number<double> number = read_number<double>(start);
  value = number.value;
  if (number.error == NumberError::syntax || number.end != end)
    return of_target(role, "label_syntax", "weight_syntax", "offset_syntax");
  if (number.error == NumberError::none) return nullptr;
  return of_target(role, "label_too_large", "weight_not_finite", "offset_too_large");
}

// 7 is how other formats have 7.0.
inline std::string_view without_zeros(const char* start, const char* end) noexcept {
  const char* last = end;
  while (last[-1] == '0' && last - 1 > start) --last;
  return {start, static_cast<std::size_t>((last[-1] == '.' ? last - 1 : end) - start)};
}

}  // namespace riata::json
