// How records without quotes are read: worked out once a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "riata/block/prefixed_keys.hpp"
#include "riata/block/scaled_numbers.hpp"
#include "riata/formats/csv/cells.hpp"

namespace riata::csv {

struct UnquotedColumn {
  const Column* column;
  Prefixed prefix;      // of the names of its texts
  ColumnScale scale;    // of its numbers
  std::size_t centred;  // 1: its zeros are not zero once they are scaled
};

struct Run {  // of neighbouring columns whose cells are read alike
  enum class Kind : std::uint8_t { numbers, scaled, categories, others } kind;
  std::size_t count;
};

struct Plan {
  bool possible = false;  // whether records can be read so at all
  std::vector<UnquotedColumn> columns;
  std::vector<Run> runs;
  std::size_t longest_prefix = 0;
  std::size_t name_bytes = 0;  // of a record's names, beside its cells

  Plan() = default;

  // No two cells of a row make the same feature where no column's name is that of another, or has the sign in
  // it that parts a name from a text. A blank that separates would look like an empty line.
  explicit Plan(const Format& format) {
    possible = format.columns.size() > 1 && format.delimiter != ' ' && format.crosses.products.empty();
    std::vector<std::string_view> names;
    for (const Column& column : format.columns) {
      add(column, format);
      if (!is_feature(column.role)) continue;
      possible = possible && column.name.find('=') == std::string::npos;
      names.push_back(column.name);
    }
    std::sort(names.begin(), names.end());
    possible = possible && std::adjacent_find(names.begin(), names.end()) == names.end();
  }

 private:
  void add(const Column& column, const Format& format) {
    columns.push_back({&column, Prefixed(column.prefix), {column.centre, column.scale}, column.centre != 0});
    longest_prefix = std::max(longest_prefix, column.prefix.size());

    std::size_t longest = std::max(column.prefix.size(), column.absent.size());
    for (const std::string& bucket : column.buckets) longest = std::max(longest, bucket.size());
    name_bytes += longest;

    // What is missing must be looked for in every cell where it is more than an empty one.
    const bool usual = format.absent.empty() && column.absent.empty();
    const Run::Kind number = column.scaled() ? Run::Kind::scaled : Run::Kind::numbers;
    const Run::Kind kind = usual && column.role == Role::number && !format.decimal_comma ? number
                           : usual && column.role == Role::category ? Run::Kind::categories
                                                                    : Run::Kind::others;
    if (runs.empty() || runs.back().kind != kind) runs.push_back({kind, 0});
    ++runs.back().count;
  }
};

}  // namespace riata::csv
