// Any bytes at all as pages of a Parquet column: values for the rows that were wanted, or "damaged". However
// many rows are wanted at a time, they are the same.
//
// The first byte chooses what the column holds, the second its rows; then a page header where the highest bit
// of the first byte is set, else the number of bytes of the dictionary, that, and the page.
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "mutate.hpp"
#include "riata/parquet_column.hpp"

namespace {

using namespace riata::parquet;

// A copy at the end of its memory, so that a byte too far is noticed.
struct Exact {
  std::unique_ptr<Byte[]> memory;
  std::size_t size;
  explicit Exact(std::string_view bytes) : memory(new Byte[bytes.size()]), size(bytes.size()) {
    if (size > 0) std::memcpy(memory.get(), bytes.data(), size);
  }
  const Byte* begin() const { return memory.get(); }
  const Byte* end() const { return memory.get() + size; }
};

struct Given {
  Exact dictionary, page;
  std::int64_t n_dictionary, n_values;
  Encoding encoding;
  std::int64_t levels;
  bool optional;
};

// Values where they are there, as bytes; empty texts and zeros elsewhere.
std::string values_of(TextColumn& column) {
  std::string found;
  const auto& codes = column.codes();
  const std::size_t known = column.dictionary().offsets().size() == 0 ? 0 : column.dictionary().count();
  const std::size_t before = column.mixed() ? known : 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (column.presence().valid().size() > 0 && column.presence().valid()[i] == 0) {
      found += "-;";
      continue;
    }
    const auto code = static_cast<std::size_t>(codes[i]);
    const bool plain = column.plain().count() > 0 && code >= before;
    TextList& list = plain ? column.plain() : column.dictionary();
    const std::size_t at = plain ? code - before : code;
    must(at < list.count(), "codes have texts");
    const auto first = static_cast<std::size_t>(list.offsets()[at]);
    const auto last = static_cast<std::size_t>(list.offsets()[at + 1]);
    must(first <= last && last <= list.data().size(), "texts are inside");
    found.append(reinterpret_cast<const char*>(list.data().data()) + first, last - first);
    found += ';';
  }
  return found;
}

template <class T>
std::string values_of(NumberColumn<T>& column) {
  std::string found;
  const auto& valid = column.presence().valid();
  for (std::size_t i = 0; i < column.values().size(); ++i) {
    const T value = column.values()[i];
    if (valid.size() > 0 && valid[i] == 0) {
      found += '-';
    } else {
      found.append(reinterpret_cast<const char*>(&value), sizeof(T));
    }
  }
  return found;
}

template <class ColumnType>
bool read_all(const Given& given, std::size_t rows, std::size_t step, std::vector<std::string>& found) {
  ColumnType column(given.optional);
  if (given.n_dictionary >= 0 && column.set_dictionary(given.dictionary.begin(), given.dictionary.end(),
                                                       given.n_dictionary) != Outcome::done)
    return false;
  const Page page{given.page.begin(), given.page.end(), given.n_values, given.encoding, given.levels};
  if (column.set_page(page) != Outcome::done) return false;
  for (std::size_t done = 0; done < rows; done += step) {
    const std::size_t wanted = std::min(step, rows - done);
    must(column.begin(wanted) == Outcome::done, "there is memory");
    Outcome outcome = column.fill();
    if (outcome == Outcome::more) {  // the same page once more
      if (column.set_page(page) != Outcome::done) return false;
      outcome = column.fill();
    }
    if (outcome == Outcome::damaged || outcome == Outcome::more) return false;
    must(outcome == Outcome::done, "there is memory");
    found.push_back(values_of(column));
  }
  return true;
}

template <class ColumnType>
void check(const Given& given, std::size_t rows) {
  std::vector<std::string> whole, parts;
  const bool fine = read_all<ColumnType>(given, rows, rows, whole);
  read_all<ColumnType>(given, rows, 7, parts);
  if (!fine) return;
  std::string joined;
  for (const std::string& part : parts) joined += part;
  must(whole.empty() || joined == whole[0], "rows do not depend on how many are wanted at a time");
}

void check_header(std::string_view bytes) {
  const Exact exact(bytes);
  PageHeader header;
  const HeaderState state = read_page_header(exact.begin(), exact.end(), header);
  if (state == HeaderState::read) {
    must(header.size > 0 && header.size <= static_cast<std::int64_t>(exact.size), "the header is inside");
    must(header.packed >= 0 && header.unpacked >= 0 && header.levels >= 0 && header.levels <= header.packed,
         "sizes are sizes");
    PageHeader again;
    const Byte* const end = exact.begin() + header.size;
    must(read_page_header(exact.begin(), end, again) == HeaderState::read, "nothing behind it matters");
    must(read_page_header(exact.begin(), end - 1, again) == HeaderState::cut_short, "all of it matters");
  }
}

}  // namespace

std::vector<std::string_view> seeds() {
  using namespace std::literals;
  return {
      // texts, optional, dictionary of 2, codes: 5 rows, one missing
      "\x00\x05\x0a\x01\x00\x00\x00"
      "a\x01\x00\x00\x00"
      "b\x02\x00\x00\x00\x03\x1d\x01\x03\x0b\x00"sv,
      // texts, required, plain
      "\x21\x02\x00\x03\x00\x00\x00"
      "abc\x00\x00\x00\x00"sv,
      // texts, required, codes of width 3, packed and repeated
      "\x01\x10\x0f\x01\x00\x00\x00"
      "a\x01\x00\x00\x00"
      "b\x01\x00\x00\x00"
      "c\x03\x03\x88\x46\x2a\x10\x01"sv,
      // doubles with a dictionary, int64 plain, levels given from outside
      "\x09\x08\x10\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40\x01\x03\x55"sv,
      "\x25\x02\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00"sv,
      "\x44\x04\x08\x01\x00\x00\x00\x02\x00\x00\x00\x08\x01\x01\x08\x01"sv,
      // headers: of a dictionary, of data, of data_v2
      "\x80\x00\x15\x04\x15\x40\x15\x44\x4c\x15\x04\x15\x00\x12\x00\x00"sv,
      "\x80\x00\x15\x00\x15\x40\x15\x44\x2c\x15\x0a\x15\x10\x15\x06\x15\x06\x1c\x18\x01x\x16\x00\x00\x00\x00"sv,
      "\x80\x00\x15\x06\x15\x40\x15\x44\x5c\x15\x0a\x15\x00\x15\x0a\x15\x10\x15\x04\x15\x00\x11\x00\x00"sv,
  };
}

std::vector<std::string_view> pieces() {
  using namespace std::literals;
  return {"\x00"sv,
          "\x01"sv,
          "\x02"sv,
          "\x03"sv,
          "\x08"sv,
          "\xff"sv,
          "\x7f"sv,
          "\x00\x00\x00"sv,
          "\xff\xff\xff\xff"sv,
          "\x01\x00\x00\x00"sv,
          "\x15"sv,
          "\x1c"sv,
          "\x18"sv,
          "\x20"sv,
          "\xff\xff\xff\xff\x0f"sv};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const unsigned flags = data[0];
  const std::size_t rows = 1 + data[1];
  std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  if ((flags & 0x80) != 0) {
    check_header(bytes);
    return 0;
  }
  const std::size_t n = std::min<std::size_t>(data[2], bytes.size() - 1);
  const std::string_view dictionary = bytes.substr(1, n), page = bytes.substr(1 + n);
  const unsigned kind = flags / 2 % 8 % 5;
  const std::int64_t each = kind == 0 ? 5 : kind % 2 == 1 ? 4 : 8;
  const Given given{Exact(dictionary),
                    Exact(page),
                    n == 0 ? -1 : static_cast<std::int64_t>(n) / each,
                    static_cast<std::int64_t>(rows),
                    (flags & 0x20) != 0 ? Encoding::plain : Encoding::rle_dictionary,
                    (flags & 0x40) != 0 ? 2 : -1,
                    (flags & 1) == 0};
  switch (kind) {
    case 0:
      check<TextColumn>(given, rows);
      break;
    case 1:
      check<NumberColumn<std::int32_t>>(given, rows);
      break;
    case 2:
      check<NumberColumn<std::int64_t>>(given, rows);
      break;
    case 3:
      check<NumberColumn<float>>(given, rows);
      break;
    default:
      check<NumberColumn<double>>(given, rows);
  }
  return 0;
}
