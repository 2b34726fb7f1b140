// Columns to rows, checksums, and rows to text, under sanitizers.
#include <limits>
#include <string>
#include <vector>

#include "check.hpp"
#include "riata/checksum.hpp"
#include "riata/columns.hpp"
#include "riata/write_text.hpp"

namespace {

using namespace riata;

struct Strings {
  std::vector<std::int64_t> offsets{0};
  std::vector<char> data;
  explicit Strings(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      data.insert(data.end(), text.begin(), text.end());
      offsets.push_back(static_cast<std::int64_t>(data.size()));
    }
    data.shrink_to_fit();  // so that reading one byte too far is noticed
  }
  Texts view() const {
    return {static_cast<std::int64_t>(offsets.size()) - 1, offsets.data(), data.data(),
            static_cast<std::int64_t>(data.size())};
  }
};

Column column(const std::string& name, ColumnKind kind) {
  Column made;
  made.kind = kind;
  made.name = name;
  made.number_name = Prefix(name);
  made.prefix = Prefix(name + "=");
  made.key = key_of_name(name.data(), name.size());
  return made;
}

std::string name_of(const NamedRows& rows, std::size_t entry) {
  const auto first = static_cast<std::size_t>(rows.name_offsets[entry]);
  const auto last = static_cast<std::size_t>(rows.name_offsets[entry + 1]);
  return {reinterpret_cast<const char*>(rows.names.data()) + first, last - first};
}

void rows_of_columns() {
  const std::string longest(100, 'x');
  const Strings texts({"a", "", longest}), dictionary({"red", "blue"});
  const std::vector<double> numbers{0, 2.5, std::numeric_limits<double>::quiet_NaN()};
  const std::vector<std::int32_t> codes{1, -1, 0};
  std::vector<std::int64_t> keys(2);
  CHECK(keys_of_texts("colour", dictionary.view(), keys.data()));
  std::vector<Column> columns{column("n", ColumnKind::number),
                              column("a long name of a column", ColumnKind::text),
                              column("colour", ColumnKind::coded)};
  columns[0].numbers = numbers.data();
  columns[1].texts = texts.view();
  columns[2].texts = dictionary.view();
  columns[2].codes = codes.data();
  columns[2].n_codes = 3;
  columns[2].keys = keys.data();
  NamedRows rows;
  CHECK(read_columns(columns, 3, {}, true, true, rows).flaw == ColumnFlaw::none);
  const std::vector<std::string> wanted{"a long name of a column=a",          "colour=blue", "n",
                                        "a long name of a column=",           "colour=?",    "n=?",
                                        "a long name of a column=" + longest, "colour=red"};
  CHECK(rows.keys.size() == wanted.size());
  for (std::size_t k = 0; k < wanted.size() && k < rows.keys.size(); ++k) {
    CHECK(name_of(rows, k) == wanted[k]);
    CHECK(static_cast<std::uint64_t>(rows.keys[k]) == key_of_name(wanted[k].data(), wanted[k].size()));
  }
}

void damaged_columns() {
  const Strings texts({"a", "b"});
  const std::vector<std::int32_t> codes{0, 7};
  std::vector<std::int64_t> keys(2);
  std::vector<Column> columns{column("c", ColumnKind::coded)};
  columns[0].texts = texts.view();
  columns[0].codes = codes.data();
  columns[0].n_codes = 2;
  columns[0].keys = keys.data();
  NamedRows rows;
  const ColumnComplaint complaint = read_columns(columns, 2, {}, true, false, rows);
  CHECK(complaint.flaw == ColumnFlaw::damaged && complaint.row == 1);
  Strings backward({"a", "b"});
  backward.offsets[1] = 99;
  std::vector<Column> broken{column("c", ColumnKind::text)};
  broken[0].texts = backward.view();
  NamedRows none;
  CHECK(read_columns(broken, 2, {}, true, false, none).flaw == ColumnFlaw::damaged);
  CHECK(!keys_of_texts("c", backward.view(), keys.data()));
  const std::vector<double> large{1e300};
  std::vector<Column> number{column("n", ColumnKind::number)};
  number[0].numbers = large.data();
  NamedRows empty;
  CHECK(read_columns(number, 1, {}, true, false, empty).flaw == ColumnFlaw::not_finite);
}

void checksums() {
  std::vector<char> bytes(300);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const std::vector<char> exact(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const std::uint64_t sum = checksum(exact.data(), size);
    if (size == 0) continue;
    CHECK(sum != checksum(exact.data(), size - 1));
    std::vector<char> other = exact;
    other[size / 2] ^= 1;
    CHECK(sum != checksum(other.data(), size));
  }
}

void text() {
  const std::vector<std::int64_t> indptr{0, 2, 2}, indices{0, 6};
  const std::vector<float> values{0.5F, 1};
  const std::vector<double> labels{1, std::numeric_limits<double>::quiet_NaN()};
  RowsToWrite rows{2, indptr.data(), indices.data(), values.data(), labels.data(), nullptr, nullptr, nullptr,
                   1};
  Array<char> out;
  CHECK(TextWriter(out).svmlight(rows));
  CHECK(std::string(out.data(), out.size()) == "1 1:0.5 7:1\n\n");
  Array<char> more;
  CHECK(TextWriter(more).vw(rows));
  CHECK(std::string(more.data(), more.size()) == "1 | 1:0.5 7\n|\n");
}

}  // namespace

int main() {
  rows_of_columns();
  damaged_columns();
  checksums();
  text();
  return check::failures();
}
