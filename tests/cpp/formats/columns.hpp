// Columns of a schema for tests.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "riata/block/schema_column.hpp"

// Keys with these roles.
inline riata::SchemaColumns columns_of(
    std::initializer_list<std::pair<const char*, riata::ColumnRole>> keys) {
  std::vector<riata::SchemaColumn> columns;
  for (const auto& [name, role] : keys) {
    columns.emplace_back().set_name(name);
    columns.back().role = role;
    columns.back().absent = std::string(name) + "=?";
  }
  return riata::SchemaColumns(std::move(columns));
}
