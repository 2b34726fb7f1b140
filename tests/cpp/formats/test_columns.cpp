// Columns to rows, checksums, and rows to text, under sanitizers.
#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "riata/formats/table/reader.hpp"
#include "riata/simd/checksum.hpp"
#include "riata/text/write.hpp"

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
  made.set_name(name);
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
  CHECK(read_columns(columns, 0, 3, {}, true, true, rows).kind == ColumnErrorKind::none);
  const std::vector<std::string> wanted{"a long name of a column=a",          "colour=blue", "n",
                                        "a long name of a column=",           "colour=?",    "n=?",
                                        "a long name of a column=" + longest, "colour=red"};
  CHECK(rows.keys.size() == wanted.size());
  for (std::size_t k = 0; k < wanted.size() && k < rows.keys.size(); ++k) {
    CHECK(name_of(rows, k) == wanted[k]);
    CHECK(static_cast<std::uint64_t>(rows.keys[k]) == key_of_name(wanted[k].data(), wanted[k].size()));
  }
}

// Quickly, with names and without, and cell by cell: the same features.
void quick_rows() {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    const std::size_t n = random() % 700;
    std::vector<double> numbers(n);
    std::vector<std::int32_t> codes(n);
    std::vector<std::uint8_t> valid(n);
    std::vector<std::string> words;
    for (std::size_t i = 0; i < n; ++i) {
      numbers[i] = random() % 4 == 0 ? 0 : static_cast<double>(random() % 1000) / 8 - 50;
      if (random() % 9 == 0) numbers[i] = std::numeric_limits<double>::quiet_NaN();
      codes[i] = static_cast<std::int32_t>(random() % 4) - 1;
      valid[i] = random() % 5 != 0;
      words.push_back(std::string(random() % 40, static_cast<char>('a' + random() % 26)));
    }
    const std::string longer(random() % 30, 'n');
    const bool short_names = longer.size() < 10;
    const Strings texts(words),
        dictionary({"red", "", short_names ? "green" : "a rather long name of a colour"});
    std::vector<std::int64_t> all_keys(4);  // that of what is missing comes first
    std::int64_t* const keys = all_keys.data() + 1;
    std::vector<NamedKey> named_keys(4);
    CHECK(keys_of_texts(longer + "coded", dictionary.view(), keys));
    std::vector<Column> columns{
        column(longer + "number", ColumnKind::number), column("log", ColumnKind::log1p),
        column("bucket", ColumnKind::bucket),          column(longer + "text", ColumnKind::text),
        column(longer + "coded", ColumnKind::coded),
    };
    for (Column& each : columns) {
      each.numbers = numbers.data();
      each.texts = texts.view();
      if (random() % 2 == 0) each.valid = valid.data();
    }
    columns[2].set_buckets({-10, 20}, {"bucket=low", "bucket=middle", "bucket=high"});
    columns[4].texts = dictionary.view();
    columns[4].codes = codes.data();
    columns[4].n_codes = static_cast<std::int64_t>(n);
    columns[4].keys = keys;
    all_keys[0] = static_cast<std::int64_t>(columns[4].absence);
    if (columns[4].valid == nullptr && random() % 2 == 0) {
      columns[4].checked = true;
      if (short_names) {
        name_keys(columns[4].name, dictionary.view(), keys, named_keys.data() + 1);
        columns[4].named_keys = named_keys.data() + 1;
      }
    }
    const bool missing = random() % 2 == 0;
    const auto first = static_cast<std::int64_t>(random() % (n + 1)), last = static_cast<std::int64_t>(n);
    const std::vector<Column> slowly = columns;  // nobody looked at their texts
    for (Column& each : columns) each.look_at_texts();
    NamedRows named, plain, one_by_one;
    CHECK(read_columns(slowly, first, last, {}, true, missing, one_by_one).kind == ColumnErrorKind::none);
    CHECK(read_columns(columns, first, last, {}, true, missing, named).kind == ColumnErrorKind::none);
    CHECK(read_columns(columns, first, last, {}, false, missing, plain).kind == ColumnErrorKind::none);
    CHECK(named.labels.size() == n - static_cast<std::size_t>(first) &&
          plain.labels.size() == named.labels.size() && plain.n_lines == named.n_lines);
    CHECK(named.keys.size() == plain.keys.size() && named.keys.size() == one_by_one.keys.size());
    for (std::size_t i = 0; i < named.indptr.size(); ++i) CHECK(named.indptr[i] == plain.indptr[i]);
    for (std::size_t k = 0; k < std::min(named.keys.size(), plain.keys.size()); ++k) {
      CHECK(named.keys[k] == plain.keys[k] && named.values[k] == plain.values[k]);
      const std::string name = name_of(named, k);
      CHECK(name == name_of(one_by_one, k) && named.values[k] == one_by_one.values[k]);
      CHECK(static_cast<std::uint64_t>(named.keys[k]) == key_of_name(name.data(), name.size()));
    }
    if (n == 0 || columns[4].checked) continue;
    const std::size_t harmed = random() % n;  // what is wrong comes out in the same place
    codes[harmed] = 3;
    valid[harmed] = 1;
    NamedRows before, also;
    const ColumnError slow = read_columns(slowly, 0, last, {}, true, missing, before);
    const ColumnError quick = read_columns(columns, 0, last, {}, false, missing, also);
    CHECK(slow.kind == ColumnErrorKind::damaged && quick.kind == slow.kind);
    CHECK(quick.row == static_cast<std::int64_t>(harmed) && slow.row == quick.row && quick.column == 4);
    CHECK(also.labels.size() == harmed && before.labels.size() == harmed);
  }
}

void joined_keys() {
  for (std::size_t front = 0; front < 40; ++front) {
    for (std::size_t back = 0; back < 40; ++back) {
      const std::string a(front, 'p'), b(back, 't');
      CHECK(key_of_joined(a, b) == key_of_name((a + b).data(), front + back));
      const std::string around = std::string(64, '#') + b + std::string(64, '!');
      char name[128];
      const Prefixed prefixed(a);
      const char* const text = around.data() + 64;
      CHECK(prefixed.key<true>(text, text + back, name) == key_of_joined(a, b));
      CHECK(prefixed.key<false>(text, text + back) == key_of_joined(a, b));
      CHECK(std::string_view(name, front + back) == a + b);
    }
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
  const ColumnError error = read_columns(columns, 0, 2, {}, true, false, rows);
  CHECK(error.kind == ColumnErrorKind::damaged && error.row == 1);
  Strings backward({"a", "b"});
  backward.offsets[1] = 99;
  std::vector<Column> broken{column("c", ColumnKind::text)};
  broken[0].texts = backward.view();
  NamedRows none;
  CHECK(read_columns(broken, 0, 2, {}, true, false, none).kind == ColumnErrorKind::damaged);
  CHECK(!keys_of_texts("c", backward.view(), keys.data()));
  const std::vector<double> large{1e300};
  std::vector<Column> number{column("n", ColumnKind::number)};
  number[0].numbers = large.data();
  NamedRows empty;
  CHECK(read_columns(number, 0, 1, {}, true, false, empty).kind == ColumnErrorKind::not_finite);
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
  quick_rows();
  joined_keys();
  damaged_columns();
  checksums();
  text();
  return check::failures();
}
