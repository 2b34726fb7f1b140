// svmlight text to rows: "label [qid:n] index:value index:value ... # comment".
//
// Labels must be numbers; indices ascend within a line; a value of zero means an absent feature and is
// dropped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "riata/block/numbered_rows.hpp"
#include "riata/formats/svmlight/tokens.hpp"

namespace riata {

struct SvmlightReader {
  bool zero_based = false;
  bool labelled = true;  // if not, a line may start with its first feature: its label is then NaN
  Instructions instructions = best_instructions();

  using Rows = NumberedRows;
  ParseError read(const char* begin, const char* end, NumberedRows& rows) const noexcept;
};

namespace svmlight {

// Reads lines until the end of the text, error, or an index that does not fit into Index.
template <class Index>
class LineReader {
 public:
  LineReader(const char* p, const char* end, const SvmlightReader& options, Array<Index>& indices,
             NumberedRows& rows) noexcept
      : p_(p),
        text_(p),
        end_(end),
        kernels_(find_index_value_kernels(options.instructions)),
        many_(kernels_ != nullptr && kernels_->join != nullptr && DelimiterScan::possible(size_of_text())),
        scan_(p, size_of_text(), kIndexValueDelimiters, false, *find_delimiter_kernels(options.instructions)),
        labelled_(options.labelled),
        base_(options.zero_based ? 0 : 1),
        indices_(indices),
        rows_(rows),
        out_{nullptr, nullptr, indices.size(), 0, 0} {}

  // Returns where it stopped. An index that does not fit is no error, but `too_wide`.
  ParseError read(bool& too_wide) noexcept {
    const char* line = p_;
    std::size_t kept = out_.size;
    ErrorKind kind = grow(kept + static_cast<std::size_t>(end_ - p_) / 8 + 16);
    while (kind == nullptr && p_ < end_) {
      kind = read_line(too_wide);
      if (kind != nullptr || too_wide) break;
      kept = out_.size;
      line = ++p_;
      ++rows_.n_lines;
    }
    indices_.set_size(kept);
    rows_.values.set_size(kept);
    const char* where_end = p_;
    while (kind != nullptr && !ends_token(*where_end)) ++where_end;
    return {kind, line, p_, where_end, "", out_.last};
  }

 private:
  // Leaves p_ at the newline, or at what is wrong.
  ErrorKind read_line(bool& too_wide) noexcept {
    while (is_blank(*p_)) ++p_;
    skip_comment();
    if (*p_ == '\n') return nullptr;
    double label = 0;
    if (const ErrorKind kind = read_label(p_, labelled_, label)) return kind;
    out_.last = base_ - 1;
    for (;;) {
      while (is_blank(*p_)) ++p_;
      read_features();
      skip_comment();
      if (*p_ == '\n') break;
      if (is_blank(*p_)) continue;
      const ErrorKind kind =
          out_.size == out_.capacity ? grow(2 * out_.capacity) : read_feature(p_, base_, out_, too_wide);
      if (kind != nullptr || too_wide) return kind;
    }
    const bool stored = rows_.labels.push_back(label) && rows_.lines.push_back(rows_.n_lines) &&
                        rows_.indptr.push_back(static_cast<std::int64_t>(out_.size));
    return stored ? nullptr : "no_memory";
  }

  void read_features() noexcept {
    p_ = many_ ? read_many_features(*kernels_, p_, text_, base_, scan_, out_)
               : read_short_features(p_, base_, out_);
  }

  void skip_comment() noexcept {
    if (*p_ == '#') p_ = static_cast<const char*>(std::memchr(p_, '\n', static_cast<std::size_t>(end_ - p_)));
  }

  std::size_t size_of_text() const noexcept { return static_cast<std::size_t>(end_ - text_); }

  ErrorKind grow(std::size_t capacity) noexcept {
    indices_.set_size(out_.size);
    rows_.values.set_size(out_.size);
    if (!indices_.reserve(capacity) || !rows_.values.reserve(capacity)) return "no_memory";
    out_.indices = indices_.data();
    out_.values = rows_.values.data();
    out_.capacity = std::min(indices_.capacity(), rows_.values.capacity());
    return nullptr;
  }

  const char* p_;
  const char *const text_, *const end_;
  const IndexValueKernels* const kernels_;
  const bool many_;
  DelimiterScan scan_;
  const bool labelled_;
  const std::int64_t base_;  // the smallest index, as written
  Array<Index>& indices_;
  NumberedRows& rows_;
  Output<Index> out_;
};

}  // namespace svmlight

inline ParseError SvmlightReader::read(const char* begin, const char* end,
                                       NumberedRows& rows) const noexcept {
  if (!rows.indptr.push_back(0)) return {"no_memory", begin, begin};
  bool too_wide = false;
  const ParseError error = svmlight::LineReader(begin, end, *this, rows.narrow, rows).read(too_wide);
  if (!too_wide) return error;
  rows.is_wide = true;
  const char* const line = error.line_start;
  if (!rows.wide.append(rows.narrow.data(), rows.narrow.size())) return {"no_memory", line, line};
  rows.narrow = {};
  too_wide = false;
  return svmlight::LineReader(line, end, *this, rows.wide, rows).read(too_wide);
}

}  // namespace riata
