// Columns to the text of a table: numbers as Python writes them, as short as they can be without losing a bit,
// and texts as they are given.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "riata/base/array.hpp"

namespace riata {

// The number as Python's repr has it: 0.1, 1.0, 1e-05, 1e+16, nan. At most 32 bytes; where it ends.
inline char* write_python_number(double value, char* out) noexcept {
  const auto put = [&out](std::string_view text) {
    std::memcpy(out, text.data(), text.size());
    return out += text.size();
  };
  if (std::isnan(value)) return put("nan");
  if (std::signbit(value)) *out++ = '-';
  if (std::isinf(value)) return put("inf");
  if (value == 0) return put("0.0");
  char digits[32];  // d.ddde-05, as short as it can be
  const char* const end =
      std::to_chars(digits, digits + sizeof digits, std::fabs(value), std::chars_format::scientific).ptr;
  const char* const mark = static_cast<const char*>(std::memchr(digits, 'e', sizeof digits));
  int exponent = 0;
  std::from_chars(mark + 1 + (mark[1] == '+'), end, exponent);
  if (exponent < -4 || exponent >= 16) return put({digits, static_cast<std::size_t>(end - digits)});
  digits[1] = digits[0];  // all of them side by side, without the point
  const std::string_view all(digits + 1, mark > digits + 2 ? static_cast<std::size_t>(mark - digits - 1) : 1);
  const char first = all[0];
  const std::string_view rest = all.size() > 1 ? std::string_view(digits + 2, all.size() - 1) : "";
  if (exponent < 0) {
    put("0.");
    for (int k = exponent + 1; k < 0; ++k) *out++ = '0';
    *out++ = first;
    return put(rest);
  }
  *out++ = first;
  const auto whole = static_cast<std::size_t>(exponent);  // digits before the point, but for the first
  put(rest.substr(0, whole));
  for (std::size_t k = rest.size(); k < whole; ++k) *out++ = '0';
  *out++ = '.';
  return rest.size() > whole ? put(rest.substr(whole)) : put("0");
}

struct TableColumn {
  const double* numbers = nullptr;
  const std::int64_t* codes = nullptr;  // instead: which of the texts each row has
  std::vector<std::string_view> texts;
};

// So many rows; false: no memory. Codes were checked.
inline bool write_table(const std::vector<TableColumn>& columns, std::size_t rows, char delimiter,
                        Array<char>& out) noexcept {
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const TableColumn& column = columns[c];
      const std::string_view text =
          column.codes == nullptr ? "" : column.texts[static_cast<std::size_t>(column.codes[row])];
      const std::size_t need = out.size() + text.size() + 40;
      if (need > out.capacity() && !out.reserve(2 * need)) return false;
      char* const begin = out.data() + out.size();
      char* end = begin;
      if (column.codes == nullptr) {
        end = write_python_number(column.numbers[row], begin);
      } else if (!text.empty()) {
        std::memcpy(begin, text.data(), text.size());
        end = begin + text.size();
      }
      *end++ = c + 1 < columns.size() ? delimiter : '\n';
      out.set_size(out.size() + static_cast<std::size_t>(end - begin));
    }
  }
  return true;
}

}  // namespace riata
