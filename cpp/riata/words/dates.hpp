// Dates to their parts: `2024-03-01T17:30` is year 2024, month 3, a Friday, hour 17.
//
// The forms of ISO 8601 that are written most: 2024-03, 2024-03-01, 20240301, and behind a day a T or a blank, 17:30,
// 17:30:05 or 17:30:05.25, and perhaps Z, +02, +0200 or +02:00. The hour is that of the clock where it was written:
// what stands behind it about the zone changes nothing.
#pragma once

#include <charconv>
#include <cstddef>
#include <string_view>

#include "riata/block/named_row_builder.hpp"
#include "riata/text/scan.hpp"

namespace riata::words {

struct Date {
  int year = 0, month = 0;
  int weekday = -1;  // from Monday, 0, on; -1: no day
  int hour = -1;     // -1: no time
};

namespace detail {

class DateText {
 public:
  explicit DateText(std::string_view text) noexcept : text_(text) {}

  bool read(Date& date) noexcept {
    int day = 0;
    if (!digits(4, date.year) || date.year < 1) return false;
    const bool separated = take('-');
    if (!digits(2, date.month) || date.month < 1 || date.month > 12) return false;
    if (separated && text_.empty()) return true;
    if (separated && !take('-')) return false;
    if (!digits(2, day) || day < 1 || day > days_in(date.year, date.month)) return false;
    date.weekday = weekday_of(date.year, date.month, day);
    if (text_.empty()) return true;
    return (take('T') || take('t') || take(' ')) && read_time(date.hour) && read_zone() && text_.empty();
  }

 private:
  bool read_time(int& hour) noexcept {
    int minute = 0, second = 0;
    if (!digits(2, hour) || hour > 23 || !take(':') || !digits(2, minute) || minute > 59) return false;
    if (!take(':')) return true;
    if (!digits(2, second) || second > 60) return false;
    if (!take('.') && !take(',')) return true;
    std::size_t n = 0;
    while (!text_.empty() && is_digit(text_.front())) text_.remove_prefix(1), ++n;
    return n > 0;
  }

  bool read_zone() noexcept {
    if (text_.empty() || take('Z') || take('z')) return true;
    int hours = 0, minutes = 0;
    if (!(take('+') || take('-')) || !digits(2, hours) || hours > 23) return false;
    if (text_.empty()) return true;
    take(':');
    return digits(2, minutes) && minutes < 60;
  }

  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

  bool take(char c) noexcept {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool digits(std::size_t count, int& number) noexcept {
    if (text_.size() < count) return false;
    number = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_digit(text_[i])) return false;
      number = 10 * number + (text_[i] - '0');
    }
    text_.remove_prefix(count);
    return true;
  }

  static int days_in(int year, int month) noexcept {
    constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
  }

  // From Monday, 0, on.
  static int weekday_of(int year, int month, int day) noexcept {
    constexpr int shift[] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
    if (month < 3) --year;
    const int from_sunday = (year + year / 4 - year / 100 + year / 400 + shift[month - 1] + day) % 7;
    return (from_sunday + 6) % 7;
  }

  std::string_view text_;
};

}  // namespace detail

// False: this is no date.
inline bool read_date(std::string_view text, Date& date) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  date = {};
  return detail::DateText(text).read(date);
}

// Adds the parts to the row: features `name^year=2024`, `name^month=3`, `name^weekday=fri`, `name^hour=17`.
inline ErrorKind add_date(RowBuilder& row, std::string_view name, const Date& date) noexcept {
  constexpr std::string_view weekdays[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
  const auto add = [&](std::string_view part, std::string_view value) -> ErrorKind {
    const std::size_t size = name.size() + part.size() + value.size();
    char* const room = row.name_room(size);
    if (room == nullptr) return "no_memory";
    std::memcpy(room, name.data(), name.size());
    std::memcpy(room + name.size(), part.data(), part.size());
    std::memcpy(room + name.size() + part.size(), value.data(), value.size());
    return kind_of(row.add(size, 1));
  };
  const auto number = [&](std::string_view part, int value) {
    char digits[8];
    const auto written = std::to_chars(digits, digits + sizeof digits, value);
    return add(part, {digits, static_cast<std::size_t>(written.ptr - digits)});
  };
  if (const ErrorKind kind = number("^year=", date.year)) return kind;
  if (const ErrorKind kind = number("^month=", date.month)) return kind;
  if (date.weekday >= 0) {
    if (const ErrorKind kind = add("^weekday=", weekdays[date.weekday])) return kind;
  }
  return date.hour >= 0 ? number("^hour=", date.hour) : nullptr;
}

}  // namespace riata::words
