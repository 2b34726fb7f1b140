#include "bind/formats/parsed.hpp"
#include "riata/formats/vw/reader.hpp"

namespace riata::bind {

using namespace nb::literals;

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
}

}  // namespace riata::bind
