// A row of named features as text: name=value name=value. Every key is checked against its name.
#pragma once

#include <cstdio>
#include <string>

#include "check.hpp"
#include "riata/block/named_row_builder.hpp"

inline std::string row_text(const riata::NamedRows& rows, std::size_t i) {
  std::string text;
  for (auto k = static_cast<std::size_t>(rows.indptr[i]); k < static_cast<std::size_t>(rows.indptr[i + 1]);
       ++k) {
    const char* name = reinterpret_cast<const char*>(rows.names.data()) + rows.name_offsets[k];
    const auto size = static_cast<std::size_t>(rows.name_offsets[k + 1] - rows.name_offsets[k]);
    char value[32];
    std::snprintf(value, sizeof value, "=%.9g", static_cast<double>(rows.values[k]));
    text += (text.empty() ? "" : " ") + std::string(name, size) + value;
    CHECK(riata::key_of_name(name, size) == static_cast<std::uint64_t>(rows.keys[k]));
  }
  return text;
}
