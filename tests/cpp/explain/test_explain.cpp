// Places of keys, the strongest entries of a row, groups of names, and lines of explanations.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"
#include "riata/explain/lines.hpp"
#include "riata/explain/name_groups.hpp"
#include "riata/explain/places.hpp"
#include "riata/explain/strongest.hpp"

using namespace riata;

namespace {

void places() {
  for (const std::int64_t apart : {std::int64_t{1}, std::int64_t{1} << 40}) {
    std::vector<std::int64_t> keys;
    for (std::int64_t k = 0; k < 1000; ++k) keys.push_back(3 * k * apart);
    const Places found(keys);
    for (std::int64_t k = 0; k < 1000; ++k) {
      CHECK(found.find(3 * k * apart) == k);
      CHECK(found.find(3 * k * apart + 1) == -1);
    }
    CHECK(found.find(-1) == -1);
  }
  CHECK(Places({}).find(0) == -1);
}

void strongest_of_a_row() {
  const std::vector<double> sizes = {9, 1, -3, 0, 3, 2, 9};
  std::vector<std::int64_t> out;
  Strongest three(3);
  RowSums sums = three.of(sizes.data(), 1, 6, out);
  CHECK(out == (std::vector<std::int64_t>{2, 4, 5}));
  CHECK(sums.live == 4 && sums.all == 3 && sums.shown == 2);
  out.clear();
  CHECK(three.of(sizes.data(), 3, 4, out).live == 0 && out.empty());
  sums = Strongest(0).of(sizes.data(), 1, 6, out);
  CHECK(out.empty() && sums.live == 4 && sums.shown == 0);

  std::vector<double> many(5000);  // with many equals, against sorting all
  std::vector<std::int64_t> order;
  for (std::size_t k = 0; k < many.size(); ++k) {
    many[k] = static_cast<double>(k * 7919 % 613) - 300;
    if (many[k] != 0) order.push_back(static_cast<std::int64_t>(k));
  }
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return std::fabs(many[static_cast<std::size_t>(a)]) > std::fabs(many[static_cast<std::size_t>(b)]);
  });
  for (const std::size_t most : {1u, 10u, 700u, 6000u}) {
    out.clear();
    Strongest(static_cast<std::int64_t>(most)).of(many.data(), 0, 5000, out);
    CHECK(out == std::vector<std::int64_t>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(
                                                                              std::min(most, order.size()))));
  }
}

void groups() {
  NameGroups groups({"price"}, 2);
  CHECK(groups.of("body^free") == 1);
  CHECK(groups.of("city=Rome") == 2);
  CHECK(groups.of("body^free=1") == 1);
  CHECK(groups.of("price") == -1);  // there are two already
  CHECK(groups.of("word") == 0);
  CHECK(groups.of("") == 0);
  CHECK(groups.names() == (std::vector<std::string>{"", "body", "city"}));
}

void lines() {
  const std::string names = "a\"b\x01\xff,c";
  const std::vector<std::int64_t> starts = {0, 2, 2}, chosen = {1, 0}, offsets = {0, 5, 7};
  const std::vector<double> values = {1, 0.1f}, weights = {2, -1}, sizes = {2, -0.5}, scores = {1.5, 0};
  std::vector<RowField> fields(1), others(1);
  fields[0].before = "{\"score\":";
  fields[0].numbers = scores.data();
  others[0].before = ",intercept,,,,";
  others[0].numbers = scores.data();
  ShownEntries shown;
  shown.starts = starts.data();
  shown.places = chosen.data();
  shown.names = reinterpret_cast<const std::uint8_t*>(names.data());
  shown.name_offsets = offsets.data();
  shown.values = values.data();
  shown.weights = weights.data();
  shown.contributions = sizes.data();
  std::string text;
  ExplanationWriter writer(text);
  writer.json(fields, shown, 0);
  writer.json(fields, shown, 1);
  CHECK(text ==
        "{\"score\":1.5,\"contributions\":[{\"feature\":\",c\",\"value\":0.1,\"weight\":-1,\"contribution\":-"
        "0.5},"
        "{\"feature\":\"a\\\"b\\u0001\\ufffd\",\"value\":1,\"weight\":2,\"contribution\":2}]}\n"
        "{\"score\":0,\"contributions\":[]}\n");
  text.clear();
  fields[0].before.clear();
  writer.csv(fields, shown, others, 0);
  CHECK(text ==
        "1.5,feature,\",c\",0.1,-1,-0.5,\n"
        "1.5,feature,\"a\"\"b\x01\xef\xbf\xbd\",1,2,2,\n"
        "1.5,intercept,,,,1.5,\n");
}

}  // namespace

int main() {
  places();
  strongest_of_a_row();
  groups();
  lines();
  return check::failures();
}
