// What Python says of a linear model, as the core takes it.
#pragma once

#include <string>

#include "bind/arrays.hpp"
#include "bind/losses/named.hpp"
#include "riata/linear/linear.hpp"

namespace riata::bind {

inline LinearSpec spec_of(const std::string& loss, const std::string& normalize, int columns,
                          bool fit_intercept, const Numbers& numbers) {
  LinearSpec spec;
  spec.loss = &loss_named(loss);
  if (!spec.loss->parameter.empty()) spec.loss_parameter = numbers.at(std::string(spec.loss->parameter));
  spec.schedule = schedule_of(numbers);
  if (normalize == "l2") {
    spec.normalize = Normalize::l2;
  } else if (normalize == "sqrt_nnz") {
    spec.normalize = Normalize::sqrt_nnz;
  } else if (normalize != "none") {
    throw nb::value_error("unknown normalize");
  }
  if (numbers.contains("clip_low")) {
    spec.clip_low = numbers.at("clip_low");
    spec.clip_high = numbers.at("clip_high");
  }
  spec.columns = columns;
  spec.fit_intercept = fit_intercept;
  spec.scaled = numbers.contains("rms") && numbers.at("rms") != 0;
  spec.bits = static_cast<int>(numbers.at("bits"));
  if (spec.bits < 1 || spec.bits > 32) throw nb::value_error("bits must be 1 to 32");
  spec.numbers = numbers;
  return spec;
}

}  // namespace riata::bind
