// JSON objects, one a line, to rows of named features.
//
// Keys of nested objects are joined by a point. A number is a feature with that name, true is 1, false and 0
// are nothing, a text is `key=text`, each text of a list is one, other things in a list are numbered `key.0`.
// null is nothing, or `key=?` where that is asked for.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "riata/block/read_lines.hpp"
#include "riata/formats/json/options.hpp"
#include "riata/formats/json/tokens.hpp"
#include "riata/text/scan.hpp"

namespace riata {

namespace json {

inline constexpr int kDeepest = 64;

class Reader {
 public:
  Reader(const char* begin, const char* end, const Format& format, NamedRows& rows) noexcept
      : p_(begin),
        end_(end),
        format_(format),
        rows_(rows),
        row_(rows, format.crosses, format.keep_names),
        wants_offset_(format.has(Role::offset)) {}

  ParseError read() noexcept {
    const bool ready = row_.prepare(static_cast<std::size_t>(end_ - p_)) && path_.reserve(1024);
    return read_lines(ready, p_, end_, rows_, row_, [this] { return read_line(); });
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
    const char* const start = p_;
    if (const ErrorKind kind = read_object({Role::feature, Crosses::kNone}, 0)) return kind;
    skip_space();
    if (*p_ != '\n') return "trailing";
    if (labels_ == 0 && format_.labelled) return p_ = start, "label_missing";
    if (offsets_ == 0 && wants_offset_) return p_ = start, "offset_missing";
    return kind_of(row_.end_row(target_));
  }

  struct Place {  // what is known of a value before it is read
    Role role;
    int group;
  };

  void skip_space() noexcept {
    while (is_blank(*p_)) ++p_;
  }

  std::string_view path() const noexcept { return {path_.data(), path_.size()}; }

  Place place_of_path(Place outer) const noexcept {
    Place place = outer;
    if (outer.role == Role::feature && !format_.roles.empty()) place.role = format_.role_of(path());
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
      if (const ErrorKind kind = read_key(depth)) return kind;
      skip_space();
      if (*p_ != ':') return "colon";
      ++p_;
      if (const ErrorKind kind = read_value(place_of_path(outer), depth + 1)) return kind;
      path_.set_size(outer_size);
      skip_space();
      if (*p_ == '}') return ++p_, nullptr;
      if (*p_ != ',') return "comma_object";
      ++p_;
    }
  }

  // Appends the key at p_ to the path.
  ErrorKind read_key(int depth) noexcept {
    const char* from = ++p_;
    bool escapes = false;
    if (const ErrorKind kind = find_string_end(p_, escapes)) return kind;
    const auto size = static_cast<std::size_t>(p_ - from);
    if (depth > 0 && !path_.push_back('.')) return "no_memory";
    if (!escapes) {
      if (!path_.append(from, size)) return "no_memory";
    } else {
      if (!path_.reserve(path_.size() + size)) return "no_memory";
      char* out = path_.data() + path_.size();
      if (const ErrorKind kind = unescape(from, p_, out)) return p_ = from, kind;
      path_.set_size(static_cast<std::size_t>(out - path_.data()));
    }
    ++p_;
    return nullptr;
  }

  ErrorKind read_value(Place place, int depth) noexcept {
    skip_space();
    switch (*p_) {
      case '"':
        return read_string(place);
      case '{':
        return is_target(place.role) ? foreign(place.role) : read_object(place, depth);
      case '[':
        return is_target(place.role) ? foreign(place.role) : read_list(place, depth);
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

  // What belongs to the example and is no feature.
  static bool is_target(Role role) noexcept {
    return role == Role::label || role == Role::weight || role == Role::offset;
  }
  static ErrorKind of_target(Role role, ErrorKind label, ErrorKind weight, ErrorKind offset) noexcept {
    return role == Role::label ? label : role == Role::weight ? weight : offset;
  }
  static ErrorKind foreign(Role role) noexcept {
    return of_target(role, "label_kind", "weight_syntax", "offset_syntax");
  }
  static ErrorKind not_finite(Role role) noexcept {
    if (!is_target(role)) return "value_not_finite";
    return of_target(role, "label_not_finite", "weight_not_finite", "offset_not_finite");
  }

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
    if (place.role == Role::categorical) return at(start, add(word, 1, place));
    return take_number(start, value, static_cast<float>(value), place);
  }

  ErrorKind read_null(Place place) noexcept {
    if (is_target(place.role) || place.role == Role::ignored || !format_.missing) return nullptr;
    return add("?", 1, place);
  }

  ErrorKind read_number_value(Place place) noexcept {
    const char* const start = p_;
    const char* const end = number_end(p_);
    if (end == nullptr) return starts_non_finite() ? not_finite(place.role) : "value";
    p_ = end;
    if (place.role == Role::ignored) return nullptr;
    if (place.role == Role::categorical) {
      return at(start, add({start, static_cast<std::size_t>(end - start)}, 1, place));
    }
    return read_digits(start, end, place);
  }

  bool starts_non_finite() const noexcept {
    const char* const word = p_ + (*p_ == '-');
    return std::memcmp(word, "NaN", 3) == 0 || std::memcmp(word, "Infinity", 8) == 0;
  }

  // A number between start and end, behind which stands something that is none.
  ErrorKind read_digits(const char* start, const char* end, Place place) noexcept {
    if (is_target(place.role)) {
      const Number<double> number = read_number<double>(start);
      if (number.error == NumberError::syntax || number.end != end)
        return p_ = start, of_target(place.role, "label_syntax", "weight_syntax", "offset_syntax");
      if (number.error != NumberError::none)
        return p_ = start, of_target(place.role, "label_too_large", "weight_not_finite", "offset_too_large");
      return take_number(start, number.value, 0, place);
    }
    const Number<float> number = read_short_number(start);
    if (number.error == NumberError::not_finite) return p_ = start, "value_not_finite";
    if (number.error == NumberError::syntax || number.end != end) return p_ = start, "value_syntax";
    if (number.error == NumberError::too_large) return p_ = start, "value_too_large";
    return take_number(start, number.value, number.value, place);
  }

  ErrorKind take_number(const char* start, double exact, float value, Place place) noexcept {
    if (place.role == Role::ignored) return nullptr;
    if (place.role == Role::label) {
      if (!format_.label_names.empty()) return p_ = start, "label_unknown";
      target_.label = exact;
      return ++labels_ > 1 ? (p_ = start, "label_twice") : nullptr;
    }
    if (place.role == Role::weight) {
      target_.weight = exact;
      if (const ErrorKind kind = check_weight(exact)) return p_ = start, kind;
      return ++weights_ > 1 ? (p_ = start, "weight_twice") : nullptr;
    }
    if (place.role == Role::offset) {
      target_.offset = exact;
      if (const ErrorKind kind = check_offset(exact)) return p_ = start, kind;
      return ++offsets_ > 1 ? (p_ = start, "offset_twice") : nullptr;
    }
    if (value == 0) return nullptr;
    row_.set_group(place.group);
    char* const room = row_.name_room(path_.size());
    if (room == nullptr) return "no_memory";
    std::memcpy(room, path_.data(), path_.size());
    return at(start, kind_of(row_.add(path_.size(), value)));
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
    switch (place.role) {
      case Role::ignored:
        return nullptr;
      case Role::label:
        return take_label(word);
      case Role::weight:
        return "weight_syntax";
      case Role::offset:
        return "offset_syntax";
      case Role::numeric:
        return read_numeric(word, place);
      default:
        row_.set_group(place.group);
        return kind_of(row_.add(static_cast<std::size_t>(end - name), 1));
    }
  }

  ErrorKind take_label(std::string_view word) noexcept {
    return ++labels_ > 1 ? "label_twice" : read_label(word, format_.label_names, target_.label);
  }

  // A text that is to be read as a number; empty is missing.
  ErrorKind read_numeric(std::string_view word, Place place) noexcept {
    const char* const after = p_;
    const ErrorKind kind =
        word.empty() ? read_null(place) : read_digits(word.data(), word.data() + word.size(), place);
    p_ = after;
    return kind;
  }

  // The feature path=text.
  ErrorKind add(std::string_view text, float value, Place place) noexcept {
    row_.set_group(place.group);
    const std::size_t size = path_.size() + 1 + text.size();
    char* const room = row_.name_room(size);
    if (room == nullptr) return "no_memory";
    std::memcpy(room, path_.data(), path_.size());
    room[path_.size()] = '=';
    std::memcpy(room + path_.size() + 1, text.data(), text.size());
    return kind_of(row_.add(size, value));
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
  const bool wants_offset_;
  Array<char> path_;
  Target target_;
  int labels_ = 0, weights_ = 0, offsets_ = 0;  // found in this object
};

}  // namespace json

struct JsonReader {
  const json::Format& format;

  using Rows = NamedRows;
  ParseError read(const char* begin, const char* end, NamedRows& rows) const noexcept {
    return json::Reader(begin, end, format, rows).read();
  }
};

}  // namespace riata
