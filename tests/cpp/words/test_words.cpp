// Words of texts at every length and place, with every instruction set; counts that fill their table.
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "riata/words/counted_ngrams.hpp"
#include "riata/words/document_counts.hpp"

namespace {

using namespace riata;
using riata::words::Ngram;

struct Names {  // the names of n-grams as they come
  std::vector<std::string> found;
  bool reserve(std::size_t, std::size_t) noexcept { return true; }
  void add(const words::NgramTexts& texts, const Ngram* ngrams, std::size_t n) noexcept {
    for (std::size_t k = 0; k < n; ++k)
      found.emplace_back(texts.text[ngrams[k].chars] + ngrams[k].begin, ngrams[k].size);
  }
};

std::vector<std::string> names(std::string_view text, const Ngrams& which,
                               const AsciiKernels& kernels = best_ascii_kernels()) {
  words::Tokeniser tokeniser(which, "body^", kernels);
  Names sink;
  // In memory of its own, so that the address sanitizer notices a read beyond it.
  const std::vector<char> alone(text.begin(), text.end());
  CHECK(tokeniser.read({alone.data(), alone.size()}, sink).kind == words::TextError::Kind::none);
  return sink.found;
}

void words_are_found() {
  using Found = std::vector<std::string>;
  CHECK((names("Don't pay 3.50!", {1, 1, 0, 0}) == Found{"don't", "pay", "3.50"}));
  CHECK((names("a-b  c", {1, 2, 0, 0}) == Found{"a", "b", "a b", "c", "b c"}));
  CHECK((names("to", {0, 0, 3, 4}) == Found{"<to", "to>", "<to>"}));
  CHECK((names("\xE6\xBC\xA2\xE5\xAD\x97 \xC3\x89t\xC3\xA9", {1, 1, 0, 0}) ==
         Found{"\xE6\xBC\xA2", "\xE5\xAD\x97", "\xC3\xA9t\xC3\xA9"}));
  CHECK(names("", {1, 2, 3, 5}).empty() && names(" ... ", {1, 2, 3, 5}).empty());
}

void every_set_finds_the_same() {
  std::mt19937_64 random(7);
  const std::string_view pieces[] = {"a",    "B", "9",  "'",    ".",        ",",
                                     "_",    " ", "\n", "word", "\xC3\x89", "\xE6\xBC\xA2",
                                     "\x7F", "[", "`",  "@"};
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const auto parts = random() % (round % 10 == 0 ? 400 : 40);
    for (std::size_t k = 0; k < parts; ++k) text += pieces[random() % (round % 2 == 0 ? 10 : 16)];
    const auto plain = names(text, {1, 2, 3, 3}, *find_ascii_kernels(Instructions::plain));
    for (const Instructions set : {Instructions::avx2, Instructions::avx512}) {
      if (const AsciiKernels* const kernels = find_ascii_kernels(set))
        CHECK(names(text, {1, 2, 3, 3}, *kernels) == plain);
    }
  }
}

void keys_are_those_of_names() {
  std::mt19937_64 random(11);
  for (const std::size_t size : {0, 1, 5, 8, 15, 16, 17, 40}) {
    const std::string prefix(size, 'p');
    const Prefixed prefixed(prefix);
    for (std::size_t length = 1; length < 80; ++length) {
      std::vector<char> text(size + length + 40);
      for (char& c : text) c = static_cast<char>('a' + random() % 26);
      const char* const begin = text.data() + size;
      const std::string name = prefix + std::string(begin, length);
      CHECK(prefixed.key_of_any(begin, begin + length) == key_of_name(name.data(), name.size()));
      std::vector<char> written(name.size() + kNameSlack);
      prefixed.write(begin, begin + length, written.data());
      CHECK(std::string(written.data(), name.size()) == name);
    }
  }
}

void rows_count_what_they_hold() {
  NamedRows rows;
  const Crosses none;
  RowBuilder row(rows, none, true);
  CHECK(row.prepare(100));
  words::Tokeniser tokeniser({1, 1, 0, 0}, "");
  words::CountedNgrams<true> counted(row, {Ngrams{1, 1, 0, 0}, NgramWeight::count, false});
  std::string text;
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 20000; ++k) text += "w" + std::to_string(k % (500 * (round + 1))) + " ";
    counted.begin_text();
    CHECK(tokeniser.read(text, counted).kind == words::TextError::Kind::none);
    CHECK(counted.end_text() && row.end_row({}) == Added::fine);
    text.clear();
  }
  row.finish();
  CHECK(rows.indptr[1] == 500 && rows.values[0] == 40);
  CHECK(rows.indptr[3] - rows.indptr[2] == 1500);
}

void values_are_logs_of_counts() {
  const words::LogCounts& logs = words::LogCounts::table();
  CHECK(logs(1) == 1);
  for (const float count : {2.0F, 3.0F, 255.0F, 256.0F, 257.0F, 1e6F})
    CHECK(logs(count) == static_cast<float>(1 + riata::log(static_cast<double>(count))));
}

void bits_are_listed_by_every_set() {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint64_t> bits(random() % 6);
    std::vector<std::uint32_t> expected;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      bits[i] = random();
      for (int k = round % 5; k > 0; --k) bits[i] &= random();
      for (std::uint32_t k = 0; k < 64; ++k)
        if (bits[i] >> k & 1) expected.push_back(static_cast<std::uint32_t>(64 * i) + k);
    }
    for (const Instructions set : {Instructions::plain, Instructions::avx2, Instructions::avx512}) {
      const AsciiKernels* const kernels = find_ascii_kernels(set);
      if (kernels == nullptr) continue;
      std::vector<std::uint32_t> found(expected.size() + 64);
      const std::uint32_t* const end = kernels->list_bits(bits.data(), bits.size(), found.data());
      found.resize(static_cast<std::size_t>(end - found.data()));
      CHECK(found == expected);
    }
  }
}

void a_table_of_counts_forgets_the_rarest() {
  words::DocumentTable table(64);
  for (std::int64_t key = 1; key <= 1000; ++key) {
    CHECK(table.reserve(2));
    table.add(key);
    table.add(0);
    CHECK(table.size() <= 64);
  }
  CHECK(table.count(0) == 1000 && table.count(1) == 0 && table.count(1000) == 1);
}

}  // namespace

int main() {
  words_are_found();
  every_set_finds_the_same();
  keys_are_those_of_names();
  rows_count_what_they_hold();
  values_are_logs_of_counts();
  bits_are_listed_by_every_set();
  a_table_of_counts_forgets_the_rarest();
  return check::failures();
}
