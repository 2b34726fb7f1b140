#include <algorithm>
#include <random>
#include <vector>

#include "check.hpp"
#include "riata/block/fingerprint.hpp"

using namespace riata;

namespace {

struct Rows {
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> narrow;
  std::vector<std::int64_t> wide;
  std::vector<float> values;
  std::vector<double> labels, weights;

  template <class Index>
  BlockView<Index> view(const std::vector<Index>& indices) const {
    return {static_cast<std::int64_t>(labels.size()),
            static_cast<std::int64_t>(values.size()),
            indptr.data(),
            indices.data(),
            values.data(),
            labels.data(),
            weights.data()};
  }
};

Rows random_rows(int rows) {
  std::mt19937 random(1);
  Rows made;
  for (int i = 0; i < rows; ++i) {
    for (auto k = random() % 9; k > 0; --k) {
      made.narrow.push_back(static_cast<std::int32_t>(random() >> 1));
      made.wide.push_back(made.narrow.back());
      made.values.push_back(static_cast<float>(random() % 1000) / 7);
    }
    made.indptr.push_back(static_cast<std::int64_t>(made.values.size()));
    made.labels.push_back(static_cast<double>(random() % 2));
    made.weights.push_back(static_cast<double>(1 + random() % 2));
  }
  return made;
}

void cuts_and_widths_do_not_matter() {
  const Rows rows = random_rows(5000);
  Fingerprint whole, parts;
  CHECK(whole.add(rows.view(rows.narrow), 0, 5000));
  std::mt19937 random(2);
  for (std::int64_t start = 0; start < 5000;) {
    const std::int64_t stop = std::min<std::int64_t>(5000, start + random() % 1500);
    CHECK(random() % 2 ? parts.add(rows.view(rows.narrow), start, stop)
                       : parts.add(rows.view(rows.wide), start, stop));
    start = stop;
  }
  CHECK(whole.rows() == 5000 && whole.digest() == parts.digest());
  CHECK(parts.add(rows.view(rows.wide), 0, 1) && whole.digest() != parts.digest());
}

void rows_outside_are_refused() {
  Rows rows = random_rows(10);
  Fingerprint fingerprint;
  const std::uint64_t before = fingerprint.digest();
  CHECK(!fingerprint.add(rows.view(rows.narrow), 0, 11));
  CHECK(!fingerprint.add(rows.view(rows.narrow), -1, 3));
  rows.indptr[4] = std::int64_t{1} << 50;
  CHECK(!fingerprint.add(rows.view(rows.narrow), 0, 10));
  for (const std::int64_t wrong : {std::int64_t{-1}, INT64_MIN, INT64_MIN + 5, INT64_MAX}) {
    rows.indptr[4] = wrong;
    CHECK(!fingerprint.add(rows.view(rows.narrow), 0, 10));
    CHECK(!fingerprint.add(rows.view(rows.narrow), 3, 5));
    CHECK(!fingerprint.add(rows.view(rows.narrow), 4, 10));
  }
  CHECK(fingerprint.rows() == 0 && fingerprint.digest() == before);
}

}  // namespace

int main() {
  cuts_and_widths_do_not_matter();
  rows_outside_are_refused();
  return check::failures();
}
