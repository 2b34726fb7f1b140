// CSV and ARFF: how to read them, and their rows.
#include "bind/formats/columns.hpp"
#include "bind/formats/parsed.hpp"
#include "riata/formats/csv/arff.hpp"
#include "riata/formats/csv/reader.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

char one_byte(const std::string& text) {
  if (text.size() > 1) throw nb::value_error("expected one byte");
  return text.empty() ? '\0' : text[0];
}

class CsvFormat {
 public:
  CsvFormat(const std::vector<ColumnSpec>& columns, const std::vector<std::string>& label_names,
            const std::vector<std::string>& absent, const std::string& delimiter, const std::string& quote,
            bool labelled, bool names, const CrossNames& crosses, bool decimal_comma) {
    format_.crosses = make_crosses(crosses);
    format_.columns = make_columns(columns, format_.crosses);
    format_.label_names = label_names;
    format_.absent = absent;
    format_.delimiter = one_byte(delimiter);
    format_.quote = one_byte(quote);
    format_.labelled = labelled;
    format_.keep_names = names;
    format_.decimal_comma = decimal_comma;
    plan_ = csv::Plan(format_);
  }

  ParsedRows parse(const In<std::uint8_t>& text, std::size_t size, bool skip_header) const {
    return bind::parse(CsvReader{format_, plan_, skip_header}, text, size, format_.keep_names);
  }

  ParsedRows parse_arff(const In<std::uint8_t>& text, std::size_t size) const {
    return bind::parse(ArffReader{format_}, text, size, format_.keep_names);
  }

 private:
  csv::Format format_;
  csv::Plan plan_;  // points into the format, which stays where it is
};

}  // namespace

void bind_csv(nb::module_& m) {
  nb::class_<CsvFormat>(m, "CsvFormat", "How to read text in columns.")
      .def(nb::init<const std::vector<ColumnSpec>&, const std::vector<std::string>&,
                    const std::vector<std::string>&, const std::string&, const std::string&, bool, bool,
                    const CrossNames&, bool>(),
           "columns"_a, "label_names"_a, "absent"_a, "delimiter"_a, "quote"_a, "labelled"_a, "names"_a,
           "crosses"_a, "decimal_comma"_a = false)
      .def("parse", &CsvFormat::parse, "text"_a, "size"_a, "skip_header"_a,
           nb::sig("def parse(self, " RIATA_TEXT ", skip_header: bool) -> ParsedRows"),
           "Rows of the first `size` bytes, which are whole records.")
      .def("parse_arff", &CsvFormat::parse_arff, "text"_a, "size"_a,
           nb::sig("def parse_arff(self, " RIATA_TEXT ") -> ParsedRows"),
           "The same for the data of an ARFF file.");
}

}  // namespace riata::bind
