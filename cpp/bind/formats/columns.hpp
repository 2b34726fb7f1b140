// Columns of a schema from Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "bind/words/ngrams.hpp"
#include "riata/block/schema_column.hpp"

namespace riata::bind {

// role or kind, name, name of what is missing, value that a sparse row leaves out, edges and names of buckets,
// centre, scale, how texts become n-grams: what `riata.schema.Schema.core_columns` makes
using ColumnSpec = std::tuple<std::string, std::string, std::string, std::string, std::vector<double>,
                              std::vector<std::string>, double, double, TextColumnSpec>;

inline ColumnRole role_of(const std::string& name) {
  constexpr const char* names[] = {"ignored", "label", "weight", "offset",   "free",
                                   "number",  "log1p", "bucket", "category", "text"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (name == names[i]) return static_cast<ColumnRole>(i);
  }
  if (name == "list") return ColumnRole::category;
  if (name == "free_number") return ColumnRole::free;
  throw nanobind::value_error(("unknown role of a column: " + name).c_str());
}

inline std::vector<SchemaColumn> make_columns(const std::vector<ColumnSpec>& specs, const Crosses& crosses) {
  std::vector<SchemaColumn> columns;
  for (const auto& [role, name, missing, omitted, edges, buckets, centre, scale, text] : specs) {
    SchemaColumn& column = columns.emplace_back();
    column.role = role_of(role);
    column.numeric = role == "free_number";
    column.set_name(name);
    column.absent = missing;
    column.omitted = omitted;
    column.group = crosses.group_of(name);
    column.edges = edges;
    column.buckets = buckets;
    column.centre = centre;
    column.scale = scale;
    column.text = text_spec_of(text);
    if (column.role == ColumnRole::bucket && buckets.size() != edges.size() + 1)
      throw nanobind::value_error("one bucket more than edges");
    if (!(scale > 0)) throw nanobind::value_error("a scale must be above 0");
  }
  return columns;
}

}  // namespace riata::bind
