// How plain records of text in columns are read: worked out once a file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "riata/csv_cells.hpp"

namespace riata::csv {

// What the key and the name of a cell take, in one place.
struct alignas(64) PlainColumn {
  struct Word {  // eight bytes of the prefix, and which of the eight are behind it
    std::uint64_t text = 0, keep = ~std::uint64_t{0};
  };
  Word first, second;
  std::uint64_t key = 0;       // of the name
  std::uint32_t prefix = 0;    // bytes of it
  std::uint32_t more = 0;      // where in Plan::words the prefix goes on behind 16 bytes...
  std::uint32_t more_end = 0;  // ...and ends
  std::uint32_t name_size = 0;
  const Column* column = nullptr;
};

struct Run {  // of neighbouring columns whose cells are read alike
  enum class Kind : std::uint8_t { numbers, categories, others } kind;
  std::size_t count;
};

struct Plan {
  bool possible = false;  // whether there are plain records at all
  std::vector<PlainColumn> columns;
  std::vector<PlainColumn::Word> words;
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
      if (column.role == Role::ignored || column.role == Role::label || column.role == Role::weight) continue;
      possible = possible && column.name.find('=') == std::string::npos;
      names.push_back(column.name);
    }
    std::sort(names.begin(), names.end());
    possible = possible && std::adjacent_find(names.begin(), names.end()) == names.end();
  }

 private:
  void add(const Column& column, const Format& format) {
    PlainColumn& made = columns.emplace_back();
    made.column = &column;
    made.key = column.key;
    made.prefix = static_cast<std::uint32_t>(column.prefix.size());
    made.name_size = static_cast<std::uint32_t>(column.name.size());
    made.first = word_of(column.prefix, 0);
    made.second = word_of(column.prefix, 8);
    made.more = static_cast<std::uint32_t>(words.size());
    for (std::size_t at = 16; at < column.prefix.size(); at += 8) words.push_back(word_of(column.prefix, at));
    made.more_end = static_cast<std::uint32_t>(words.size());
    longest_prefix = std::max(longest_prefix, column.prefix.size());

    std::size_t longest = std::max(column.prefix.size(), column.absent.size());
    for (const std::string& bucket : column.buckets) longest = std::max(longest, bucket.size());
    name_bytes += longest;

    // What is missing must be looked for in every cell where it is more than an empty one.
    const bool quick = format.absent.empty() && column.absent.empty();
    const Run::Kind kind = quick && column.role == Role::number     ? Run::Kind::numbers
                           : quick && column.role == Role::category ? Run::Kind::categories
                                                                    : Run::Kind::others;
    if (runs.empty() || runs.back().kind != kind) runs.push_back({kind, 0});
    ++runs.back().count;
  }

  static PlainColumn::Word word_of(std::string_view prefix, std::size_t from) {
    PlainColumn::Word word;
    for (std::size_t i = from; i < std::min(from + 8, prefix.size()); ++i) {
      const auto shift = 8 * (i - from);
      word.text |= static_cast<std::uint64_t>(static_cast<unsigned char>(prefix[i])) << shift;
      word.keep &= ~(std::uint64_t{0xFF} << shift);
    }
    return word;
  }
};

}  // namespace riata::csv
