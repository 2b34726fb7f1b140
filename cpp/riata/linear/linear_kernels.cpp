#include "riata/linear/kernels.hpp"
#include "riata/simd/rows.hpp"

namespace riata::RIATA_TARGET {
namespace {

// Where row k is: at(k) for a key that may lie outside, of which note is taken, or in[k] for one that does not.
struct PointerReader {
  double* const* rows;
  RIATA_INLINE explicit PointerReader(const RowPointers& from) noexcept : rows(from.rows) {}
  RIATA_INLINE double* at(std::int64_t k) noexcept { return rows[k]; }
  RIATA_INLINE double* operator[](std::int64_t k) const noexcept { return rows[k]; }
  RIATA_INLINE std::int64_t keys() const noexcept { return 0; }
};
template <class Index>
struct ArrayReader {
  const Index* key;
  double* base;
  std::uint64_t mask;
  Index all_keys = 0;
  RIATA_INLINE explicit ArrayReader(const ArrayRows<Index>& from) noexcept
      : key(from.keys), base(from.base), mask(from.mask) {}
  RIATA_INLINE double* at(std::int64_t k) noexcept {
    all_keys |= key[k];
    return base + (static_cast<std::uint64_t>(key[k]) & mask) * 2;
  }
  RIATA_INLINE double* operator[](std::int64_t k) const noexcept {
    return base + static_cast<std::uint64_t>(key[k]) * 2;
  }
  RIATA_INLINE std::int64_t keys() const noexcept { return all_keys; }
};
RIATA_INLINE PointerReader reader(const RowPointers& from) noexcept { return PointerReader(from); }
template <class Index>
RIATA_INLINE ArrayReader<Index> reader(const ArrayRows<Index>& from) noexcept {
  return ArrayReader<Index>(from);
}

// In four partial sums by place, whichever way they are computed.
RIATA_INLINE double sum_of_four(const double (&s)[4]) noexcept { return (s[0] + s[1]) + (s[2] + s[3]); }

template <DecayKind kind, bool kKeep, class Rows>
RIATA_INLINE Gathered gather_rows(const Decay& given, const Rows& where, const float* x, std::int64_t n,
                                  double* current) noexcept {
  const Decay decay = given;  // copies that nothing stored can change
  auto rows = reader(where);
  Four sums = all<Four>(0);
  std::int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    Four weights, marks, values;
    load_rows([&](int i) { return rows.at(k + i); }, weights, marks);
    const Four v = decayed<kind>(decay, weights, marks);
    if constexpr (kKeep) store(current + k, v);
    load(values, x + k);
    sums = sums + v * values;
  }
  double partial[4];
  store(partial, sums);
  for (int i = 0; k < n; ++k, ++i) {
    const double* row = rows.at(k);
    const double v = decayed<kind>(decay, row[0], row[1]);
    if constexpr (kKeep) current[k] = v;
    partial[i] += v * static_cast<double>(x[k]);
  }
  return {sum_of_four(partial), rows.keys()};
}
template <DecayKind kind, class Rows>
Gathered gather(const Decay& decay, const Rows& rows, const float* x, std::int64_t n,
                double* current) noexcept {
  return current != nullptr ? gather_rows<kind, true>(decay, rows, x, n, current)
                            : gather_rows<kind, false>(decay, rows, x, n, current);
}

RIATA_INLINE bool distinct(double* a, double* b, double* c, double* d) noexcept {
  return (a != b) & (a != c) & (a != d) & (b != c) & (b != d) & (c != d);
}

template <DecayKind kind, bool kKept, bool kShared, class Rows>
RIATA_INLINE void push_rows(const Decay& given, const Rows& where, const float* x, std::int64_t n,
                            double gradient, const double* current) noexcept {
  const Decay decay = given;
  const auto rows = reader(where);
  const auto push_one = [&](std::int64_t k) {
    double* const row = rows[k];
    row[0] = decayed<kind>(decay, row[0], row[1]) - gradient * static_cast<double>(x[k]);
    row[1] = decay.now;
  };
  const Four now = all<Four>(decay.now);
  std::int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    if constexpr (kShared) {
      if (!distinct(rows[k], rows[k + 1], rows[k + 2], rows[k + 3])) [[unlikely]] {
        for (int i = 0; i < 4; ++i) push_one(k + i);
        continue;
      }
    }
    const auto row = [&](int i) { return rows[k + i]; };
    Four v, marks, values;
    if constexpr (kKept) {
      load(v, current + k);
    } else {
      load_rows(row, v, marks);
      v = decayed<kind>(decay, v, marks);
    }
    load(values, x + k);
    store_rows(row, v - gradient * values, now);
  }
  for (; k < n; ++k) push_one(k);
}
template <DecayKind kind, class Rows>
void push(const Decay& decay, const Rows& rows, const float* x, std::int64_t n, double gradient,
          const double* current) noexcept {
  current != nullptr ? push_rows<kind, true, false>(decay, rows, x, n, gradient, current)
                     : push_rows<kind, false, false>(decay, rows, x, n, gradient, current);
}
template <DecayKind kind>
void push_shared(const Decay& decay, const RowPointers& rows, const float* x, std::int64_t n,
                 double gradient) noexcept {
  push_rows<kind, false, true>(decay, rows, x, n, gradient, nullptr);
}

template <DecayKind kind>
void gather_columns(const Decay& given, double* const* rows, const float* x, std::int64_t n, int m,
                    double* sums) noexcept {
  const Decay decay = given;
  for (std::int64_t k = 0; k < n; ++k) {
    const double *row = rows[k], mark = row[m];
    const double value = static_cast<double>(x[k]);
    const Four marks = all<Four>(mark);
    double* const sum = sums + k % 4 * m;
    int c = 0;
    for (; c + 4 <= m; c += 4)
      store(sum + c, loaded<Four>(sum + c) + decayed<kind>(decay, loaded<Four>(row + c), marks) * value);
    for (; c < m; ++c) sum[c] += decayed<kind>(decay, row[c], mark) * value;
  }
}
template <DecayKind kind>
void push_columns(const Decay& given, double* const* rows, const float* x, std::int64_t n, int m,
                  const double* gradient) noexcept {
  const Decay decay = given;
  for (std::int64_t k = 0; k < n; ++k) {
    double* const row = rows[k];
    const double mark = row[m], value = static_cast<double>(x[k]);
    const Four marks = all<Four>(mark);
    int c = 0;
    for (; c + 4 <= m; c += 4)
      store(row + c, decayed<kind>(decay, loaded<Four>(row + c), marks) - loaded<Four>(gradient + c) * value);
    for (; c < m; ++c) row[c] = decayed<kind>(decay, row[c], mark) - gradient[c] * value;
    row[m] = decay.now;
  }
}

template <DecayKind kind>
std::uint32_t live(const Decay& given, const double* first, std::uint64_t stride) noexcept {
  const Decay decay = given;
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < 16; i += 4) {
    Four weights, marks;
    load_rows([&](int j) { return first + (i + static_cast<unsigned>(j)) * stride; }, weights, marks);
    bits |= nonzero(decayed<kind>(decay, weights, marks)) << i;
  }
  return bits;
}

constexpr int kAtOnce = 8;

void push_ftrl(const FtrlSettings& given, double* const* rows, const float* x, std::int64_t n,
               double gradient) noexcept {
  const FtrlSettings by = given;
  std::int64_t k = 0;
  for (; k + kAtOnce <= n; k += kAtOnce) {
    double* const* const some = rows + k;
    double columns[3][kAtOnce], g[kAtOnce];
    for (int i = 0; i < kAtOnce; ++i) {
      for (int c = 0; c < 3; ++c) columns[c][i] = some[i][c];
      g[i] = gradient * static_cast<double>(x[k + i]);
    }
    Eight w = eight(columns[0]), z = eight(columns[1]), s = eight(columns[2]);
    ftrl_step(by, w, z, s, eight(g));
    store(columns[0], w);
    store(columns[1], z);
    store(columns[2], s);
    for (int i = 0; i < kAtOnce; ++i)
      for (int c = 0; c < 3; ++c) some[i][c] = columns[c][i];
  }
  for (; k < n; ++k) ftrl_step(by, rows[k][0], rows[k][1], rows[k][2], gradient * static_cast<double>(x[k]));
}

template <DecayKind kind>
constexpr DecayKernels decay_kernels() noexcept {
  using Array32 = ArrayRows<std::int32_t>;
  using Array64 = ArrayRows<std::int64_t>;
  return {{gather<kind, Array32>, push<kind, Array32>},
          {gather<kind, Array64>, push<kind, Array64>},
          {gather<kind, RowPointers>, push<kind, RowPointers>},
          push_shared<kind>,
          gather_columns<kind>,
          push_columns<kind>,
          live<kind>};
}

}  // namespace

constinit const LinearKernels linear_kernels{decay_kernels<DecayKind::shrink>(),
                                             decay_kernels<DecayKind::truncate>(),
                                             decay_kernels<DecayKind::round>(), push_ftrl};

}  // namespace riata::RIATA_TARGET
