// Buffers of Arrow columns that nobody may trust: rows, or "damaged" at one of them, and the same quickly and
// cell by cell. The bytes are numbers, codes, offsets and texts at once; the first one chooses options.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "formats/named_rows.hpp"
#include "mutate.hpp"
#include "riata/formats/table/reader.hpp"

namespace {

using namespace riata;

// As many numbers as the bytes hold, at the end of their memory.
template <class T>
struct Exact {
  std::unique_ptr<T[]> memory;
  std::size_t size;
  Exact(const std::uint8_t* data, std::size_t bytes)
      : memory(new T[bytes / sizeof(T)]), size(bytes / sizeof(T)) {
    if (size > 0) std::memcpy(memory.get(), data, size * sizeof(T));
  }
};

Column named(const char* name, ColumnKind kind) {
  Column column;
  column.kind = kind;
  column.set_name(name);
  return column;
}

}  // namespace

std::vector<std::string_view> seeds() {
  using namespace std::literals;
  return {
      "\x00\x01\x00\x02\x03\x04\x00\x01\x02\x03 some words and some more of them"sv,
      "\x05\x00\x01\x02\x03\x04\x05\x06\x07\x08 words\x00\x01\x02 words words\x09"sv,
      "\x0b\x03\x03\x03\x03\x03\x03\x03\x03\x03 abcdefghijklmnopqrstuvwxyz"sv,
      "\x17\x00\x10\x20\x05\x05\x05\x05\x05\x05\x00\x00\x00\x00\x00\x00\xf8\x7f\x00\x00\x00\x00\x00\x00\xf0\x7f"sv};
}

std::vector<std::string_view> pieces() {
  using namespace std::literals;
  return cut("\x00~\x01~\xff~\x80~\x7f~\x00\x00\x00\x00\x00\x00\xf8\x7f~\xff\xff\xff\xff"sv);
}

void try_input(std::uint8_t flags, std::string_view bytes) {
  if (bytes.size() < 9) return;
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const std::size_t size = bytes.size();
  const bool missing = (flags & 1) != 0;
  const Exact<double> numbers(data, size);
  const std::size_t rows = numbers.size;
  const Exact<std::uint8_t> valid(data, rows), text(data, size);
  // Small numbers of both signs, so that some of them lead somewhere.
  const std::unique_ptr<std::int32_t[]> codes(new std::int32_t[rows]);
  const std::unique_ptr<std::int64_t[]> offsets(new std::int64_t[rows + 1]),
      lists(new std::int64_t[rows + 1]);
  const std::unique_ptr<std::int64_t[]> ordered(new std::int64_t[rows + 1]);
  for (std::size_t i = 0; i <= rows; ++i) {
    const std::uint8_t byte = data[i % size];
    offsets[i] = static_cast<std::int8_t>(byte);
    lists[i] = static_cast<std::int8_t>(data[(i + 1) % size]) / 8;
    ordered[i] =
        std::min<std::int64_t>((i == 0 ? 0 : ordered[i - 1]) + byte % 20, static_cast<std::int64_t>(size));
    if (i < rows) codes[i] = static_cast<std::int8_t>(byte) / 4;
  }
  const auto count = static_cast<std::int64_t>(rows);
  const auto* const chars = reinterpret_cast<const char*>(text.memory.get());
  const Texts sound{count, ordered.get(), chars, static_cast<std::int64_t>(text.size)};
  const Texts wild{count, offsets.get(), chars, static_cast<std::int64_t>(text.size)};
  std::vector<std::int64_t> keys(rows);
  std::vector<Column> columns{
      named("n", ColumnKind::number), named("l", ColumnKind::log1p), named("k", ColumnKind::bucket),
      named("a name of some length", ColumnKind::text), named("c", ColumnKind::coded)};
  columns[2].set_buckets({-1, 5}, {"k=0", "k=1", "k=2"});
  for (Column& column : columns) {
    column.numbers = numbers.memory.get();
    column.texts = (flags & 2) != 0 ? wild : sound;
    if ((flags & 4) != 0) column.valid = valid.memory.get();
    column.codes = codes.get();
    column.n_codes = count;
    column.keys = keys.data();
  }
  if (!keys_of_texts("c", columns[4].texts, keys.data())) {  // nobody goes on with such a dictionary
    columns[4].texts = sound;
    must(keys_of_texts("c", sound, keys.data()), "these lead somewhere");
  }
  if ((flags & 32) != 0) {
    columns.insert(columns.begin() + 1, named("w", ColumnKind::words));
    columns[1].texts = columns[2].texts;
  }
  if ((flags & 8) != 0) columns.erase(columns.begin());
  if ((flags & 16) != 0) columns.back().lists = lists.get();
  std::vector<Column> quick = columns;
  for (Column& column : quick) column.look_at_texts();
  NamedRows slowly, quickly, nameless;
  const ColumnError slow = read_columns(columns, 0, count, {}, true, missing, slowly);
  const ColumnError fast = read_columns(quick, 0, count, {}, true, missing, quickly);
  read_columns(quick, 0, count, {}, false, missing, nameless);
  check_named_rows(slowly, true, true);
  check_same(slowly, quickly);
  check_same(slowly, nameless);
  must(slow.kind == fast.kind && slow.row == fast.row && slow.column == fast.column, "the same is wrong");
  must(slow.kind == ColumnErrorKind::none || (slow.row >= 0 && slow.row < count), "it is wrong inside");
}
