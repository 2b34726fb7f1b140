// What becomes of the values of a column, or of a key of objects: worked out once from a schema, alike for
// every format.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "riata/block/named_row_builder.hpp"
#include "riata/block/text_spec.hpp"
#include "riata/block/transforms.hpp"

namespace riata {

// `free`: a value says itself what it is.
enum class ColumnRole : std::uint8_t {
  ignored,
  label,
  weight,
  offset,
  free,
  number,
  log1p,
  bucket,
  category,
  text
};

inline bool is_feature(ColumnRole role) noexcept { return role >= ColumnRole::free; }
inline bool is_number(ColumnRole role) noexcept {
  return role == ColumnRole::number || role == ColumnRole::log1p || role == ColumnRole::bucket;
}

// What stands for a missing number in text, beside nothing at all.
inline bool means_missing(std::string_view text) noexcept {
  for (const std::string_view token : {"NA", "NaN", "nan", "null", "NULL", "?"})
    if (text == token) return true;
  return false;
}

struct SchemaColumn {
  ColumnRole role = ColumnRole::ignored;
  std::string name;     // of the feature, for a number
  std::string prefix;   // the name and =, for a category
  std::string absent;   // the name of what is missing; empty: no feature
  std::string omitted;  // the value that a sparse row means by leaving it out; empty: zero
  int group = Crosses::kNone;
  std::vector<double> edges;         // of buckets, ascending
  std::vector<std::string> buckets;  // their names, one more than edges
  double centre = 0, scale = 1;      // a number x is the value (x - centre) / scale
  TextSpec text;                     // how a text becomes n-grams
  bool numeric = false;              // free, but numbers so far: true and false are numbers in text, too

  void set_name(std::string_view given) {
    name = given;
    prefix = name + "=";
    key = key_of_name(name.data(), name.size());
    if (name.size() <= 16) std::memcpy(&short_name, name.data(), name.size());
    plain = !name.empty() && name.size() <= 16;
    for (const char c : name) plain = plain && c != '"' && c != '\\' && static_cast<unsigned char>(c) >= ' ';
    if (prefix.size() <= 16) std::memcpy(&short_prefix, prefix.data(), prefix.size());
  }
  bool scaled() const noexcept { return centre != 0 || scale != 1; }
  // The value of the feature of a number; not of buckets.
  float value_of(float x) const noexcept {
    if (role == ColumnRole::log1p) return signed_log1p(x);
    return scaled() ? scaled_number(x, centre, scale) : x;
  }
  const std::string& bucket_name(float x) const noexcept { return buckets[bucket_of(x, edges)]; }

  std::uint64_t key = 0;     // of the name
  ShortName short_name = 0;  // the same, if they have up to 16 bytes
  ShortName short_prefix = 0;
  bool plain = false;  // the name has up to 16 bytes, and stands in JSON as it is
};

// Columns by name. Rows mostly have them in one order: then the next one is the one that is asked for.
class SchemaColumns {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  SchemaColumns() = default;
  explicit SchemaColumns(std::vector<SchemaColumn> columns) : columns_(std::move(columns)) {
    std::size_t places = 4;
    while (places < 2 * columns_.size()) places *= 2;
    places_.assign(places, 0);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      std::size_t at = columns_[c].key & (places - 1);
      while (places_[at] != 0) at = (at + 1) & (places - 1);
      places_[at] = static_cast<std::uint32_t>(c + 1);
    }
  }

  std::size_t size() const noexcept { return columns_.size(); }
  const SchemaColumn& operator[](std::size_t i) const noexcept { return columns_[i]; }
  auto begin() const noexcept { return columns_.begin(); }
  auto end() const noexcept { return columns_.end(); }

  // The place of the column of this name, or kNone; `likely` may be it.
  std::size_t find(std::string_view name, std::size_t likely) const noexcept {
    if (likely < columns_.size() && columns_[likely].name == name) return likely;
    if (columns_.empty()) return kNone;
    const std::uint64_t key = key_of_name(name.data(), name.size());
    for (std::size_t at = key & (places_.size() - 1); places_[at] != 0;
         at = (at + 1) & (places_.size() - 1)) {
      const SchemaColumn& column = columns_[places_[at] - 1];
      if (column.key == key && column.name == name) return places_[at] - 1;
    }
    return kNone;
  }
  bool has(ColumnRole role) const noexcept {
    for (const SchemaColumn& column : columns_)
      if (column.role == role) return true;
    return false;
  }

 private:
  std::vector<SchemaColumn> columns_;
  std::vector<std::uint32_t> places_;  // 1 + the column whose key falls there
};

}  // namespace riata
