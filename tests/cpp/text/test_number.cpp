#include <cstdlib>
#include <random>
#include <string>

#include "check.hpp"
#include "padded.hpp"
#include "riata/text/number.hpp"

using riata::NumberError;
using riata::read_number;

namespace {

template <class Float>
riata::Number<Float> read(const std::string& text, std::ptrdiff_t* length = nullptr) {
  const Padded padded(text + "\n");
  const auto number = read_number<Float>(padded.begin());
  if (length != nullptr) *length = number.end - padded.begin();
  return number;
}

bool same(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }
bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

// glibc's strtof and strtod round correctly: they are the reference.
void compare(const std::string& text) {
  const float f = std::strtof(text.c_str(), nullptr);
  const double d = std::strtod(text.c_str(), nullptr);
  std::ptrdiff_t length = 0;
  const auto as_float = read<float>(text, &length);
  const auto as_double = read<double>(text);
  const bool float_fits = std::isfinite(f), double_fits = std::isfinite(d);
  const bool ok = length == static_cast<std::ptrdiff_t>(text.size()) &&
                  (as_float.error == NumberError::none) == float_fits &&
                  (as_double.error == NumberError::none) == double_fits &&
                  (!float_fits || same(as_float.value, f)) && (!double_fits || same(as_double.value, d));
  if (!ok) std::fprintf(stderr, "differs from strtof or strtod: %s\n", text.c_str());
  CHECK(ok);
}

std::string random_digits(std::mt19937_64& rng, std::size_t count) {
  std::string digits;
  for (std::size_t i = 0; i < count; ++i) digits += static_cast<char>('0' + rng() % 10);
  return digits;
}

void forms() {
  for (const char* text : {"0",
                           "1",
                           "-1",
                           "+1",
                           "1.",
                           ".5",
                           "-.5",
                           "0.1",
                           "00012.50",
                           "1e5",
                           "1E5",
                           "1e+5",
                           "1.5e-7",
                           "-0",
                           "0.0",
                           "123456789",
                           "12345678901234567890",
                           "0.12345678901234567890123456789",
                           "16777217",
                           "16777219",
                           "33554435",
                           "3.4028234e38",
                           "3.4028235e38",
                           "3.4028236e38",
                           "1e39",
                           "1e-37",
                           "1.17549435e-38",
                           "1.1754943e-38",
                           "1e-40",
                           "1.4e-45",
                           "7e-46",
                           "7.1e-46",
                           "1e-46",
                           "1e-400",
                           "1e400",
                           "0e999999999999",
                           "1e-999999999999",
                           "9007199254740993",
                           "1e22",
                           "1e23",
                           "4.9e-324",
                           "2e-324",
                           "1.7976931348623157e308",
                           "1.7976931348623159e308"}) {
    compare(text);
  }
  compare("0." + std::string(60, '0') + "1");
  compare("1" + std::string(60, '0'));
  compare("1" + std::string(60, '0') + "e-60");
  compare("0." + std::string(400, '0') + "1e401");
  CHECK(same(read<float>("-0").value, -0.0f));
}

void refusals() {
  for (const char* text : {"", "-", "+", ".", "e5", "-.", "abc", ":", "--1", "+-1", "\xff", "n", "in"}) {
    CHECK(read<float>(text).error == NumberError::syntax);
  }
  for (const char* text : {"nan", "NaN", "-nan", "inf", "-INF", "+Infinity"}) {
    CHECK(read<float>(text).error == NumberError::not_finite);
    CHECK(read<double>(text).error == NumberError::not_finite);
  }
  CHECK(read<float>("1e39").error == NumberError::too_large);
  CHECK(read<float>("-1e39").error == NumberError::too_large);
  CHECK(read<double>("1e309").error == NumberError::too_large);
  std::ptrdiff_t length = 0;
  CHECK(read<float>("1.5ex", &length).value == 1.5f);
  CHECK(length == 3);  // an e without digits is not an exponent
  read<float>("12:3", &length);
  CHECK(length == 2);
}

// The decimal expansion of the midpoint of two neighbouring floats, in full, and a hair beside it.
void midpoints(std::mt19937_64& rng) {
  for (int i = 0; i < 20000; ++i) {
    const auto bits = static_cast<std::uint32_t>(rng() % 0x7f000000u);
    const double low = std::bit_cast<float>(bits), high = std::bit_cast<float>(bits + 1);
    char text[400];
    std::snprintf(text, sizeof text, "%.200f", low + (high - low) / 2);
    std::string exact = text;
    compare(exact);
    compare(exact + "1");
    std::snprintf(text, sizeof text, "%.17g", low + (high - low) / 2);
    compare(text);
    std::snprintf(text, sizeof text, "%.9g", low);
    compare(text);
    std::snprintf(text, sizeof text, "%.18g", std::nextafter(low + (high - low) / 2, 0));
    compare(text);
  }
}

void random_numbers(std::mt19937_64& rng) {
  for (int i = 0; i < 300000; ++i) {
    std::string text = rng() % 2 ? "-" : "";
    const std::size_t whole = rng() % (rng() % 8 == 0 ? 40 : 9),
                      fraction = rng() % (rng() % 4 == 0 ? 40 : 10);
    text += random_digits(rng, whole);
    if (fraction > 0 || whole == 0) text += "." + random_digits(rng, fraction + (whole == 0));
    if (rng() % 3 == 0) text += "e" + std::to_string(static_cast<int>(rng() % 120) - 60);
    compare(text);
  }
}

}  // namespace

int main() {
  std::mt19937_64 rng(7);
  forms();
  refusals();
  midpoints(rng);
  random_numbers(rng);
  return check::failures();
}
