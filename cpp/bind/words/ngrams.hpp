// How texts become features, as Python says it.
#pragma once

#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>

#include "bind/arrays.hpp"
#include "riata/block/text_spec.hpp"

namespace riata::bind {

// Of words from, up to; of characters from, up to; 0: none.
using NgramSpans = std::tuple<int, int, int, int>;

inline Ngrams ngrams_of(const NgramSpans& spans) {
  const auto& [words_low, words_high, chars_low, chars_high] = spans;
  const Ngrams made{words_low, words_high, chars_low, chars_high};
  if (!made.valid()) throw nb::value_error("no such n-grams");
  return made;
}

inline NgramWeight weight_of(const std::string& name) {
  if (name == "count") return NgramWeight::count;
  if (name == "presence") return NgramWeight::presence;
  if (name == "log") return NgramWeight::log;
  if (name == "date") return NgramWeight::date;
  throw nb::value_error("unknown weight of n-grams");
}

using TextColumnSpec = std::tuple<NgramSpans, std::string, bool>;  // n-grams, weight, whether of length one

inline TextSpec text_spec_of(const TextColumnSpec& spec) {
  const auto& [spans, weight, norm] = spec;
  return {ngrams_of(spans), weight_of(weight), norm};
}

}  // namespace riata::bind
