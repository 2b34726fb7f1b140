// Rows of svmlight text.
#include "bind/formats/parsed.hpp"
#include "riata/formats/svmlight/reader.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

// For tests: the reader as it would be on another processor.
Instructions instructions_called(const std::string& name) {
  constexpr const char* names[] = {"plain", "avx2", "avx512"};
  if (name.empty()) return best_instructions();
  for (int i = 0; i <= static_cast<int>(available_instructions()); ++i) {
    if (name == names[i]) return static_cast<Instructions>(i);
  }
  throw nb::value_error("no such instructions on this processor");
}

}  // namespace

void bind_svmlight(nb::module_& m) {
  m.def(
      "parse_svmlight",
      [](const In<std::uint8_t>& text, std::size_t size, bool zero_based, bool labelled,
         const std::string& instructions) {
        return parse(SvmlightReader{zero_based, labelled, instructions_called(instructions)}, text, size);
      },
      "text"_a, "size"_a, "zero_based"_a, "labelled"_a, "instructions"_a = "",
      nb::sig("def parse_svmlight(" RIATA_TEXT
              ", zero_based: bool, labelled: bool, instructions: str = ...) -> ParsedRows"),
      "Rows of the first `size` bytes of svmlight text, which are whole lines.\n\n"
      "`instructions` (plain, avx2, avx512) asks for a reader narrower than the processor allows.\n"
      "The text is not copied if it ends in a newline and PADDING more bytes follow within the buffer.");
}

}  // namespace riata::bind
