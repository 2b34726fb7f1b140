// The columns of texts that a reader has: a tokeniser each, made when the first text comes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "riata/block/schema_column.hpp"
#include "riata/text/parse_error.hpp"
#include "riata/words/counted_ngrams.hpp"
#include "riata/words/dates.hpp"

namespace riata::words {

// Whether a cell that holds this is a missing one: of dates the tokens for missing numbers are, too.
inline bool is_no_text(const TextSpec& spec, std::string_view text) noexcept {
  return text.empty() || (spec.weight == NgramWeight::date && means_missing(text));
}

// Memory for the rows of a file of so many bytes, as a first guess: most of them are those of texts, if there are any.
template <class Columns>
bool prepare_rows(RowBuilder& row, const Columns& columns, std::size_t bytes) noexcept {
  for (const SchemaColumn& column : columns) {
    if (column.role == ColumnRole::text && column.text.weight != NgramWeight::date)
      return prepare_ngrams(row, column.text.ngrams, column.name.size() + 1, bytes);
  }
  return row.prepare(bytes);
}

class TextColumns {
 public:
  // `distinct`: no other feature of a row can have the name of an n-gram, nor has a column two texts.
  TextColumns(RowBuilder& row, bool distinct) noexcept : row_(row), distinct_(distinct) {}

  // Adds the n-grams of a text to the row: features `name^n-gram`. Columns are told apart by their specs' addresses.
  ErrorKind add(const TextSpec& spec, std::string_view name, std::string_view text) noexcept {
    if (spec.weight == NgramWeight::date) {
      Date date;
      return read_date(text, date) ? add_date(row_, name, date) : "not_date";
    }
    Column* const column = find(spec, name);
    if (column == nullptr) return "no_memory";
    return row_.naming() ? read(*column, column->named, text) : read(*column, column->bare, text);
  }

  // The same for a text that stands where names are written.
  ErrorKind add_copy(const TextSpec& spec, std::string_view name, std::string_view text) noexcept {
    copy_.set_size(0);
    if (!copy_.append(text.data(), text.size())) return "no_memory";
    return add(spec, name, {copy_.data(), copy_.size()});
  }

 private:
  struct Column {
    Column(const TextSpec& given, std::string_view name, RowBuilder& row, bool distinct)
        : spec(&given),
          tokeniser(given.ngrams, std::string(name) + "^"),
          named(row, given, distinct),
          bare(row, given, distinct) {}
    const TextSpec* spec;
    Tokeniser tokeniser;
    CountedNgrams<true> named;
    CountedNgrams<false> bare;
  };

  Column* find(const TextSpec& spec, std::string_view name) noexcept {
    for (const auto& column : columns_) {
      if (column->spec == &spec) return column.get();
    }
    try {
      return columns_.emplace_back(std::make_unique<Column>(spec, name, row_, distinct_)).get();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  template <class Counted>
  static ErrorKind read(Column& column, Counted& counted, std::string_view text) noexcept {
    counted.begin_text();
    const TextError error = column.tokeniser.read(text, counted);
    if (error.kind == TextError::Kind::not_text) return counted.drop_text(), "not_text";
    return error.kind == TextError::Kind::none && counted.end_text() ? nullptr : "no_memory";
  }

  RowBuilder& row_;
  const bool distinct_;
  std::vector<std::unique_ptr<Column>> columns_;
  Array<char> copy_;
};

}  // namespace riata::words
