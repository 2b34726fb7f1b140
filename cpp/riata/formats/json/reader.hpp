// JSON objects, one a line, to rows of named features. Keys of nested objects are joined by a point. A number is a feature with that name, true is 1, false and 0
// are nothing, a text is `key=text`, each text of a list is one, other things in a list are numbered `key.0`;
// null is nothing, or `key=?` where that is asked for.
#pragma once

#include <charconv>
#include <cmath>

#include "riata/block/read_lines.hpp"
#include "riata/formats/json/options.hpp"
#include "riata/formats/json/tokens.hpp"
#include "riata/text/scan.hpp"
#include "riata/text/truths.hpp"
#include "riata/words/text_columns.hpp"

namespace riata {

namespace json {

class Reader {
 public:
  Reader(const char* begin, const char* end, const Format& format, NamedRows& rows) noexcept
      : p_(begin),
        end_(end),
        format_(format),
        rows_(rows),
        row_(rows, format.crosses, format.keep_names),
        texts_(row_, false),
        wants_offset_(format.columns.has(Role::offset)),
        fills_(format.missing && !format.open) {}

  ParseError read() noexcept {
    bool ready = words::prepare_rows(row_, format_.columns, static_cast<std::size_t>(end_ - p_));
    ready = ready && path_.reserve(1024) && seen_.reserve(format_.columns.size());
    seen_.set_size(0);
    for (std::size_t c = 0; ready && c < format_.columns.size(); ++c) ready = seen_.push_back(0);
    ParseError error = read_lines(ready, p_, end_, rows_, row_, [this] { return read_line(); });
    error.detail = detail_;
    error.where_end = where_end_;
    return error;
  }

 private:
  // Leaves p_ at the newline, or at what is wrong.
  ErrorKind read_line() noexcept {
    skip_space();
    if (*p_ == '\n') return nullptr;
    if (*p_ != '{') return "object";
    target_ = {};
    labels_ = weights_ = offsets_ = 0;
    path_.set_size(0);
    likely_ = 0;
    ++line_;
    const char* const start = p_;
    if (const ErrorKind kind = read_object({nullptr, Crosses::kNone}, 0)) return kind;
    skip_space();
    if (*p_ != '\n') return "trailing";
    if (labels_ == 0 && format_.labelled) return p_ = start, "label_missing";
    if (offsets_ == 0 && wants_offset_) return p_ = start, "offset_missing";
    if (fills_) {
      if (const ErrorKind kind = add_unseen()) return p_ = start, kind;
    }
    return kind_of(row_.end_row(target_));
  }

  // Columns that the object does not have.
  ErrorKind add_unseen() noexcept {
    for (const SchemaColumn& column : format_.columns) {
      if (!is_feature(column.role) || seen_.data()[&column - &format_.columns[0]] == line_) continue;
      row_.set_group(column.group);
      if (const ErrorKind kind = add_name(column.absent)) return kind;
    }
    return nullptr;
  }

  void skip_space() noexcept { pass_space(p_); }
  std::string_view path() const noexcept { return {path_.data(), path_.size()}; }

  Place place_of_path(Place outer) noexcept {
    Place place = outer;
    if (outer.role() == Role::free) {
      const std::size_t found = format_.columns.find(path(), likely_);
      if (found != SchemaColumns::kNone) {
        place.column = &format_.columns[found];
        seen_.data()[found] = line_;
        likely_ = found + 1;
      }
    }
    return crossed(place);
  }
  Place crossed(Place place) const noexcept {
    if (!format_.crosses.products.empty()) {
      const int own = format_.crosses.group_of(path());
      if (own != Crosses::kNone) place.group = own;
    }
    return place;
  }

  ErrorKind read_object(Place outer, int depth) noexcept {
    if (depth == kDeepest) return "depth";
    ++p_;
    const std::size_t outer_size = path_.size();
    skip_space();
    if (*p_ == '}') return ++p_, nullptr;
    for (;;) {
      skip_space();
      if (*p_ != '"') return "key";
      Place place = outer;
      if (depth > 0 || !take_likely_key(place)) {
        if (const ErrorKind kind = read_key(depth)) return kind;
        place = place_of_path(outer);
      }
      skip_space();
      if (*p_ != ':') return "colon";
      ++p_;
      if (const ErrorKind kind = read_value(place, depth + 1)) return kind;
      path_.set_size(outer_size);
      skip_space();
      if (*p_ == '}') return ++p_, nullptr;
      if (*p_ != ',') return "comma_object";
      ++p_;
    }
  }

  // Takes the key at p_ if it is the column that comes next where they are in order: then nothing is looked for.
  bool take_likely_key(Place& place) noexcept {
    if (likely_ >= format_.columns.size()) return false;
    const SchemaColumn& column = format_.columns[likely_];
    const std::size_t size = column.name.size();
    if (!column.plain || first_bytes(p_ + 1, size) != column.short_name || p_[1 + size] != '"') return false;
    key_ = p_;
    p_ = key_end_ = p_ + size + 2;
    std::memcpy(path_.data(), &column.short_name, sizeof column.short_name);
    path_.set_size(size);
    seen_.data()[likely_++] = line_;
    place = crossed({&column, place.group});
    return true;
  }

  // Appends the key at p_ to the path.
  ErrorKind read_key(int depth) noexcept {
    key_ = p_;
    const ErrorKind kind = append_key(p_, depth > 0, path_);
    return key_end_ = p_, kind;
  }

  ErrorKind read_value(Place place, int depth) noexcept {
    skip_space();
    switch (*p_) {
      case '"':
        return read_string(place);
      case '{':
      case '[':
        return read_several(place, depth);
      case 't':
        return read_word("true", place, 1);
      case 'f':
        return read_word("false", place, 0);
      case 'n':
        if (std::memcmp(p_, "null", 4) == 0) return p_ += 4, read_null(place);
        break;
      default:
        break;
    }
    return read_number_value(place);
  }

  // An object or a list, whose values are what the column is; numbers that are changed are one each.
  ErrorKind read_several(Place place, int depth) noexcept {
    if (is_target(place.role())) return foreign(place.role());
    const bool text = place.role() == Role::text && *p_ == '{';
    if (is_number(place.role()) || text) return wrong_kind(*place.column);
    return *p_ == '{' ? read_object(place, depth) : read_list(place, depth);
  }
  ErrorKind wrong_kind(const SchemaColumn& column) noexcept {
    return detail_ = column.name.c_str(), column.role == Role::text ? "kind_text" : "kind";
  }
  ErrorKind unknown_key() noexcept { return p_ = key_, where_end_ = key_end_, "key_unknown"; }
  bool is_unknown(Place place) const noexcept { return place.column == nullptr && !format_.open; }
  ErrorKind read_list(Place place, int depth) noexcept {
    if (depth == kDeepest) return "depth";
    ++p_;
    const std::size_t outer_size = path_.size();
    skip_space();
    if (*p_ == ']') return ++p_, nullptr;
    for (std::uint64_t i = 0;; ++i) {
      skip_space();
      if (*p_ != '"') {
        char digits[24] = {'.'};
        const auto written = std::to_chars(digits + 1, digits + sizeof digits, i);
        if (!path_.append(digits, static_cast<std::size_t>(written.ptr - digits))) return "no_memory";
      }
      if (const ErrorKind kind = read_value(place, depth + 1)) return kind;
      path_.set_size(outer_size);
      skip_space();
      if (*p_ == ']') return ++p_, nullptr;
      if (*p_ != ',') return "comma_list";
      ++p_;
    }
  }

  ErrorKind read_word(std::string_view word, Place place, double value) noexcept {
    if (std::memcmp(p_, word.data(), word.size()) != 0) return "value";
    const char* const start = p_;
    p_ += word.size();
    if (place.role() == Role::category) return at(start, add(word, place));
    return take_number(start, value, static_cast<float>(value), place);
  }

  ErrorKind read_null(Place place) noexcept {
    if (!is_feature(place.role()) || !format_.missing || is_unknown(place)) return nullptr;
    return add("?", place);
  }

  ErrorKind read_number_value(Place place) noexcept {
    const char* const start = p_;
    const char* const end = number_end(p_);
    if (end == nullptr) return starts_non_finite(p_) ? not_finite(place.role()) : "value";
    p_ = end;
    if (place.role() == Role::ignored) return nullptr;
    if (place.role() == Role::category) return at(start, add(without_zeros(start, end), place));
    return read_digits(start, end, place);
  }

  // A number between start and end, behind which stands something that is none.
  ErrorKind read_digits(const char* start, const char* end, Place place) noexcept {
    if (is_target(place.role())) {
      double number = 0;
      if (const ErrorKind kind = read_target(start, end, place.role(), number)) return p_ = start, kind;
      return take_number(start, number, 0, place);
    }
    const Number<float> number = read_short_number(start);
    if (number.error == NumberError::not_finite) return p_ = start, "value_not_finite";
    if (number.error == NumberError::syntax || number.end != end) return p_ = start, "value_syntax";
    if (number.error == NumberError::too_large) return p_ = start, "value_too_large";
    return take_number(start, number.value, number.value, place);
  }

  ErrorKind take_number(const char* start, double exact, float value, Place place) noexcept {
    const Role role = place.role();
    if (role == Role::ignored) return nullptr;
    if (role == Role::label) {
      const bool known = format_.label_names.empty();
      if (!known && format_.labelled) return p_ = start, "label_unknown";
      if (known) target_.label = exact;
      return ++labels_ > 1 ? (p_ = start, "label_twice") : nullptr;
    }
    if (role == Role::weight) {
      target_.weight = exact;
      const ErrorKind kind = check_weight(exact);
      return at(start, kind == nullptr && ++weights_ > 1 ? "weight_twice" : kind);
    }
    if (role == Role::offset) {
      target_.offset = exact;
      const ErrorKind kind = check_offset(exact);
      return at(start, kind == nullptr && ++offsets_ > 1 ? "offset_twice" : kind);
    }
    if (is_unknown(place)) return p_ = start, unknown_key();
    if (role == Role::text) return p_ = start, wrong_kind(*place.column);
    row_.set_group(place.group);
    if (role == Role::bucket) return at(start, add_name(place.column->bucket_name(value)));
    if (is_number(role)) value = place.column->value_of(value);
    if (!std::isfinite(value)) return p_ = start, "scaled_too_large";
    if (value == 0) return nullptr;
    char* const room = row_.name_room(path_.size());
    if (room == nullptr) return "no_memory";
    std::memcpy(room, path_.data(), path_.size());
    const bool known = place.column != nullptr && place.column->name.size() == path_.size();
    return at(start, kind_of(known ? row_.add(place.column->key, path_.size(), value)
                                   : row_.add(path_.size(), value)));
  }

  ErrorKind read_string(Place place) noexcept {
    const char* const open = p_++;
    const char* from = p_;
    bool escapes = false;
    if (const ErrorKind kind = find_string_end(p_, escapes)) return *p_ == '\n' ? (p_ = open, kind) : kind;
    const char* const end = p_++;
    const char* const after = p_;
    const auto size = static_cast<std::size_t>(end - from);
    // Two bytes for = and a newline behind the text, which ends a number.
    char* const room = row_.name_room(path_.size() + size + 2 + kPadding);
    if (room == nullptr) return "no_memory";
    std::memcpy(room, path_.data(), path_.size());
    char* out = room + path_.size();
    *out++ = '=';
    char* const text = out;
    if (!escapes) {
      std::memcpy(out, from, size);
      out += size;
    } else if (const ErrorKind kind = unescape(from, end, out)) {
      return p_ = from, kind;
    }
    p_ = after;
    return at(open, take_text(text, out, room, place));
  }

  // The text between `text` and `end`, at the end of a name in name_room().
  ErrorKind take_text(char* text, char* end, const char* name, Place place) noexcept {
    const std::string_view word(text, static_cast<std::size_t>(end - text));
    *end = '\n';
    switch (place.role()) {
      case Role::ignored:
        return nullptr;
      case Role::label:
        return take_label(word);
      case Role::weight:
        return "weight_syntax";
      case Role::offset:
        return "offset_syntax";
      case Role::number:
      case Role::log1p:
      case Role::bucket:
        return read_numeric(text, end, place);
      case Role::text:
        return read_text(word, place);
      default:
        if (is_unknown(place)) return unknown_key();
        if (format_.is_absent(word)) return read_null(place);
        if (place.column != nullptr && place.column->numeric && truth_of(word) >= 0)
          return take_number(p_, truth_of(word), static_cast<float>(truth_of(word)), place);
        if (!format_.as_written && is_respelled(word)) respell(text, word.size());
        row_.set_group(place.group);
        return kind_of(row_.add(static_cast<std::size_t>(end - name), 1));
    }
  }

  ErrorKind read_text(std::string_view word, Place place) noexcept {
    if (words::is_no_text(place.column->text, word) || format_.is_absent(word)) return read_null(place);
    row_.set_group(place.group);
    const ErrorKind kind = texts_.add_copy(place.column->text, place.column->name, word);
    return kind == nullptr ? kind : (detail_ = place.column->name.c_str(), kind);
  }

  ErrorKind take_label(std::string_view text) noexcept {
    const std::string_view word = trimmed(text);
    if (word.empty() || format_.is_absent(word)) return nullptr;  // as if it were not there
    if (++labels_ > 1) return "label_twice";
    return read_label(word, format_.label_names, format_.labelled, target_.label);
  }

  // A text where numbers are: it is one, or means that it is missing.
  ErrorKind read_numeric(const char* text, const char* end, Place place) noexcept {
    const char* const after = p_;
    const std::string_view word = trimmed({text, static_cast<std::size_t>(end - text)});
    if (word.empty() || means_missing(word) || format_.is_absent(word)) return read_null(place);
    if (const int is = truth_of(word); is >= 0) return take_number(after, is, static_cast<float>(is), place);
    const ErrorKind kind = read_digits(word.data(), word.data() + word.size(), place);
    p_ = after;
    return kind != nullptr && std::strcmp(kind, "value_syntax") == 0 ? wrong_kind(*place.column) : kind;
  }

  ErrorKind add_name(std::string_view name) noexcept {
    char* const room = row_.name_room(name.size());
    if (room != nullptr) std::memcpy(room, name.data(), name.size());
    return room == nullptr ? "no_memory" : kind_of(row_.add(name.size(), 1));
  }

  // The feature path=text.
  ErrorKind add(std::string_view text, Place place) noexcept {
    row_.set_group(place.group);
    const std::size_t size = path_.size() + 1 + text.size();
    char* const room = row_.name_room(size);
    if (room == nullptr) return "no_memory";
    std::memcpy(room, path_.data(), path_.size());
    room[path_.size()] = '=';
    std::memcpy(room + path_.size() + 1, text.data(), text.size());
    return kind_of(row_.add(size, 1));
  }

  ErrorKind at(const char* where, ErrorKind kind) noexcept {
    if (kind != nullptr) p_ = where;
    return kind;
  }

  const char* p_;
  const char* const end_;
  const Format& format_;
  NamedRows& rows_;
  RowBuilder row_;
  words::TextColumns texts_;
  const bool wants_offset_;
  const bool fills_;  // what an object does not have is a feature
  Array<char> path_;
  Array<std::uint64_t> seen_;  // of each column, the line that had it last
  std::uint64_t line_ = 0;
  std::size_t likely_ = 0;  // the column that comes next, if they are in order
  const char* detail_ = "";
  const char* key_ = nullptr;  // the last key, and its end
  const char* key_end_ = nullptr;
  const char* where_end_ = nullptr;
  Target target_;
  int labels_ = 0, weights_ = 0, offsets_ = 0;  // found in this object
};

}  // namespace json

using JsonReader = NamedReader<json::Reader, json::Format>;

}  // namespace riata
