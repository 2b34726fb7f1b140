#include "riata/linear/adagrad_kernels.hpp"

#include "riata/simd/rows.hpp"

namespace riata::RIATA_TARGET {
namespace {

// work(k, T) for the entries from k on, eight, four or one at a time.
template <class Wide, class Work>
RIATA_INLINE void entries(std::int64_t n, const Work& work) noexcept {
  std::int64_t k = 0;
  for (; k + kSize<Wide> <= n; k += kSize<Wide>) work(k, Wide{});
  for (; k < n; ++k) work(k, 0.0);
}

// Sums by place, modulo four, whatever is added at once.
class Partial {
 public:
  RIATA_INLINE void add(std::int64_t k, double v) noexcept {
    double each[4] = {};
    each[k % 4] = v;
    sums_ = sums_ + loaded<Four>(each);
  }
  // k is divisible by four.
  RIATA_INLINE void add(std::int64_t, const Four& v) noexcept { sums_ = sums_ + v; }
  RIATA_INLINE void add(std::int64_t, const Eight& v) noexcept {
    sums_ = (sums_ + low_half(v)) + high_half(v);
  }
  RIATA_INLINE double all() const noexcept {
    double each[4];
    store(each, sums_);
    return (each[0] + each[1]) + (each[2] + each[3]);
  }

 private:
  Four sums_ = riata::RIATA_TARGET::all<Four>(0);
};

template <class T>
struct Row {
  T w, root, mark;
  RIATA_INLINE explicit Row(double* const* rows) noexcept {
    load_rows([&](int i) { return rows[i]; }, w, root);
    collect(mark, [&](int i) { return rows[i][2]; });
  }
};

template <PenaltyKind kind, bool kKeep>
RIATA_INLINE double gather_rows(const AdaGradNow& given, double* const* rows, const float* x, std::int64_t n,
                                double* current) noexcept {
  const AdaGradNow by = given;
  Partial partial;
  entries<Eight>(n, [&]<class T>(std::int64_t k, const T&) {
    const Row<T> row(rows + k);
    const T w = adagrad_current<kind, T>(by.penalty, by.rate, row.w, row.root, by.penalties - row.mark);
    if constexpr (kKeep) store(current + k, w);
    partial.add(k, w * loaded<T>(x + k));
  });
  return partial.all();
}
template <PenaltyKind kind>
double gather(const AdaGradNow& by, double* const* rows, const float* x, std::int64_t n,
              const AdaGradScratch& scratch) noexcept {
  return scratch.current != nullptr ? gather_rows<kind, true>(by, rows, x, n, scratch.current)
                                    : gather_rows<kind, false>(by, rows, x, n, nullptr);
}

double prepare(const AdaGradNow& given, double* const* rows, const float* x, std::int64_t n, double slope,
               double factor, const AdaGradScratch& scratch) noexcept {
  const AdaGradNow by = given;
  Partial partial;
  entries<Eight>(n, [&]<class T>(std::int64_t k, const T&) {
    T before;
    collect(before, [&](int i) { return rows[k + i][1]; });
    const T value = factor * loaded<T>(x + k), gradient = slope * value;
    const T root = adagrad_root<T>(by.first, before, gradient), rate = adagrad_rate(by.rate, root);
    store(scratch.roots + k, root);
    store(scratch.rates + k, rate);
    partial.add(k, select(gradient != 0, value * value * rate, all<T>(0)));
  });
  return partial.all();
}

template <PenaltyKind kind>
void push(const AdaGradNow& given, double* const* rows, const float* x, std::int64_t n, double slope,
          const AdaGradScratch& scratch) noexcept {
  const AdaGradNow by = given;
  const double mark = by.penalties + (by.ends_period ? 1 : 0), none = by.ends_period ? by.penalties : -1;
  entries<Eight>(n, [&]<class T>(std::int64_t k, const T&) {
    const auto row = [&](int i) { return rows[k + i]; };
    T before;
    collect(before, [&](int i) { return rows[k + i][2]; });
    const T rate = loaded<T>(scratch.rates + k);
    const T w = adagrad_moved<kind, T>(by.penalty, loaded<T>(scratch.current + k), rate,
                                       rate * slope * loaded<T>(x + k), before <= none);
    store_rows(row, w, loaded<T>(scratch.roots + k));
    double marks[kSize<T>];
    store(marks, max(before, all<T>(mark)));
    for (int i = 0; i < kSize<T>; ++i) rows[k + i][2] = marks[i];
  });
}

RIATA_INLINE bool distinct(double* const* rows) noexcept {
  double *const a = rows[0], *const b = rows[1], *const c = rows[2], *const d = rows[3];
  return (a != b) & (a != c) & (a != d) & (b != c) & (b != d) & (c != d);
}
// The same as entries, one at a time where rows next to each other are the same.
template <class Work>
RIATA_INLINE void shared_entries(double* const* rows, std::int64_t n, const Work& work) noexcept {
  std::int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    if (distinct(rows + k)) [[likely]]
      work(k, Four{});
    else
      for (int i = 0; i < 4; ++i) work(k + i, 0.0);
  }
  for (; k < n; ++k) work(k, 0.0);
}

double prepare_shared(const AdaGradNow& given, double* const* rows, const float* x, std::int64_t n,
                      double slope, double factor, const AdaGradScratch& scratch) noexcept {
  const AdaGradNow by = given;
  Partial partial;
  shared_entries(rows, n, [&]<class T>(std::int64_t k, const T&) {
    const Row<T> row(rows + k);
    const T value = factor * loaded<T>(x + k), gradient = slope * value;
    const T root = adagrad_root<T>(by.first, row.root, gradient);
    store_rows([&](int i) { return rows[k + i]; }, loaded<T>(scratch.current + k), root);
    double marks[kSize<T>];
    store(marks, max(row.mark, all<T>(by.penalties)));
    for (int i = 0; i < kSize<T>; ++i) rows[k + i][2] = marks[i];
    partial.add(k, select(gradient != 0, value * value * adagrad_rate(by.rate, root), all<T>(0)));
  });
  return partial.all();
}

template <PenaltyKind kind>
void push_shared(const AdaGradNow& given, double* const* rows, const float* x, std::int64_t n, double slope,
                 const AdaGradScratch&) noexcept {
  const AdaGradNow by = given;
  const double none = by.ends_period ? by.penalties : -1;
  shared_entries(rows, n, [&]<class T>(std::int64_t k, const T&) {
    const Row<T> row(rows + k);
    const T rate = adagrad_rate(by.rate, row.root);
    const T w =
        adagrad_moved<kind, T>(by.penalty, row.w, rate, rate * slope * loaded<T>(x + k), row.mark <= none);
    store_rows([&](int i) { return rows[k + i]; }, w, row.root);
    double marks[kSize<T>];
    store(marks, row.mark + select(row.mark <= none, all<T>(1), all<T>(0)));
    for (int i = 0; i < kSize<T>; ++i) rows[k + i][2] = marks[i];
  });
}

template <PenaltyKind kind>
constexpr AdaGradKernels kernels_of() noexcept {
  return {gather<kind>, prepare, push<kind>, prepare_shared, push_shared<kind>};
}

}  // namespace

constinit const AllAdaGradKernels adagrad_kernels{
    kernels_of<PenaltyKind::fobos>(), kernels_of<PenaltyKind::sgd>(), kernels_of<PenaltyKind::truncate>(),
    kernels_of<PenaltyKind::round>()};

}  // namespace riata::RIATA_TARGET
