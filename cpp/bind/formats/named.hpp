// Text in, rows of named features out: what the bindings of all text readers share.
#pragma once

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <vector>

#include "bind/hand_over.hpp"
#include "riata/block/named_row_builder.hpp"
#include "riata/text/number.hpp"

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

// (kind, column from 1, excerpt, where the line starts in the text, detail), or None.
inline nb::object describe(const ParseError& error, const Text& text) {
  constexpr std::ptrdiff_t excerpt = 60;
  if (error.kind == nullptr) return nb::none();
  if (std::strcmp(error.kind, "no_memory") == 0) throw std::bad_alloc();
  const char* stop = error.where_end;
  if (stop == nullptr) {
    stop = error.where;
    while (stop < text.end() && *stop != ' ' && *stop != '\n' && *stop != '\t' && *stop != '\r') ++stop;
  }
  const auto size = std::min(stop - error.where, excerpt + 1);
  return nb::make_tuple(error.kind, error.where - error.line_start + 1,
                        nb::bytes(error.where, static_cast<std::size_t>(size)),
                        error.line_start - text.begin(), nb::bytes(error.detail, std::strlen(error.detail)));
}

inline nb::tuple give_rows(NamedRows& rows, bool names, nb::object error) {
  nb::object name_bytes = names ? nb::cast(hand_over(rows.names)) : nb::none();
  nb::object name_offsets = names ? nb::cast(hand_over(rows.name_offsets)) : nb::none();
  nb::object offsets = rows.offsets.size() > 0 ? nb::cast(hand_over(rows.offsets)) : nb::none();
  return nb::make_tuple(hand_over(rows.labels), hand_over(rows.weights), offsets, hand_over(rows.indptr),
                        hand_over(rows.keys), hand_over(rows.values), name_bytes, name_offsets,
                        hand_over(rows.lines), rows.n_lines, error);
}

#define RIATA_NAMED_ROWS                                                                  \
  "tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64] | None, " \
  "NDArray[numpy.int64], NDArray[numpy.int64], "                                          \
  "NDArray[numpy.float32], NDArray[numpy.uint8] | None, NDArray[numpy.int64] | None, "    \
  "NDArray[numpy.int64], int, tuple[str, int, bytes, int, bytes] | None]"

}  // namespace riata::bind
