#include <limits>
#include <vector>

#include "check.hpp"
#include "riata/block/matrix.hpp"

using namespace riata;

namespace {

Inspection inspect(std::vector<std::int64_t> indptr, std::vector<std::int32_t> indices,
                   std::vector<float> values) {
  return inspect_rows(indptr.data(), static_cast<std::int64_t>(indptr.size()) - 1, indices.data(),
                      values.data(), static_cast<std::int64_t>(values.size()), 10);
}

void inspects() {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const Inspection good = inspect({0, 2, 2, 3}, {1, 9, 0}, {1, 2, 3});
  CHECK(good.error == MatrixError::none && good.canonical);
  CHECK(!inspect({0, 2}, {9, 1}, {1, 2}).canonical);
  CHECK(!inspect({0, 2}, {1, 1}, {1, 2}).canonical);
  CHECK(!inspect({0, 2}, {0, 1}, {0, 2}).canonical);
  const Inspection bad = inspect({0, 1, 3}, {1, 2, 3}, {1, 2, nan});
  CHECK(bad.error == MatrixError::not_finite && bad.row == 1 && bad.position == 2);
  CHECK(inspect({0, 1}, {1}, {-inf}).error == MatrixError::not_finite);
  CHECK(inspect({0, 1}, {10}, {1}).error == MatrixError::index_range);
  CHECK(inspect({0, 1}, {-1}, {1}).error == MatrixError::index_range);
  CHECK(inspect({1, 1}, {1}, {1}).error == MatrixError::pointers);
  CHECK(inspect({0, 9}, {1}, {1}).error == MatrixError::pointers);
  CHECK(inspect({0, 9, 1}, {1}, {1}).error == MatrixError::pointers);
  CHECK(inspect({0, 1, 0, 1}, {1}, {1}).error == MatrixError::pointers);
}

void compresses() {
  const std::vector<double> dense = {0, 1.5, 0, 0, 0, 0, -2, 0, 1e-60};
  DenseRows rows;
  CHECK(compress_rows(dense.data(), 3, 3, rows));
  CHECK(rows.values.size() == 2 && rows.values[0] == 1.5f && rows.values[1] == -2.0f);
  CHECK(rows.indices[0] == 1 && rows.indices[1] == 0);
  CHECK(rows.indptr[1] == 1 && rows.indptr[2] == 1 && rows.indptr[3] == 2);
  DenseRows none;
  CHECK(compress_rows(dense.data(), 3, 0, none));
  CHECK(none.indptr.size() == 4 && none.values.size() == 0);
}

void finds() {
  std::vector<double> dense(5000, 1.0);
  CHECK(first_not_finite(dense.data(), 5000) == 5000);
  dense[4321] = 1e39;
  CHECK(first_not_finite(dense.data(), 5000) == 4321);
}

}  // namespace

int main() {
  inspects();
  compresses();
  finds();
  return check::failures();
}
