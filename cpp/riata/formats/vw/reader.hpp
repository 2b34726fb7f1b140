// Vowpal Wabbit text to rows of named features.
//
// The name of a feature is `namespace^feature`, or `feature` alone where the namespace has no name.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "riata/block/read_lines.hpp"
#include "riata/formats/vw/common_features.hpp"
#include "riata/formats/vw/label.hpp"
#include "riata/text/scan.hpp"

namespace riata {

namespace vw {

struct Options {
  bool labelled = true;  // if not, a line may lack its label, which is then NaN
  bool keep_names = true;
  bool fast = true;  // if not, every feature is read with care: the rows are the same
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
        common_(begin, static_cast<std::size_t>(end - begin), row_) {}

  ParseError read() noexcept {
    return read_lines(common_.prepare(), p_, end_, rows_, row_, [this] {
      const char* const line = p_;
      const ErrorKind kind = read_line(options_.fast);
      if (kind == nullptr || !options_.fast) return kind;
      row_.drop_row();
      p_ = line;
      return read_line(false);
    });
  }

 private:
  // Leaves p_ at the newline, or at what is wrong. When fast it may not know what is wrong where.
  ErrorKind read_line(bool fast) noexcept {
    fast_ = fast;
    while (is_blank(*p_)) ++p_;
    if (*p_ == '\n') return nullptr;
    Target target;
    if (const ErrorKind kind = read_label(p_, options_.labelled, target)) return kind;
    while (*p_ == '|') {
      ++p_;
      if (const ErrorKind kind = read_namespace()) return kind;
      if (const ErrorKind kind = read_features()) return kind;
    }
    return kind_of(row_.end_row(target));
  }

  // What follows the bar: nothing, a name, or name:weight.
  ErrorKind read_namespace() noexcept {
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
    const ErrorKind kind = read_value(weight, "namespace_weight_syntax");
    space_.set_weight(weight);
    return kind;
  }

  ErrorKind read_features() noexcept {
    for (;;) {
      if (fast_ && *p_ == ' ' && !common_.read(space_, p_)) return "no_memory";
      while (is_blank(*p_)) ++p_;
      if (*p_ == '\n' || *p_ == '|') return nullptr;
      if (const ErrorKind kind = read_feature()) return kind;
    }
  }

  // Any feature.
  ErrorKind read_feature() noexcept {
    const char* const name = p_;
    while (!ends_name(*p_)) ++p_;
    const auto size = static_cast<std::size_t>(p_ - name);
    float value = 1;
    if (*p_ == ':') {
      ++p_;
      if (is_blank(*p_) || *p_ == '\n' || *p_ == '|') return p_ = name, "value_missing";
      if (const ErrorKind kind = read_value(value, "value_syntax")) return kind;
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
    const Added added = fast_ ? row_.add_later(whole, value) : row_.add(whole, value);
    if (added == Added::fine) p_ = after;
    return kind_of(added);
  }

  // A feature without a name, `:0.5`, has its place among them as its name, as in Vowpal Wabbit.
  std::string_view next_unnamed(char (&digits)[24]) noexcept {
    const auto written = std::to_chars(digits, digits + sizeof digits, unnamed_++);
    return {digits, static_cast<std::size_t>(written.ptr - digits)};
  }

  ErrorKind read_value(float& value, ErrorKind syntax) noexcept {
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
  CommonFeatures common_;
  Space space_;
  bool fast_ = true;
  std::uint64_t unnamed_ = 0;
};

}  // namespace vw

struct VwReader {
  vw::Options options;
  const Crosses& crosses;

  using Rows = NamedRows;
  ParseError read(const char* begin, const char* end, NamedRows& rows) const noexcept {
    return vw::Reader(begin, end, options, crosses, rows).read();
  }
};

}  // namespace riata
