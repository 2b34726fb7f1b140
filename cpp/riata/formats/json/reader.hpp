// JSON objects, one a line, to rows of named features.
//
// Contract: `begin` to `end` holds whole lines, each ended by a newline, and kPadding bytes behind it are
// readable. Keys of nested objects are joined by a point. A number is a feature with that name, true is 1,
// false and 0 are nothing, a text is `key=text`, each text of a list is one, other things in a list are
// numbered `key.0`. null is nothing, or `key=?` where that is asked for. The reader stops at the first line
// it cannot read and says where and why; the rows before it are in the result.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "riata/block/named_row_builder.hpp"
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
    const char* line = p_;
    Kind kind =
        row_.prepare(static_cast<std::size_t>(end_ - p_)) && path_.reserve(1024) ? nullptr : "no_memory";
    while (kind == nullptr && p_ < end_) {
      kind = read_line();
      if (kind != nullptr) break;
      line = ++p_;
      ++rows_.n_lines;
    }
    if (kind != nullptr) row_.drop_row();
    row_.finish();
    return {kind, line, p_, nullptr, ""};
  }

 private:
  // Leaves p_ at the newline, or at what is wrong.
  Kind read_line() noexcept {
    skip_space();
    if (*p_ == '\n') return nullptr;
    if (*p_ != '{') return "object";
    label_ = std::numeric_limits<double>::quiet_NaN();
    weight_ = 1;
    offset_ = 0;
    labels_ = weights_ = offsets_ = 0;
    path_.set_size(0);
    const char* const start = p_;
    if (const Kind kind = read_object({Role::feature, Crosses::kNone}, 0)) return kind;
    skip_space();
    if (*p_ != '\n') return "trailing";
    if (labels_ == 0 && format_.labelled) return p_ = start, "label_missing";
    if (offsets_ == 0 && wants_offset_) return p_ = start, "offset_missing";
    return kind_of(row_.end_row(label_, weight_, offset_));
  }

  struct Place {  // what is known of a value before it is read
    Role role;
    int group;
  };

  void skip_space() noexcept {
    while (is_space(*p_)) ++p_;
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

  Kind read_object(Place outer, int depth) noexcept {
    if (depth == kDeepest) return "depth";
    ++p_;
    const std::size_t outer_size = path_.size();
    skip_space();
    if (*p_ == '}') return ++p_, nullptr;
    for (;;) {
      skip_space();
      if (*p_ != '"') return "key";
      if (const Kind kind = read_key(depth)) return kind;
      skip_space();
      if (*p_ != ':') return "colon";
      ++p_;
      if (const Kind kind = read_value(place_of_path(outer), depth + 1)) return kind;
      path_.set_size(outer_size);
      skip_space();
      if (*p_ == '}') return ++p_, nullptr;
      if (*p_ != ',') return "comma_object";
      ++p_;
    }
  }

  // Appends the key at p_ to the path.
  Kind read_key(int depth) noexcept {
    const char* from = ++p_;
    bool escapes = false;
    if (const Kind kind = find_string_end(p_, escapes)) return kind;
    const auto size = static_cast<std::size_t>(p_ - from);
    if (depth > 0 && !path_.push_back('.')) return "no_memory";
    if (!escapes) {
      if (!path_.append(from, size)) return "no_memory";
    } else {
      if (!path_.reserve(path_.size() + size)) return "no_memory";
      char* out = path_.data() + path_.size();
      if (const Kind kind = unescape(from, p_, out)) return p_ = from, kind;
      path_.set_size(static_cast<std::size_t>(out - path_.data()));
    }
    ++p_;
    return nullptr;
  }

  Kind read_value(Place place, int depth) noexcept {
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
  static Kind of_target(Role role, Kind label, Kind weight, Kind offset) noexcept {
    return role == Role::label ? label : role == Role::weight ? weight : offset;
  }
  static Kind foreign(Role role) noexcept {
    return of_target(role, "label_kind", "weight_syntax", "offset_syntax");
  }
  static Kind not_finite(Role role) noexcept {
    if (!is_target(role)) return "value_not_finite";
    return of_target(role, "label_not_finite", "weight_not_finite", "offset_not_finite");
  }

  Kind read_list(Place place, int depth) noexcept {
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
      if (const Kind kind = read_value(place, depth + 1)) return kind;
      path_.set_size(outer_size);
      skip_space();
      if (*p_ == ']') return ++p_, nullptr;
      if (*p_ != ',') return "comma_list";
      ++p_;
    }
  }

  Kind read_word(std::string_view word, Place place, double value) noexcept {
    if (std::memcmp(p_, word.data(), word.size()) != 0) return "value";
    const char* const start = p_;
    p_ += word.size();
    if (place.role == Role::categorical) return at(start, add(word, 1, place));
    return take_number(start, value, static_cast<float>(value), place);
  }

  Kind read_null(Place place) noexcept {
    if (is_target(place.role) || place.role == Role::ignored || !format_.missing) return nullptr;
    return add("?", 1, place);
  }

  Kind read_number_value(Place place) noexcept {
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
  Kind read_digits(const char* start, const char* end, Place place) noexcept {
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

  Kind take_number(const char* start, double exact, float value, Place place) noexcept {
    if (place.role == Role::ignored) return nullptr;
    if (place.role == Role::label) {
      if (!format_.label_names.empty()) return p_ = start, "label_unknown";
      label_ = exact;
      return ++labels_ > 1 ? (p_ = start, "label_twice") : nullptr;
    }
    if (place.role == Role::weight) {
      weight_ = exact;
      if (exact < 0) return p_ = start, "weight_negative";
      return ++weights_ > 1 ? (p_ = start, "weight_twice") : nullptr;
    }
    if (place.role == Role::offset) {
      offset_ = exact;
      if (std::fabs(exact) > std::numeric_limits<float>::max()) return p_ = start, "offset_too_large";
      return ++offsets_ > 1 ? (p_ = start, "offset_twice") : nullptr;
    }
    if (value == 0) return nullptr;
    row_.set_group(place.group);
    char* const room = row_.name_room(path_.size());
    if (room == nullptr) return "no_memory";
    std::memcpy(room, path_.data(), path_.size());
    return at(start, kind_of(row_.add(path_.size(), value)));
  }

  Kind read_string(Place place) noexcept {
    const char* const open = p_++;
    const char* from = p_;
    bool escapes = false;
    if (const Kind kind = find_string_end(p_, escapes)) return *p_ == '\n' ? (p_ = open, kind) : kind;
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
    } else if (const Kind kind = unescape(from, end, out)) {
      return p_ = from, kind;
    }
    p_ = after;
    return at(open, take_text(text, out, room, place));
  }

  // The text between `text` and `end`, at the end of a name in name_room().
  Kind take_text(char* text, char* end, const char* name, Place place) noexcept {
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

  Kind take_label(std::string_view word) noexcept {
    if (++labels_ > 1) return "label_twice";
    if (format_.label_names.empty()) {
      const Number<double> number = read_number<double>(word.data());
      if (number.error == NumberError::not_finite) return "label_not_finite";
      if (number.error == NumberError::syntax || number.end != word.data() + word.size())
        return "label_syntax";
      if (number.error == NumberError::too_large) return "label_too_large";
      label_ = number.value;
      return nullptr;
    }
    for (std::size_t i = 0; i < format_.label_names.size(); ++i) {
      if (format_.label_names[i] == word) return label_ = static_cast<double>(i), nullptr;
    }
    return "label_unknown";
  }

  // A text that is to be read as a number; empty is missing.
  Kind read_numeric(std::string_view word, Place place) noexcept {
    const char* const after = p_;
    const Kind kind =
        word.empty() ? read_null(place) : read_digits(word.data(), word.data() + word.size(), place);
    p_ = after;
    return kind;
  }

  // The feature path=text.
  Kind add(std::string_view text, float value, Place place) noexcept {
    row_.set_group(place.group);
    const std::size_t size = path_.size() + 1 + text.size();
    char* const room = row_.name_room(size);
    if (room == nullptr) return "no_memory";
    std::memcpy(room, path_.data(), path_.size());
    room[path_.size()] = '=';
    std::memcpy(room + path_.size() + 1, text.data(), text.size());
    return kind_of(row_.add(size, value));
  }

  Kind at(const char* where, Kind kind) noexcept {
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
  double label_ = 0, weight_ = 1, offset_ = 0;
  int labels_ = 0, weights_ = 0, offsets_ = 0;  // found in this object
};

}  // namespace json

inline ParseError read_json(const char* begin, const char* end, const json::Format& format,
                            NamedRows& rows) noexcept {
  return json::Reader(begin, end, format, rows).read();
}

}  // namespace riata
