// svmlight text to rows: "label [qid:n] index:value index:value ... # comment".
//
// Contract of `read_svmlight`: the text consists of whole lines, the last one ending in a newline too, and
// `kPadding` bytes behind it are readable. Labels must be numbers; indices ascend within a line; a value of
// zero means an absent feature and is dropped. The reader stops at the first line it cannot read and says
// where and why; the rows before that line are in the result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "riata/base/array.hpp"
#include "riata/formats/svmlight/tokens.hpp"

namespace riata {

struct SvmlightOptions {
  bool zero_based = false;
  bool labelled = true;  // if not, a line may start with its first feature: its label is then NaN
  Instructions instructions = best_instructions();
};

struct SvmlightRows {
  Array<double> labels;
  Array<std::int64_t> indptr;  // one more than there are rows
  Array<std::int32_t> narrow;  // the indices, from 0, while all fit...
  Array<std::int64_t> wide;    // ...else here
  bool is_wide = false;
  Array<float> values;
  Array<std::int64_t> lines;  // of each row, the first line of the text being 0
  std::int64_t n_lines = 0;   // read without error

  SvmlightError error = SvmlightError::none;
  const char* line_start = nullptr;  // of the line in error
  const char* where = nullptr;       // the offending token in it
  std::int64_t previous = 0;         // the index before it, as written
};

namespace detail {

// Reads lines until the end of the text, error, or an index that does not fit into Index.
template <class Index>
class LineReader {
 public:
  LineReader(const char* p, const char* end, const SvmlightOptions& options, Array<Index>& indices,
             SvmlightRows& rows) noexcept
      : p_(p),
        begin_(p),
        end_(end),
        instructions_(options.instructions),
        labelled_(options.labelled),
        base_(options.zero_based ? 0 : 1),
        indices_(indices),
        rows_(rows),
        sink_{nullptr, nullptr, indices.size(), 0, 0} {}

  // Returns the start of the line it stopped at. An index that does not fit is not error, but `too_wide`.
  const char* read(bool& too_wide) noexcept {
    const char* line = p_;
    std::size_t kept = sink_.size;
    SvmlightError error = grow(kept + static_cast<std::size_t>(end_ - p_) / 8 + 16);
    while (error == SvmlightError::none && p_ < end_) {
      error = read_line(too_wide);
      if (error != SvmlightError::none || too_wide) break;
      kept = sink_.size;
      line = ++p_;
      ++rows_.n_lines;
    }
    indices_.set_size(kept);
    rows_.values.set_size(kept);
    if (error != SvmlightError::none) {
      rows_.error = error;
      rows_.line_start = line;
      rows_.where = p_;
      rows_.previous = sink_.last;
    }
    return line;
  }

 private:
  // Leaves p_ at the newline, or at what is wrong.
  SvmlightError read_line(bool& too_wide) noexcept {
    while (is_blank(*p_)) ++p_;
    skip_comment();
    if (*p_ == '\n') return SvmlightError::none;
    double label = 0;
    if (const SvmlightError error = read_label(p_, labelled_, label); error != SvmlightError::none)
      return error;
    sink_.last = base_ - 1;
    for (;;) {
      while (is_blank(*p_)) ++p_;
      read_features();
      skip_comment();
      if (*p_ == '\n') break;
      if (is_blank(*p_)) continue;
      const SvmlightError error =
          sink_.size == sink_.capacity ? grow(2 * sink_.capacity) : read_feature(p_, base_, sink_, too_wide);
      if (error != SvmlightError::none || too_wide) return error;
    }
    const bool stored = rows_.labels.push_back(label) && rows_.lines.push_back(rows_.n_lines) &&
                        rows_.indptr.push_back(static_cast<std::int64_t>(sink_.size));
    return stored ? SvmlightError::none : SvmlightError::no_memory;
  }

  void read_features() noexcept {
#if defined(RIATA_HAS_WIDE)
    if (instructions_ != Instructions::plain) {
      p_ = read_many_features(p_, begin_, end_, instructions_, base_, marks_, sink_);
      return;
    }
#endif
    p_ = read_plain_features(p_, base_, sink_);
  }

  void skip_comment() noexcept {
    if (*p_ == '#') p_ = static_cast<const char*>(std::memchr(p_, '\n', static_cast<std::size_t>(end_ - p_)));
  }

  SvmlightError grow(std::size_t capacity) noexcept {
    indices_.set_size(sink_.size);
    rows_.values.set_size(sink_.size);
    if (!indices_.reserve(capacity) || !rows_.values.reserve(capacity)) return SvmlightError::no_memory;
    sink_.indices = indices_.data();
    sink_.values = rows_.values.data();
    sink_.capacity = std::min(indices_.capacity(), rows_.values.capacity());
    return SvmlightError::none;
  }

  const char* p_;
  const char *const begin_, *const end_;
  const Instructions instructions_;
  const bool labelled_;
  const std::int64_t base_;  // the smallest index, as written
  Array<Index>& indices_;
  SvmlightRows& rows_;
  Sink<Index> sink_;
  Marks marks_;
};

}  // namespace detail

inline void read_svmlight(const char* begin, const char* end, const SvmlightOptions& options,
                          SvmlightRows& rows) noexcept {
  if (!rows.indptr.push_back(0)) {
    rows.error = SvmlightError::no_memory;
    rows.line_start = rows.where = begin;
    return;
  }
  bool too_wide = false;
  const char* const line = detail::LineReader(begin, end, options, rows.narrow, rows).read(too_wide);
  if (!too_wide) return;
  rows.is_wide = true;
  if (!rows.wide.append(rows.narrow.data(), rows.narrow.size())) {
    rows.error = SvmlightError::no_memory;
    rows.line_start = rows.where = line;
    return;
  }
  rows.narrow = {};
  too_wide = false;
  detail::LineReader(line, end, options, rows.wide, rows).read(too_wide);
}

}  // namespace riata
