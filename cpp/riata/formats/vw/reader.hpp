// Vowpal Wabbit text to rows of named features.
//
// Contract: `begin` to `end` holds whole lines, each ended by a newline, and kPadding bytes behind it are
// readable. The name of a feature is `namespace^feature`, or `feature` alone where the namespace has no name.
// The reader stops at the first line it cannot read and says where and why; the rows before it are in the
// result.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "riata/block/named_row_builder.hpp"
#include "riata/formats/vw/common_features.hpp"
#include "riata/formats/vw/label.hpp"
#include "riata/text/scan.hpp"

namespace riata {

namespace vw {

struct Options {
  bool labelled = true;  // if not, a line may lack its label, which is then NaN
  bool keep_names = true;
  bool hurry = true;  // if not, every feature is read with care: the rows are the same
};

class Reader {
 public:
  Reader(const char* begin, const char* end, const Options& options, const Crosses& crosses,
         NamedRows& rows) noexcept
      : p_(begin),
        end_(end),
        options_(options),
        crosses_(crosses),
        rows_(rows),
        row_(rows, crosses, options.keep_names),
        quick_(begin, static_cast<std::size_t>(end - begin), row_) {}

  ParseError read() noexcept {
    const char* line = p_;
    Kind kind = quick_.prepare() ? nullptr : "no_memory";
    while (kind == nullptr && p_ < end_) {
      kind = read_line(options_.hurry);
      if (kind != nullptr && options_.hurry) {
        row_.drop_row();
        p_ = line;
        kind = read_line(false);
      }
      if (kind != nullptr) break;
      line = ++p_;
      ++rows_.n_lines;
    }
    if (kind != nullptr) row_.drop_row();
    row_.finish();
    return {kind, line, p_, nullptr, ""};
  }

 private:
  // Leaves p_ at the newline, or at what is wrong. In a hurry it may not know what is wrong where.
  Kind read_line(bool hurry) noexcept {
    hurry_ = hurry;
    while (is_blank(*p_)) ++p_;
    if (*p_ == '\n') return nullptr;
    Label label;
    if (const Kind kind = read_label(p_, options_.labelled, label)) return kind;
    while (*p_ == '|') {
      ++p_;
      if (const Kind kind = read_namespace()) return kind;
      if (const Kind kind = read_features()) return kind;
    }
    return kind_of(row_.end_row(label.value, label.weight, label.initial));
  }

  // What follows the bar: nothing, a name, or name:weight.
  Kind read_namespace() noexcept {
    const char* const start = p_;
    while (!ends_name(*p_)) ++p_;
    const std::string_view name(start, static_cast<std::size_t>(p_ - start));
    unnamed_ = 0;
    row_.set_group(crosses_.products.empty() ? Crosses::kNone : crosses_.group_of(name));
    space_.set_name(start, name.size());
    if (*p_ != ':') {
      if (space_.weight != 1) space_.set_weight(1);
      return nullptr;
    }
    if (name.empty()) return "namespace_name";
    const char* const colon = p_++;
    if (is_blank(*p_) || *p_ == '\n' || *p_ == '|') return p_ = colon, "namespace_weight_missing";
    float weight = 1;
    const Kind kind = read_value(weight, "namespace_weight_syntax");
    space_.set_weight(weight);
    return kind;
  }

  Kind read_features() noexcept {
    for (;;) {
      if (hurry_ && *p_ == ' ' && !quick_.read(space_, p_)) return "no_memory";
      while (is_blank(*p_)) ++p_;
      if (*p_ == '\n' || *p_ == '|') return nullptr;
      if (const Kind kind = read_feature()) return kind;
    }
  }

  // Any feature.
  Kind read_feature() noexcept {
    const char* const name = p_;
    while (!ends_name(*p_)) ++p_;
    const auto size = static_cast<std::size_t>(p_ - name);
    float value = 1;
    if (*p_ == ':') {
      ++p_;
      if (is_blank(*p_) || *p_ == '\n' || *p_ == '|') return p_ = name, "value_missing";
      if (const Kind kind = read_value(value, "value_syntax")) return kind;
    }
    const char* const after = p_;
    p_ = name;
    value *= space_.weight;
    if (!std::isfinite(value)) return "weighted_too_large";
    char digits[24];
    const std::string_view written = size > 0 ? std::string_view(name, size) : next_unnamed(digits);
    const std::size_t whole = space_.prefix_size() + written.size();
    char* const room = row_.name_room(whole + 1);
    if (room == nullptr) return "no_memory";
    space_.write(room, written.data(), written.size());
    const Added added = hurry_ ? row_.add_later(whole, value) : row_.add(whole, value);
    if (added == Added::fine) p_ = after;
    return kind_of(added);
  }

  // A feature without a name, `:0.5`, has its place among them as its name, as in Vowpal Wabbit.
  std::string_view next_unnamed(char (&digits)[24]) noexcept {
    const auto written = std::to_chars(digits, digits + sizeof digits, unnamed_++);
    return {digits, static_cast<std::size_t>(written.ptr - digits)};
  }

  Kind read_value(float& value, Kind syntax) noexcept {
    const Number<float> number = read_short_number(p_);
    if (number.error == NumberError::not_finite) return "value_not_finite";
    if (number.error == NumberError::syntax || !ends_feature(*number.end)) return syntax;
    if (number.error == NumberError::too_large) return "value_too_large";
    value = number.value;
    p_ = number.end;
    return nullptr;
  }

  static bool ends_feature(char c) noexcept { return is_blank(c) || c == '\n' || c == '|'; }
  static bool ends_name(char c) noexcept { return ends_feature(c) || c == ':'; }

  const char* p_;
  const char* const end_;
  const Options options_;
  const Crosses& crosses_;
  NamedRows& rows_;
  RowBuilder row_;
  Quick quick_;
  Space space_;
  bool hurry_ = true;
  std::uint64_t unnamed_ = 0;
};

}  // namespace vw

inline ParseError read_vw(const char* begin, const char* end, const vw::Options& options,
                          const Crosses& crosses, NamedRows& rows) noexcept {
  return vw::Reader(begin, end, options, crosses, rows).read();
}

}  // namespace riata
