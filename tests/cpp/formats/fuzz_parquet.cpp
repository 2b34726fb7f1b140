// Any bytes at all as pages of a Parquet column: values for the rows that were wanted, or "damaged". However
// many rows are wanted at a time, they are the same.
//
// The first byte chooses what the column holds, the second its rows. Where the highest bit of the first is
// set, a page header follows, or all of a column as a file has it, or bytes that Snappy packed to as many as
// the second says; else the number of bytes of the dictionary, that, and the page.
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "mutate.hpp"
#include "riata/formats/parquet/pages.hpp"

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

// Values where they are there, as bytes; where they are not, "-".
std::string values_of(TextColumn& column) {
  std::string found;
  const auto texts = column.texts();
  must(texts != nullptr, "there is memory");
  const riata::Texts view = texts->texts.view();
  for (std::size_t i = 0; i < column.codes().size(); ++i) {
    const std::int32_t code = column.codes()[i];
    if (code < 0) {
      found += "-;";
      continue;
    }
    must(view.holds(code), "codes have texts, which are inside");
    const std::string name = "c=" + std::string(view[code]);
    must(static_cast<std::uint64_t>(texts->keys()[code]) == riata::key_of_name(name.data(), name.size()),
         "keys are those of names");
    if (const riata::NamedKey* const named = texts->named_keys(); named != nullptr) {
      must(named[code].key == texts->keys()[code] &&
               std::string_view(named[code].name, named[code].size) == name,
           "names are beside their keys");
    }
    found += name + ';';
  }
  return found;
}

template <class T>
std::string values_of(NumberColumn<T>& column) {
  std::string found;
  const auto& bits = column.presence().bits();
  for (std::size_t i = 0; i < column.values().size(); ++i) {
    const T value = column.values()[i];
    if (column.presence().missing() > 0 && !bits[i]) {
      found += '-';
    } else {
      found.append(reinterpret_cast<const char*>(&value), sizeof(T));
    }
  }
  return found;
}

template <class ColumnType>
ColumnType make(bool optional, const riata::UnpackKernels& how) {
  if constexpr (std::is_same_v<ColumnType, TextColumn>) {
    return ColumnType(optional, "c", true, how);
  } else {
    return ColumnType(optional, how);
  }
}

template <class ColumnType>
bool read_all(const Given& given, std::size_t rows, std::size_t step, const riata::UnpackKernels& how,
              std::vector<std::string>& found) {
  ColumnType column = make<ColumnType>(given.optional, how);
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
  std::vector<std::string> whole, parts, plainly;
  const bool fine = read_all<ColumnType>(given, rows, rows, riata::best_unpack_kernels(), whole);
  must(read_all<ColumnType>(given, rows, rows, *riata::find_unpack_kernels(riata::Instructions::plain),
                            plainly) == fine &&
           plainly == whole,
       "wide instructions find the same");
  read_all<ColumnType>(given, rows, 7, riata::best_unpack_kernels(), parts);
  if (!fine) return;
  std::string joined;
  for (const std::string& part : parts) joined += part;
  must(whole.empty() || joined == whole[0], "rows do not depend on how many are wanted at a time");
}

// The bytes of a column, given all at once or some at a time: the same rows or none.
template <class ColumnType>
bool read_chunk(const Exact& bytes, Packing packing, std::size_t rows, std::size_t step, std::string& found) {
  ColumnType column = make<ColumnType>(true, riata::best_unpack_kernels());
  Pages pages(packing);
  must(column.begin(rows) == Outcome::done, "there is memory");
  std::vector<Exact> gifts;
  gifts.reserve(bytes.size / step + 1);
  std::size_t at = 0;
  for (;;) {
    Pages::Next what{};
    const Outcome outcome = fill(column, pages, what);
    if (outcome == Outcome::done) break;
    if (outcome != Outcome::more) return false;
    if (what == Pages::Next::packed) {  // "unpacked" to what it is, cut or filled with zeros
      std::string page(reinterpret_cast<const char*>(pages.packed()), pages.packed_size());
      if (pages.needed() > 4096) return false;
      page.resize(pages.needed());
      const Exact given(page);
      Page unpacked;
      const Pages::Next then = pages.set_unpacked(given.begin(), given.end(), unpacked);
      if (take_page(column, then, unpacked) != Outcome::done) return false;
      continue;
    }
    const std::size_t count = std::min(std::max(pages.needed(), step), bytes.size - at);
    if (count < pages.needed()) return false;
    gifts.emplace_back(std::string_view(reinterpret_cast<const char*>(bytes.begin() + at), count));
    must(pages.give(gifts.back().begin(), gifts.back().end()), "there is memory");
    at += count;
  }
  found = values_of(column);
  return true;
}

template <class ColumnType>
void check_chunk(std::string_view given, Packing packing, std::size_t rows) {
  const Exact bytes(given);
  std::string whole, parts;
  const bool fine = read_chunk<ColumnType>(bytes, packing, rows, bytes.size + 1, whole);
  must(read_chunk<ColumnType>(bytes, packing, rows, 3, parts) == fine && parts == whole,
       "bytes may come in any portions");
}

void check_snappy(std::string_view given, std::size_t size) {
  const Exact bytes(given);
  std::vector<Byte> to(size + kSnappyRoom);
  if (!unpack_snappy(bytes.begin(), bytes.end(), to.data(), size)) return;
  must(can_be_snappy(bytes.size, size), "what is possible is not refused");
  must(!unpack_snappy(bytes.begin(), bytes.end(), to.data(), size + 1), "the size is exact");
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
      // columns as files have them: with a dictionary, packed with Snappy, without; then what Snappy packs
      "\xa3\x0e\x15\x04\x15\x30\x15\x30L\x15\x06\x15\x00\x12\x00\x00\x03\x00\x00\x00red\x04\x00\x00\x00\x62lue\x05\x00\x00\x00green\x15\x00\x15\x1a\x15\x1a,\x15\x1e\x15\x10\x15\x06\x15\x06\x1c\x00\x00\x00\x03\x00\x00\x00\x05{o\x02\x05\x84\x84\x84\x00"sv,
      "\xa5\x0e\x15\x04\x15\x30\x15\x34L\x15\x06\x15\x00\x12\x00\x00\x18\x5c\x03\x00\x00\x00red\x04\x00\x00\x00\x62lue\x05\x00\x00\x00green\x15\x06\x15\x12\x15\x12\x5c\x15\x1e\x15\x06\x15\x1e\x15\x10\x15\x06\x15\x00\x12\x1c\x00\x00\x00\x05{o\x02\x05\x84\x84\x84\x00"sv,
      "\xa1\x0e\x15\x00\x15\xc8\x01\x15\xc8\x01,\x15\x1e\x15\x00\x15\x06\x15\x06\x1c\x00\x00\x00\x03\x00\x00\x00\x05{o\x03\x00\x00\x00red\x04\x00\x00\x00\x62lue\x03\x00\x00\x00red\x05\x00\x00\x00green\x03\x00\x00\x00red\x04\x00\x00\x00\x62lue\x03\x00\x00\x00red\x05\x00\x00\x00green\x03\x00\x00\x00red\x04\x00\x00\x00\x62lue\x03\x00\x00\x00red\x05\x00\x00\x00green"sv,
      "\x85\x0e\x15\x04\x15\x30\x15\x30L\x15\x06\x15\x00\x12\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00p\x11\x01\x00\x00\x00\x00\x00\x15\x00\x15\x1a\x15\x1a,\x15\x1e\x15\x10\x15\x06\x15\x06\x1c\x00\x00\x00\x03\x00\x00\x00\x05{o\x02\x05\x94\x94\x94\x00"sv,
      "\x81\x0e\x15\x04\x15\x30\x15.L\x15\x06\x15\x00\x12\x00\x00\x18\x04\x01\x00\x09\x01<\x02\x00\x00\x00\x00\x00\x00\x00p\x11\x01\x00\x00\x00\x00\x00\x15\x06\x15\x12\x15\x12\x5c\x15\x1e\x15\x06\x15\x1e\x15\x10\x15\x06\x15\x00\x12\x1c\x00\x00\x00\x05{o\x02\x05\x94\x94\x94\x00"sv,
      "\x83\x0e\x15\x00\x15\xce\x01\x15\xce\x01,\x15\x1e\x15\x00\x15\x06\x15\x06\x1c\x00\x00\x00\x03\x00\x00\x00\x05{o\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00p\x11\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00p\x11\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00p\x11\x01\x00\x00\x00\x00\x00"sv,
      "\xc0VV\x08\x61\x62\x63:\x03\x00\x38 the same again>\x0f\x00\x00\x30\x8e\x01\x00"sv,
      "\xc0\xaa\xaa\x01\xf0I\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f !\x22#$%&'()*+,-./0123456789:;<=>\x3f@ABCDE\x00\x00\x00\x00\xfe\x03\x00~\x03\x00"sv,
  };
}

std::vector<std::string_view> pieces() {
  using namespace std::literals;
  return cut(
      "\x00~\x01~\x02~\x03~\x08~\xff~\x7f~\x00\x00\x00~\xff\xff\xff\xff~\x01\x00\x00\x00~\x15~"
      "\x1c~\x18~\x20~\xff\xff\xff\xff\x0f"sv);
}

void try_input(std::uint8_t flags, std::string_view bytes) {
  if (bytes.size() < 2) return;
  const auto second = static_cast<std::uint8_t>(bytes[0]), third = static_cast<std::uint8_t>(bytes[1]);
  const std::size_t rows = 1 + std::size_t{second};
  bytes.remove_prefix(1);
  if ((flags & 0x80) != 0) {
    const auto packing = static_cast<Packing>((flags >> 1) % 3);
    if ((flags & 0x40) != 0) {
      check_snappy(bytes, second);
    } else if ((flags & 1) == 0) {
      check_header(bytes);
    } else if ((flags & 0x20) != 0) {
      check_chunk<TextColumn>(bytes, packing, rows);
    } else {
      check_chunk<NumberColumn<std::int64_t>>(bytes, packing, rows);
    }
    return;
  }
  const std::size_t n = std::min<std::size_t>(third, bytes.size() - 1);
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
}
