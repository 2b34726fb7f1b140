// Columns of rows that lie anywhere as eight cells: one row's, or where there are up to four columns, two rows'.
//
// Both ways each column sees the same operations in the same order, also where two rows are the same one, and sums over
// rows have the bits of one column that takes eight rows at a time.
#pragma once

#include <cstdint>

#include "riata/simd/columns.hpp"
#include "riata/simd/rows.hpp"

namespace riata::RIATA_TARGET {

RIATA_INLINE Eight as_eight(double x) noexcept { return eight(x); }
RIATA_INLINE const Eight& as_eight(const Eight& x) noexcept { return x; }

// Of more than four columns.
template <bool kWhole>
struct OneRow : Columns {
  static constexpr int kRows = 1;
  static constexpr bool kAll = kWhole;

  RIATA_INLINE OneRow(const Columns& c, std::int64_t) noexcept : Columns(c) {}

  // The same of every row: a number of each column, and a value of row i.
  RIATA_INLINE Eight of_columns(const double* p, double rest = 0) const noexcept {
    return get<kWhole>(*this, p, rest);
  }
  RIATA_INLINE double value(const double* x, std::int64_t i, std::int64_t stride = 1) const noexcept {
    return x[i * stride];
  }
  // From row i on: numbers behind those that rows point to, and of a matrix.
  RIATA_INLINE Eight of_rows(double* const* rows, std::int64_t i, std::int64_t behind) const noexcept {
    return get<kWhole>(*this, rows[i] + behind);
  }
  RIATA_INLINE Eight of_matrix(const double* p, std::int64_t i, std::int64_t width,
                               double rest = 0) const noexcept {
    return get<kWhole>(*this, p + i * width, rest);
  }
  RIATA_INLINE void put_matrix(double* p, std::int64_t i, std::int64_t width, const Eight& v) const noexcept {
    put<kWhole>(*this, p + i * width, v);
  }
  // visit(number of the row, its part of a, its part of b), one row after the other.
  template <class Visit>
  RIATA_INLINE void each(std::int64_t i, const Eight& a, const Eight& b, Visit visit) const noexcept {
    visit(i, a, b);
  }
  // Of a bit for each cell, those of a row.
  RIATA_INLINE static unsigned of_row(unsigned bits, std::int64_t) noexcept { return bits; }
  // What is there then.
  RIATA_INLINE Eight add_to_rows(double* const* rows, std::int64_t i, std::int64_t behind,
                                 const Eight& v) const noexcept {
    const Eight sum = of_rows(rows, i, behind) + v;
    put<kWhole>(*this, rows[i] + behind, sum);
    return sum;
  }
  // What two settings of all columns are in the first row and in others.
  RIATA_INLINE static Eight first_and_others(const Eight& first, const Eight&) noexcept { return first; }
  // Of each column, from what rows with the same place in eight add up to.
  RIATA_INLINE static Eight total(const Eight (&sums)[8]) noexcept { return sum_of(sums); }
  RIATA_INLINE void put_columns(double* p, const Eight& v) const noexcept { put<kWhole>(*this, p, v); }
};

// Of up to four columns: those of the first row in the lower half, those of the next in the upper half. What would be
// behind the last row is zero.
template <bool kWhole>
struct TwoRows : Columns {
  static constexpr int kRows = 2;
  static constexpr bool kAll = kWhole;

  RIATA_INLINE TwoRows(const Columns& c, std::int64_t rows) noexcept : Columns(c), rows_(rows) {}

  RIATA_INLINE Eight of_columns(const double* p, double rest = 0) const noexcept {
    return twice(get<kWhole, Four>(*this, p, rest));
  }
  RIATA_INLINE Eight value(const double* x, std::int64_t i, std::int64_t stride = 1) const noexcept {
    return joined(all<Four>(x[i * stride]), all<Four>(both(i) ? x[(i + 1) * stride] : 0.0));
  }
  RIATA_INLINE Eight of_rows(double* const* rows, std::int64_t i, std::int64_t behind) const noexcept {
    return joined(get<kWhole, Four>(*this, rows[i] + behind),
                  both(i) ? get<kWhole, Four>(*this, rows[i + 1] + behind) : all<Four>(0));
  }
  RIATA_INLINE Eight of_matrix(const double* p, std::int64_t i, std::int64_t width,
                               double rest = 0) const noexcept {
    return joined(get<kWhole, Four>(*this, p + i * width, rest),
                  both(i) ? get<kWhole, Four>(*this, p + (i + 1) * width, rest) : all<Four>(0));
  }
  RIATA_INLINE void put_matrix(double* p, std::int64_t i, std::int64_t width, const Eight& v) const noexcept {
    put<kWhole>(*this, p + i * width, low_half(v));
    if (both(i)) put<kWhole>(*this, p + (i + 1) * width, high_half(v));
  }
  template <class Visit>
  RIATA_INLINE void each(std::int64_t i, const Eight& a, const Eight& b, Visit visit) const noexcept {
    visit(i, low_half(a), low_half(b));
    if (both(i)) visit(i + 1, high_half(a), high_half(b));
  }
  RIATA_INLINE static unsigned of_row(unsigned bits, std::int64_t place) noexcept {
    return bits >> 4 * place & 0xF;
  }
  RIATA_INLINE Eight add_to_rows(double* const* rows, std::int64_t i, std::int64_t behind,
                                 const Eight& v) const noexcept {
    const Four lower = get<kWhole, Four>(*this, rows[i] + behind) + low_half(v);
    put<kWhole>(*this, rows[i] + behind, lower);
    if (!both(i)) return joined(lower, all<Four>(0));
    const Four upper = get<kWhole, Four>(*this, rows[i + 1] + behind) + high_half(v);
    put<kWhole>(*this, rows[i + 1] + behind, upper);
    return joined(lower, upper);
  }
  RIATA_INLINE static Eight first_and_others(const Eight& first, const Eight& others) noexcept {
    return joined(low_half(first), high_half(others));
  }
  RIATA_INLINE static Eight total(const Eight (&sums)[4]) noexcept {
    const Eight sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);  // in the order of sum_of()
    return twice(low_half(sum) + high_half(sum));
  }
  RIATA_INLINE void put_columns(double* p, const Eight& v) const noexcept {
    put<kWhole>(*this, p, low_half(v));
  }

 private:
  RIATA_INLINE static Eight twice(const Four& v) noexcept { return joined(v, v); }
  RIATA_INLINE bool both(std::int64_t i) const noexcept { return i + 1 < rows_; }

  std::int64_t rows_;
};

// visit(cells) for some columns of so many rows.
template <class Visit>
RIATA_INLINE void visit_cells(const Columns& c, std::int64_t rows, Visit visit) noexcept {
  if (c.have == 8)
    visit(OneRow<true>(c, rows));
  else if (c.have > 4)
    visit(OneRow<false>(c, rows));
  else if (c.have == 4)
    visit(TwoRows<true>(c, rows));
  else
    visit(TwoRows<false>(c, rows));
}

// visit(i, j) for the rows from i on that are eight cells together; j is the place of i in eight.
template <class Cells, class Visit>
RIATA_INLINE void each_row(std::int64_t rows, Visit visit) noexcept {
  constexpr int kSums = 8 / Cells::kRows;
  std::int64_t i = 0;
  for (; i + 8 <= rows; i += 8)
    for (int j = 0; j < kSums; ++j) visit(i + j * Cells::kRows, j);
  for (int j = 0; i < rows; i += Cells::kRows) visit(i, j++);
}

}  // namespace riata::RIATA_TARGET
