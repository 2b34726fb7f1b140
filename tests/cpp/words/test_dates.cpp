// Dates by their parts: every form that is read, what is none, weekdays against a calendar counted day by day.
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "formats/row_text.hpp"
#include "riata/words/dates.hpp"

namespace {

using namespace riata;
using words::Date;

std::string parts(std::string_view text) {
  // In memory of its own, so that the address sanitizer notices a read beyond it.
  const std::vector<char> alone(text.begin(), text.end());
  Date date;
  if (!words::read_date({alone.data(), alone.size()}, date)) return "none";
  NamedRows rows;
  const Crosses none;
  RowBuilder row(rows, none, true);
  CHECK(row.prepare(100) && words::add_date(row, "d", date) == nullptr && row.end_row({}) == Added::fine);
  row.finish();
  return row_text(rows, 0);
}

void forms_are_read() {
  const std::string day = "d^year=2024=1 d^month=3=1 d^weekday=fri=1", hour = day + " d^hour=17=1";
  CHECK(parts("2024-03") == "d^year=2024=1 d^month=3=1");
  for (const char* text : {"2024-03-01", "20240301", " 2024-03-01\t"}) CHECK(parts(text) == day);
  for (const char* text :
       {"2024-03-01T17:30", "2024-03-01 17:30:05", "2024-03-01t17:30:05.25", "2024-03-01T17:30:60,5Z",
        "20240301 17:30z", "2024-03-01T17:30+02", "2024-03-01T17:30-0230", "2024-03-01T17:30:05+02:00"})
    CHECK(parts(text) == hour);
  CHECK(parts("0001-01-01T00:00") == "d^year=1=1 d^month=1=1 d^weekday=mon=1 d^hour=0=1");
}

void others_are_refused() {
  for (const char* text : {"",
                           " ",
                           "2024",
                           "202403",
                           "2024-3-1",
                           "2024-13-01",
                           "2024-00-01",
                           "2024-02-30",
                           "2023-02-29",
                           "1900-02-29",
                           "0000-01-01",
                           "2024-03-01T",
                           "2024-03-01T24:00",
                           "2024-03-01T17:60",
                           "2024-03-01T17:30:61",
                           "2024-03-01T17",
                           "2024-03-01T17:30:05.",
                           "2024-03-01T17:30+",
                           "2024-03-01T17:30+24",
                           "2024-03-01T17:30+02:60",
                           "2024-03-01x",
                           "01.03.2024",
                           "3/1/2024",
                           "yesterday",
                           "2024-03-01T17:30Zx",
                           "2024-0301",
                           "-024-03-01"})
    CHECK(parts(text) == "none");
}

void weekdays_are_those_of_the_calendar() {
  constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int weekday = 5;  // the first of January 1600, a Saturday
  for (int year = 1600; year <= 2400; ++year) {
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    for (int month = 1; month <= 12; ++month) {
      const int count = days[month - 1] + (month == 2 && leap ? 1 : 0);
      for (int day = 1; day <= 31; ++day) {
        char text[40];
        std::snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
        Date date;
        CHECK(words::read_date(text, date) == (day <= count));
        if (day > count) continue;
        CHECK(date.year == year && date.month == month && date.weekday == weekday && date.hour == -1);
        weekday = (weekday + 1) % 7;
      }
    }
  }
}

}  // namespace

int main() {
  forms_are_read();
  others_are_refused();
  weekdays_are_those_of_the_calendar();
  return check::failures();
}
