// Rows of contributions as lines of JSON or CSV.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "riata/base/utf8.hpp"

namespace riata {

// What every row has: a piece of text, and behind it a number of its own, or one of several texts.
struct RowField {
  std::string before;
  const double* numbers = nullptr;
  const std::int64_t* integers = nullptr;
  const std::int32_t* codes = nullptr;
  std::vector<std::string> texts;
};

// The entries that are shown, a row's behind another's, and what is known of all entries.
struct ShownEntries {
  const std::int64_t* starts = nullptr;  // of rows, among the places
  const std::int64_t* places = nullptr;  // of entries
  const std::uint8_t* names = nullptr;   // null: features are numbers...
  const std::int64_t* name_offsets = nullptr;
  const std::int64_t* indices = nullptr;  // ...these...
  std::int64_t base = 0;                  // ...and the first of them is this
  const double* values = nullptr;
  const double* weights = nullptr;
  const double* contributions = nullptr;
  const double* deviations = nullptr;  // null: there are none
};

class ExplanationWriter {
 public:
  explicit ExplanationWriter(std::string& out) : out_(out) {}

  // {"...": ..., "contributions": [{"feature": ...}]}
  void json(const std::vector<RowField>& fields, const ShownEntries& shown, std::int64_t row) {
    head(fields, row);
    out_ += ",\"contributions\":[";
    for (std::int64_t k = shown.starts[row]; k < shown.starts[row + 1]; ++k) {
      const std::int64_t at = shown.places[k];
      out_ += k == shown.starts[row] ? "{\"feature\":" : ",{\"feature\":";
      feature(shown, at, &ExplanationWriter::quoted);
      out_ += ",\"value\":";
      number(static_cast<float>(shown.values[at]));
      out_ += ",\"weight\":";
      number(shown.weights[at]);
      out_ += ",\"contribution\":";
      number(shown.contributions[at]);
      if (shown.deviations != nullptr) {
        out_ += ",\"std\":";
        number(shown.deviations[at]);
      }
      out_ += '}';
    }
    out_ += "]}\n";
  }

  // A line for each entry, and for each of the others: what it is, and a number of each row.
  void csv(const std::vector<RowField>& fields, const ShownEntries& shown,
           const std::vector<RowField>& others, std::int64_t row) {
    const std::size_t start = out_.size();
    head(fields, row);
    const std::string begin = out_.substr(start);
    out_.resize(start);
    for (std::int64_t k = shown.starts[row]; k < shown.starts[row + 1]; ++k) {
      const std::int64_t at = shown.places[k];
      out_ += begin;
      out_ += ",feature,";
      feature(shown, at, &ExplanationWriter::cell);
      comma_and(static_cast<float>(shown.values[at]));
      comma_and(shown.weights[at]);
      comma_and(shown.contributions[at]);
      out_ += ',';
      if (shown.deviations != nullptr) number(shown.deviations[at]);
      out_ += '\n';
    }
    for (const RowField& other : others) {
      if (other.numbers[row] == 0) continue;
      out_ += begin;
      out_ += other.before;
      number(other.numbers[row]);
      out_ += ",\n";
    }
  }

 private:
  void head(const std::vector<RowField>& fields, std::int64_t row) {
    for (const RowField& field : fields) {
      out_ += field.before;
      if (field.numbers != nullptr) {
        number(field.numbers[row]);
      } else if (field.integers != nullptr) {
        number(field.integers[row]);
      } else if (field.codes != nullptr) {
        out_ += field.texts[static_cast<std::size_t>(field.codes[row])];
      }
    }
  }

  // The feature of an entry: its number, or its name as `write` writes it.
  void feature(const ShownEntries& shown, std::int64_t at,
               void (ExplanationWriter::*write)(std::string_view)) {
    if (shown.names == nullptr)
      number(shown.indices[at] + shown.base);
    else
      (this->*write)(name(shown, at));
  }
  template <class Number>
  void comma_and(Number value) {
    out_ += ',';
    number(value);
  }

  static std::string_view name(const ShownEntries& shown, std::int64_t at) noexcept {
    const std::int64_t start = shown.name_offsets[at], stop = shown.name_offsets[at + 1];
    return {reinterpret_cast<const char*>(shown.names) + start, static_cast<std::size_t>(stop - start)};
  }

  // As short as it can be without losing a bit; what is no number is null.
  template <class Number>
  void number(Number value) {
    if constexpr (std::is_floating_point_v<Number>) {
      if (!std::isfinite(value)) {
        out_ += "null";
        return;
      }
    }
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out_.append(digits, end);
  }

  // As a string of JSON. Bytes that are no UTF-8 become the sign for that.
  void quoted(std::string_view text) {
    constexpr char digits[] = "0123456789abcdef";
    const bool good = is_utf8(text);
    out_ += '"';
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += c;
      } else if (byte < 0x20 || byte == 0x7f) {
        out_ += "\\u00";
        out_ += digits[byte >> 4];
        out_ += digits[byte & 15];
      } else if (byte >= 0x80 && !good) {
        out_ += "\\ufffd";
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }

  void cell(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos && is_utf8(text)) {
      out_ += text;
      return;
    }
    const bool good = is_utf8(text);
    out_ += '"';
    for (const char c : text) {
      if (c == '"') out_ += '"';
      if (!good && static_cast<unsigned char>(c) >= 0x80) {
        out_ += "\xef\xbf\xbd";
      } else {
        out_ += c;
      }
    }
    out_ += '"';
  }

  std::string& out_;
};

}  // namespace riata
