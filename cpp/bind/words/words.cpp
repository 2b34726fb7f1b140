// Texts to n-grams, and the weights that they learn on the way.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "bind/block_view.hpp"
#include "bind/formats/parsed.hpp"
#include "bind/words/ngrams.hpp"
#include "riata/words/characters.hpp"
#include "riata/words/counted_ngrams.hpp"
#include "riata/words/document_counts.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

struct NotText {  // which of the texts, and its first byte that is no UTF-8
  std::size_t text, byte;
};

template <bool kNames>
bool read_texts(const std::vector<std::string_view>& texts, words::Tokeniser& tokeniser, const TextSpec& spec,
                RowBuilder& row, NotText& wrong) {
  words::CountedNgrams<kNames> counted(row, spec);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    counted.begin_text();
    const words::TextError error = tokeniser.read(texts[i], counted);
    if (error.kind == words::TextError::Kind::not_text) {
      wrong = {i, static_cast<std::size_t>(error.where - texts[i].data())};
      return false;
    }
    const bool ended = error.kind == words::TextError::Kind::none && counted.end_text() &&
                       row.end_row(Target{}) == Added::fine;
    if (!ended) throw std::bad_alloc();
  }
  return true;
}

// Each text, a str or UTF-8 in bytes, as a row of its n-grams.
ParsedRows tokenise(const nb::list& given, const NgramSpans& spans, const std::string& weight,
                    const std::string& prefix, bool names) {
  const TextSpec as{ngrams_of(spans), weight_of(weight), false};
  words::Tokeniser tokeniser(as.ngrams, prefix);
  std::vector<std::string_view> texts;
  std::size_t bytes = 0;
  for (const nb::handle item : given) {
    Py_ssize_t size = 0;
    const char* text = nullptr;
    if (PyUnicode_Check(item.ptr())) {
      text = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
      if (text == nullptr) throw nb::python_error();
    } else if (PyBytes_Check(item.ptr())) {
      text = PyBytes_AS_STRING(item.ptr());
      size = PyBytes_GET_SIZE(item.ptr());
    } else {
      throw nb::type_error("a text is a str or bytes");
    }
    texts.emplace_back(text, static_cast<std::size_t>(size));
    bytes += texts.back().size();
  }
  NamedRows rows;
  NotText wrong{};
  bool fine = false;
  {
    nb::gil_scoped_release release;
    const Crosses none;
    RowBuilder row(rows, none, names);
    if (!words::prepare_ngrams(row, as.ngrams, prefix.size(), bytes)) throw std::bad_alloc();
    fine = names ? read_texts<true>(texts, tokeniser, as, row, wrong)
                 : read_texts<false>(texts, tokeniser, as, row, wrong);
    row.finish();
  }
  if (!fine) {
    const std::string_view text = texts[wrong.text];
    const std::string shown(text.substr(wrong.byte, 1));
    ParsedRows given_back;
    given_back.labels = given_back.weights = given_back.offsets = given_back.indptr = given_back.indices =
        given_back.values = given_back.names = given_back.name_offsets = given_back.lines = nb::none();
    given_back.n_lines = static_cast<std::int64_t>(wrong.text);
    given_back.error = LineError{"not_text", static_cast<std::int64_t>(wrong.byte), shown, "", 0};
    return given_back;
  }
  return give(rows, names);
}

// The tables of characters, for tokenisers in other languages.
nb::tuple character_ranges() {
  std::vector<std::int64_t> kinds, folds;
  for (const words::KindRange& range : words::kKindRanges)
    kinds.insert(kinds.end(), {range.first, range.last, range.kind});
  for (const words::FoldRange& range : words::kFoldRanges)
    folds.insert(folds.end(), {range.first, range.last, range.step, range.by});
  return nb::make_tuple(give(std::move(kinds), 3), give(std::move(folds), 4));
}

// name of the column, idf, norm, documents
using ColumnSpec = std::tuple<std::string, bool, bool, std::uint64_t>;

class TextWeights {
 public:
  TextWeights(const std::vector<ColumnSpec>& columns, const In<std::int64_t>& keys,
              const In<std::uint32_t>& counts, std::size_t most)
      : counts_(columns_of(columns), most) {
    if (keys.size() != counts.size()) throw nb::value_error("keys and counts differ in length");
    if (keys.size() > most) throw nb::value_error("more n-grams than the table holds");
    if (!counts_.table().reserve(keys.size())) throw std::bad_alloc();
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (counts.data()[k] == 0) throw nb::value_error("an n-gram that was in no text");
      counts_.table().add(keys.data()[k], counts.data()[k]);
    }
  }

  void weigh(const In<std::int64_t>& indptr, const In<std::int64_t>& keys,
             const nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>& values,
             const In<std::uint8_t>& names, const In<std::int64_t>& offsets, bool learn) {
    if (indptr.size() == 0 || keys.size() != values.size()) throw nb::value_error("rows differ in length");
    check_names(names, offsets, keys.size());
    BlockView<std::int64_t> block;
    block.rows = static_cast<std::int64_t>(indptr.size()) - 1;
    block.nnz = static_cast<std::int64_t>(keys.size());
    block.indptr = indptr.data();
    block.indices = keys.data();
    block.names = reinterpret_cast<const char*>(names.data());
    block.name_offsets = offsets.data();
    for (std::int64_t i = 0; i < block.rows; ++i) {
      if (!block.holds(i)) throw nb::value_error("a row lies outside");
    }
    // With the GIL: threads that score see the counts of one moment.
    if (!counts_.weigh(block, values.data(), learn)) throw std::bad_alloc();
  }

  nb::tuple arrays() const {
    std::vector<std::int64_t> keys;
    std::vector<std::uint32_t> counts;
    counts_.table().visit([&](std::int64_t key, std::uint32_t count) {
      keys.push_back(key);
      counts.push_back(count);
    });
    return nb::make_tuple(give(std::move(keys)), give(std::move(counts)));
  }
  std::vector<std::uint64_t> documents() const {
    std::vector<std::uint64_t> found;
    for (const words::WeighedColumn& column : counts_.columns()) found.push_back(column.documents);
    return found;
  }
  void clear() { counts_.clear(); }
  std::size_t size() const { return counts_.table().size(); }

 private:
  static std::vector<words::WeighedColumn> columns_of(const std::vector<ColumnSpec>& specs) {
    std::vector<words::WeighedColumn> columns;
    for (const auto& [prefix, idf, norm, documents] : specs)
      columns.push_back({prefix, idf, norm, documents});
    return columns;
  }
  words::DocumentCounts counts_;
};

}  // namespace

void bind_words(nb::module_& m) {
  m.def("character_ranges", &character_ranges,
        nb::sig("def character_ranges() -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]"),
        "What characters are to words: rows of first, last and kind (place in `Kind` of characters.hpp); and "
        "how "
        "they are folded: rows of first, last, step, and what is added to every step-th of them.");
  m.def("tokenise", &tokenise, "texts"_a, "spans"_a, "weight"_a, "prefix"_a, "names"_a,
        nb::sig("def tokenise(texts: Sequence[str | bytes], spans: tuple[int, int, int, int], weight: str, "
                "prefix: str, "
                "names: bool) -> ParsedRows"),
        "Each text as a row of its n-grams; an error has the number of the text in `n_lines` and the first "
        "byte that "
        "is no UTF-8, from 0, in `column`.");
  nb::class_<TextWeights>(m, "TextWeights", "In how many texts n-grams were, and what they are worth for it.")
      .def(nb::init<const std::vector<ColumnSpec>&, const In<std::int64_t>&, const In<std::uint32_t>&,
                    std::size_t>(),
           "columns"_a, "keys"_a, "counts"_a, "most"_a = words::DocumentTable::kMost)
      .def("weigh", &TextWeights::weigh, "indptr"_a, "keys"_a, "values"_a, "names"_a, "offsets"_a, "learn"_a,
           "Multiply the values of rows in place, each by what was before it.")
      .def("arrays", &TextWeights::arrays,
           nb::sig("def arrays(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.uint32]]"),
           "Keys and counts, in the order of the keys.")
      .def("documents", &TextWeights::documents, "How many texts each column had.")
      .def("clear", &TextWeights::clear)
      .def("__len__", &TextWeights::size);
}

}  // namespace riata::bind
