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

#include "riata/named.hpp"
#include "riata/scan.hpp"
#include "riata/vw_label.hpp"

namespace riata {

namespace vw {

struct Options {
  bool labelled = true;  // if not, a line may lack its label, which is then NaN
  bool keep_names = true;
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
        row_(rows, crosses, options.keep_names) {}

  Complaint read() noexcept {
    const char* line = p_;
    Kind kind = row_.prepare(static_cast<std::size_t>(end_ - p_)) ? nullptr : "no_memory";
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
    while (is_blank(*p_)) ++p_;
    if (*p_ == '\n') return nullptr;
    Label label;
    if (const Kind kind = read_label(p_, options_.labelled, label)) return kind;
    while (*p_ == '|') {
      ++p_;
      if (const Kind kind = read_namespace()) return kind;
      if (const Kind kind = read_features()) return kind;
    }
    return kind_of(row_.end_row(label.value, label.weight));
  }

  // What follows the bar: nothing, a name, or name:weight.
  Kind read_namespace() noexcept {
    const char* const start = p_;
    while (!ends_name(*p_)) ++p_;
    const auto size = static_cast<std::size_t>(p_ - start);
    weight_ = 1;
    unnamed_ = 0;
    row_.set_group(crosses_.products.empty() ? Crosses::kNone : crosses_.group_of({start, size}));
    prefix_ = start;
    prefix_size_ = size;
    short_prefix_ = 0;
    if (size > 0 && size < 16) {
      std::memcpy(&short_prefix_, start, size);
      short_prefix_ |= static_cast<Wide>('^') << (8 * size);
    }
    if (*p_ != ':') return nullptr;
    if (size == 0) return "namespace_name";
    const char* const colon = p_++;
    if (is_blank(*p_) || *p_ == '\n' || *p_ == '|') return p_ = colon, "namespace_weight_missing";
    return read_value(weight_, "namespace_weight_syntax");
  }

  Kind read_features() noexcept {
    for (;;) {
      const Kind kind = read_plain_features();
      if (kind != nullptr) return kind;
      while (is_blank(*p_)) ++p_;
      if (*p_ == '\n' || *p_ == '|') return nullptr;
      if (const Kind other = read_feature()) return other;
    }
  }

  // Features whose names, with the namespace, have up to 16 bytes, one blank between them, as many as there
  // are. It stops at whatever it does not recognise.
  Kind read_plain_features() noexcept {
    const std::size_t prefix = prefix_size_ + (prefix_size_ > 0);
    if (prefix > 15) return nullptr;
    const char* p = p_;
    while (*p == ' ') {
      const char* const name = p + 1;
      const auto size = static_cast<std::size_t>(std::countr_zero(stops16(name, ':', '|') | 0x10000u));
      if (size == 0 || size + prefix > 16) break;
      const char* q = name + size;
      float value = weight_;
      if (*q == ':') {
        if (is_digit(q[1]) && (q[2] == ' ' || q[2] == '\n')) {
          value *= static_cast<float>(q[1] - '0');
          q += 2;
        } else {
          const Number<float> number = read_short_number(q + 1);
          if (number.error != NumberError::none || !ends_feature(*number.end)) break;
          value *= number.value;
          q = number.end;
          if (!std::isfinite(value)) break;
        }
      } else if (!ends_feature(*q)) {
        break;
      }
      const Wide whole = short_prefix_ | first_bytes(name, size) << (8 * prefix);
      const Added added = row_.add_short(whole, prefix + size, value);
      if (added != Added::fine) return p_ = name, kind_of(added);
      p = q;
    }
    p_ = p;
    return nullptr;
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
    value *= weight_;
    if (!std::isfinite(value)) return "weighted_too_large";
    char digits[24];
    const std::string_view written = size > 0 ? std::string_view(name, size) : next_unnamed(digits);
    char* const room = row_.name_room(prefix_size_ + 1 + written.size());
    if (room == nullptr) return "no_memory";
    std::memcpy(room, prefix_, prefix_size_);
    room[prefix_size_] = '^';
    const std::size_t start = prefix_size_ + (prefix_size_ > 0);
    std::memcpy(room + start, written.data(), written.size());
    const Added added = row_.add(start + written.size(), value);
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
  const char* prefix_ = nullptr;  // the name of the namespace
  std::size_t prefix_size_ = 0;
  Wide short_prefix_ = 0;  // with ^ behind it, if it has up to 15 bytes
  float weight_ = 1;
  std::uint64_t unnamed_ = 0;
};

}  // namespace vw

inline Complaint read_vw(const char* begin, const char* end, const vw::Options& options,
                         const Crosses& crosses, NamedRows& rows) noexcept {
  return vw::Reader(begin, end, options, crosses, rows).read();
}

}  // namespace riata
