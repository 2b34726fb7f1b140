// Text in, rows out: what the bindings of all readers of text share.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "bind/hand_over.hpp"
#include "riata/block/named_rows.hpp"
#include "riata/block/numbered_rows.hpp"
#include "riata/text/number.hpp"
#include "riata/text/row_reader.hpp"

namespace riata::bind {

// Whole lines with readable bytes behind them: the caller's memory if it is so, else a copy.
class Text {
 public:
  Text(const In<std::uint8_t>& text, std::size_t size)
      : begin_(reinterpret_cast<const char*>(text.data())), size_(size) {
    if (size > text.size()) throw nb::value_error("size is larger than the text");
    const bool ended = size == 0 || begin_[size - 1] == '\n';
    if (ended && text.size() - size >= kPadding) return;
    bool copied = copy_.reserve(size + 1 + kPadding) && copy_.append(begin_, size);
    if (copied && !ended) copied = copy_.push_back('\n');
    if (!copied) throw std::bad_alloc();
    std::memset(copy_.data() + copy_.size(), 0, kPadding);
    begin_ = copy_.data();
    size_ = copy_.size();
  }
  const char* begin() const noexcept { return begin_; }
  const char* end() const noexcept { return begin_ + size_; }

 private:
  const char* begin_;
  std::size_t size_;
  Array<char> copy_;
};

using CrossNames = std::vector<std::vector<std::string>>;

inline Crosses make_crosses(const CrossNames& names) {
  Crosses crosses;
  for (const std::vector<std::string>& product : names) {
    if (product.size() < 2 || product.size() > kMostFactors)
      throw nb::value_error("a cross has two or three groups");
    std::vector<int>& groups = crosses.products.emplace_back();
    for (const std::string& name : product) {
      int group = crosses.group_of(name);
      if (group == Crosses::kNone) {
        group = static_cast<int>(crosses.groups.size());
        crosses.groups.push_back(name);
      }
      groups.push_back(group);
    }
  }
  return crosses;
}

// A ParseError as Python has it: see parsed.cpp.
struct LineError {
  std::string kind;
  std::int64_t column = 1;  // from 1
  std::string text;
  std::string detail;
  std::int64_t previous = 0;
};

inline std::optional<LineError> describe(const ParseError& error, const Text& text) {
  constexpr std::ptrdiff_t kExcerpt = 60;
  if (error.kind == nullptr) return {};
  if (std::strcmp(error.kind, "no_memory") == 0) throw std::bad_alloc();
  const char* stop = error.where_end;
  if (stop == nullptr) {
    stop = error.where;
    while (stop < text.end() && *stop != ' ' && *stop != '\n' && *stop != '\t' && *stop != '\r') ++stop;
  }
  stop = std::min(stop, error.where + kExcerpt + 1);
  return LineError{
      error.kind, error.where - error.line_start + 1, {error.where, stop}, error.detail, error.previous};
}

// Rows as NumPy arrays; None where a format or the options give none.
struct ParsedRows {
  nb::object labels, weights, offsets, indptr, indices, values, names, name_offsets, lines;
  std::int64_t n_lines = 0;
  std::optional<LineError> error;
};

inline ParsedRows give(NumberedRows& rows, bool) {
  ParsedRows given;
  given.labels = nb::cast(hand_over(rows.labels));
  given.weights = given.offsets = given.names = given.name_offsets = nb::none();
  given.indptr = nb::cast(hand_over(rows.indptr));
  given.indices = rows.is_wide ? nb::cast(hand_over(rows.wide)) : nb::cast(hand_over(rows.narrow));
  given.values = nb::cast(hand_over(rows.values));
  given.lines = nb::cast(hand_over(rows.lines));
  given.n_lines = rows.n_lines;
  return given;
}

inline ParsedRows give(NamedRows& rows, bool names) {
  ParsedRows given;
  given.labels = nb::cast(hand_over(rows.labels));
  given.weights = nb::cast(hand_over(rows.weights));
  given.offsets = rows.offsets.size() > 0 ? nb::cast(hand_over(rows.offsets)) : nb::none();
  given.indptr = nb::cast(hand_over(rows.indptr));
  given.indices = nb::cast(hand_over(rows.keys));
  given.values = nb::cast(hand_over(rows.values));
  given.names = names ? nb::cast(hand_over(rows.names)) : nb::none();
  given.name_offsets = names ? nb::cast(hand_over(rows.name_offsets)) : nb::none();
  given.lines = nb::cast(hand_over(rows.lines));
  given.n_lines = rows.n_lines;
  return given;
}

template <RowReader Reader>
ParsedRows parse(const Reader& reader, const In<std::uint8_t>& text, std::size_t size, bool names = false) {
  const Text lines(text, size);
  typename Reader::Rows rows;
  ParseError error;
  {
    nb::gil_scoped_release release;
    error = reader.read(lines.begin(), lines.end(), rows);
  }
  std::optional<LineError> described = describe(error, lines);
  ParsedRows given = give(rows, names);
  given.error = std::move(described);
  return given;
}

#define RIATA_TEXT "text: bytes | bytearray | memoryview | NDArray[numpy.uint8], size: int"

}  // namespace riata::bind
