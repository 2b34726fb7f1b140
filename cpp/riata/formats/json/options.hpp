// What becomes of the keys of JSON objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "riata/block/named_row_builder.hpp"

namespace riata::json {

enum class Role : std::uint8_t { feature, ignored, label, weight, offset, numeric, categorical };

struct Format {
  struct Named {
    std::string path;
    Role role;
  };
  std::vector<Named> roles;
  std::vector<std::string> label_names;  // the label is the place of its text here; empty: a number
  bool missing = false;                  // null is a feature
  bool labelled = true;
  bool keep_names = true;
  Crosses crosses;

  Role role_of(std::string_view path) const noexcept {
    for (const Named& named : roles) {
      if (named.path == path) return named.role;
    }
    return Role::feature;
  }
  bool has(Role role) const noexcept {
    for (const Named& named : roles) {
      if (named.role == role) return true;
    }
    return false;
  }
};

}  // namespace riata::json
