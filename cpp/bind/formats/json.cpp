#include <nanobind/stl/pair.h>

#include <utility>

#include "bind/formats/parsed.hpp"
#include "riata/formats/json/reader.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

json::Role role_of(const std::string& name) {
  constexpr const char* names[] = {"feature", "ignored", "label",      "weight",
                                   "offset",  "numeric", "categorical"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (name == names[i]) return static_cast<json::Role>(i);
  }
  throw nb::value_error("unknown role of a key");
}

class JsonFormat {
 public:
  JsonFormat(const std::vector<std::pair<std::string, std::string>>& roles,
             const std::vector<std::string>& label_names, bool missing, bool labelled, bool names,
             const CrossNames& crosses) {
    for (const auto& [path, role] : roles) format_.roles.push_back({path, role_of(role)});
    format_.label_names = label_names;
    format_.missing = missing;
    format_.labelled = labelled;
    format_.keep_names = names;
    format_.crosses = make_crosses(crosses);
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
      .def(nb::init<const std::vector<std::pair<std::string, std::string>>&, const std::vector<std::string>&,
                    bool, bool, bool, const CrossNames&>(),
           "roles"_a, "label_names"_a, "missing"_a, "labelled"_a, "names"_a, "crosses"_a)
      .def("parse", &JsonFormat::parse, "text"_a, "size"_a,
           nb::sig("def parse(self, " RIATA_TEXT ") -> ParsedRows"),
           "Rows of the first `size` bytes, which are whole lines.");
}

}  // namespace riata::bind
