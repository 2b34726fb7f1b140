// Any bytes at all go in; what comes out are features as a Block promises them, or the first byte that is no UTF-8.
#include "formats/named_rows.hpp"
#include "mutate.hpp"
#include "riata/base/utf8.hpp"
#include "riata/words/counted_ngrams.hpp"

std::vector<std::string_view> seeds() {
  return {
      "\x01"
      "Don't pay 3.50, it's_FREE: ma\xC3\xB1"
      "ana \xE6\xBC\xA2\xE5\xAD\x97!",
      "\x02"
      "free entry in 2 a wkly comp to win FA Cup final tkts 21st May 2005. Text FA to 87121",
      "\x03"
      "col\xC2\xB7lega l\xC2\xB7'x \xD9\xA3\xD9\xAB\xD9\xA3 a\xCC\x81 \xEF\xBB\xBF soft\xC2\xADhyphen",
      "\x07"
      "\xF0\x9F\x98\x80 \xF0\xA0\x80\x80\xEF\xB8\x80 \xF0\x90\x90\x80 \xC8\xBA\xC8\xBA\xC8\xBA\xC8\xBA",
      "\x05"
      "\xE2\x80\x99 \xE2\x80\x8B \xE2\x84\xAA \xE2\x84\xA6",
  };
}

std::vector<std::string_view> pieces() {
  return cut(
      " ~'~.~_~a~9~\xC3~\xA9~\xFF~\xE6\xBC\xA2~\xC8\xBA~\xED\xA0\x80~\xF4\x90\x80\x80~\xCC\x81~"
      "\xC2\xAD~\xC2\xB7~\n~a word of some length ~"
      "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
}

void try_input(std::uint8_t which, std::string_view text) {
  const riata::Ngrams ngrams{which & 1 ? 1 : 0, which & 1 ? 1 + static_cast<int>(which >> 4) % 8 : 0,
                             which & 2 ? 2 : 0, which & 2 ? 2 + static_cast<int>(which >> 4) % 8 : 0};
  must(ngrams.valid(), "valid n-grams");
  const bool names = (which & 4) != 0;
  const auto read = [&]<bool kNames>(const riata::AsciiKernels& kernels, riata::NamedRows& rows) {
    const riata::Crosses none;
    riata::RowBuilder row(rows, none, kNames);
    must(row.prepare(text.size() + 1), "memory");
    riata::words::Tokeniser tokeniser(ngrams, "body^", kernels);
    riata::words::CountedNgrams<kNames> counted(row, {ngrams, riata::NgramWeight::log, (which & 8) != 0});
    riata::words::TextError error;
    for (int twice = 0; twice < 2 && error.kind == riata::words::TextError::Kind::none; ++twice) {
      counted.begin_text();
      error = tokeniser.read(text, counted);
      if (error.kind == riata::words::TextError::Kind::none) {
        must(counted.end_text() && row.end_row({}) == riata::Added::fine, "memory");
        ++rows.n_lines;
      }
    }
    if (error.kind != riata::words::TextError::Kind::none) row.drop_row();
    row.finish();
    return error;
  };
  riata::NamedRows rows, plain;
  const auto error = names ? read.operator()<true>(riata::best_ascii_kernels(), rows)
                           : read.operator()<false>(riata::best_ascii_kernels(), rows);
  const auto same =
      names ? read.operator()<true>(*riata::find_ascii_kernels(riata::Instructions::plain), plain)
            : read.operator()<false>(*riata::find_ascii_kernels(riata::Instructions::plain), plain);
  check_named_rows(rows, false, names);
  check_same(rows, plain);
  must(error.where == same.where && error.kind == same.kind, "the same error");
  must((error.kind == riata::words::TextError::Kind::not_text) == !riata::is_utf8(text),
       "an error where it is no text");
  if (error.where != nullptr) {
    const auto good = static_cast<std::size_t>(error.where - text.data());
    must(good < text.size() && riata::is_utf8(text.substr(0, good)), "all before it is text");
  }
}
