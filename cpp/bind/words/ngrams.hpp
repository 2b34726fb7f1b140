// How texts become features, as Python says it.
#pragma once

#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>

#include "bind/arrays.hpp"
#include "riata/words/counted_ngrams.hpp"

namespace riata::bind {

using NgramSpans =
    std::tuple<int, int, int, int>;  // of words from, up to; of characters from, up to; 0: none

inline words::Ngrams ngrams_of(const NgramSpans& spans) {
  const auto& [words_low, words_high, chars_low, chars_high] = spans;
  const words::Ngrams made{words_low, words_high, chars_low, chars_high};
  if (!made.valid()) throw nb::value_error("no such n-grams");
  return made;
}

inline words::Weight weight_of(const std::string& name) {
  if (name == "count") return words::Weight::count;
  if (name == "presence") return words::Weight::presence;
  if (name == "log") return words::Weight::log;
  throw nb::value_error("unknown weight of n-grams");
}

}  // namespace riata::bind
