// Vowpal Wabbit's format: its rows, and its n-grams.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/formats/parsed.hpp"
#include "riata/formats/vw/ngrams.hpp"
#include "riata/formats/vw/reader.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

using NgramNames = std::vector<std::pair<std::string, int>>;

nb::bytes expand(const In<std::uint8_t>& text, std::size_t size, const NgramNames& ngrams, int all,
                 const std::vector<std::string>& ignored) {
  if (size > text.size()) throw nb::value_error("the text is shorter than that");
  const vw::NgramOptions options{ngrams, all, ignored};
  std::string made;
  {
    nb::gil_scoped_release release;
    made = vw::NgramText(options).expand({reinterpret_cast<const char*>(text.data()), size});
  }
  return nb::bytes(made.data(), made.size());
}

}  // namespace

void bind_vw(nb::module_& m) {
  m.def(
      "parse_vw",
      [](const In<std::uint8_t>& text, std::size_t size, bool labelled, bool names,
         const CrossNames& crosses) {
        const Crosses made = make_crosses(crosses);
        return parse(VwReader{{labelled, names}, made}, text, size, names);
      },
      "text"_a, "size"_a, "labelled"_a, "names"_a, "crosses"_a,
      nb::sig("def parse_vw(" RIATA_TEXT
              ", labelled: bool, names: bool, crosses: Sequence[Sequence[str]]) -> ParsedRows"),
      "Rows of the first `size` bytes of Vowpal Wabbit text, which are whole lines.");
  m.def("expand_vw", &expand, "text"_a, "size"_a, "ngrams"_a, "all"_a, "ignored"_a,
        nb::sig("def expand_vw(" RIATA_TEXT
                ", ngrams: Sequence[tuple[str, int]], all: int, ignored: Sequence[str]) -> bytes"),
        "The same lines with n-grams of features written behind them, and without namespaces that are "
        "ignored.");
}

}  // namespace riata::bind
