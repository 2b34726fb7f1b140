// The sparse factor against the dense one, and what it leaves out.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "riata/sketch/cholesky.hpp"
#include "riata/sketch/sparse_cholesky.hpp"

using namespace riata;

namespace {

std::mt19937_64 rng(2006);

double normal() { return std::normal_distribution<double>()(rng); }

// A sum of w x x' over some rows x with few entries, dense; `copies`: the last columns are those before them.
std::vector<double> some_curvature(std::size_t n, std::size_t rows, std::size_t entries, std::size_t copies) {
  std::vector<double> a(n * n);
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> x(n);
    for (std::size_t k = 0; k < entries; ++k) x[rng() % (n - copies)] = normal();
    for (std::size_t k = n - copies; k < n; ++k) x[k] = x[k - copies];
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k) a[j * n + k] += x[j] * x[k];
  }
  return a;
}

UpperHalf upper_half(const std::vector<double>& a, std::size_t n) {
  UpperHalf upper;
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j <= k; ++j)
      if (j == k || a[j * n + k] != 0) {
        upper.row.push_back(static_cast<std::int32_t>(j));
        upper.value.push_back(a[j * n + k]);
      }
    upper.start.push_back(upper.row.size());
  }
  return upper;
}

void test_solution() {
  SparseCholesky sparse;  // one for all: nothing of the last system stays
  for (const auto& [n, rows, entries, copies] : {std::array<std::size_t, 4>{1, 3, 1, 0},
                                                 {5, 40, 2, 0},
                                                 {60, 200, 3, 0},
                                                 {60, 2000, 9, 0},
                                                 {40, 90, 3, 10}}) {
    std::vector<double> a = some_curvature(n, rows, entries, copies);
    const UpperHalf upper = upper_half(a, n);
    CHECK(sparse.plan(upper, n * n));
    CHECK(sparse.products() <= 0.5 * static_cast<double>(n * n * n));
    sparse.factor(upper);
    std::vector<double> found(n);
    for (double& value : found) value = normal();
    std::vector<double> expected = found;
    sparse.solve(found);
    const std::vector<std::size_t> dependent = solve_symmetric(a, expected);
    CHECK(dependent.size() >= copies);
    for (std::size_t j = 0; j < n; ++j)
      CHECK(std::fabs(found[j] - expected[j]) <= 1e-6 * (1 + std::fabs(expected[j])));
    for (const std::size_t j : dependent) CHECK(found[j] == 0);
  }
}

// Too many entries: no plan. An arrow that points the right way has none but its own.
void test_room() {
  const std::size_t n = 100;
  std::vector<double> a(n * n);
  for (std::size_t j = 0; j < n; ++j)
    a[j * n + j] = 200, a[j * n + n - 1] = a[(n - 1) * n + j] = j + 1 < n ? 1 : 200;
  SparseCholesky sparse;
  CHECK(sparse.plan(upper_half(a, n), n - 1));
  CHECK(sparse.products() == static_cast<double>(n - 1));
  CHECK(!sparse.plan(upper_half(a, n), n - 2));
  for (std::size_t j = 1; j < n; ++j) a[j] = a[j * n] = 1;  // and one at its other end fills it
  CHECK(!sparse.plan(upper_half(a, n), n * n / 4));
}

}  // namespace

int main() {
  test_solution();
  test_room();
  return 0;
}
