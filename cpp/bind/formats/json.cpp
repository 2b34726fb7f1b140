// JSON objects, one a line: how to read them, and their rows.
#include "bind/formats/columns.hpp"
#include "bind/formats/parsed.hpp"
#include "riata/formats/json/reader.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

class JsonFormat {
 public:
  JsonFormat(const std::vector<ColumnSpec>& columns, bool open, const std::vector<std::string>& label_names,
             const std::vector<std::string>& absent, bool missing, bool labelled, bool names,
             const CrossNames& crosses, bool as_written)
      : format_{.columns = {},
                .open = open,
                .label_names = label_names,
                .absent = absent,
                .missing = missing,
                .labelled = labelled,
                .keep_names = names,
                .as_written = as_written,
                .crosses = make_crosses(crosses)} {
    format_.columns = SchemaColumns(make_columns(columns, format_.crosses));
  }

  ParsedRows parse(const In<std::uint8_t>& text, std::size_t size) const {
    return bind::parse(JsonReader{format_}, text, size, format_.keep_names);
  }

 private:
  json::Format format_;
};

}  // namespace

void bind_json(nb::module_& m) {
  nb::class_<JsonFormat>(m, "JsonFormat", "How to read JSON objects, one a line.")
      .def(nb::init<const std::vector<ColumnSpec>&, bool, const std::vector<std::string>&,
                    const std::vector<std::string>&, bool, bool, bool, const CrossNames&, bool>(),
           "columns"_a, "open"_a, "label_names"_a, "absent"_a, "missing"_a, "labelled"_a, "names"_a,
           "crosses"_a, "as_written"_a = false)
      .def("parse", &JsonFormat::parse, "text"_a, "size"_a,
           nb::sig("def parse(self, " RIATA_TEXT ") -> ParsedRows"),
           "Rows of the first `size` bytes, which are whole lines.");
}

}  // namespace riata::bind
