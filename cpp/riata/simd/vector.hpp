// Four or eight doubles at a time, in as many registers as the instruction set needs for them: Eight is one
// register of 512 bits, two of 256, or four of 128. Every set does the same operations in the same order, and
// nothing is fused, so all give the same bits. A function for vectors is one for double too where rules need it.
//
// For kernel sources (see instructions.hpp): all of it is inlined and in the namespace of the instruction set.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "riata/simd/instructions.hpp"
#include "riata/simd/intrinsics.hpp"

#define RIATA_INLINE [[gnu::always_inline]] inline

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors pass through no call
#endif

namespace riata::RIATA_TARGET {

// What one register holds.
using Double2 = double __attribute__((vector_size(16)));
using Double4 = double __attribute__((vector_size(32)));
using Double8 = double __attribute__((vector_size(64)));

// More than one register holds: two halves.
template <class Half>
struct Two {
  Half low, high;
};

#if defined(__AVX512F__)
using Four = Double4;
using Eight = Double8;
#elif defined(__AVX2__)
using Four = Double4;
using Eight = Two<Double4>;
#else
using Four = Two<Double2>;
using Eight = Two<Two<Double2> >;
#endif

template <class V>
inline constexpr int kSize = sizeof(V) / sizeof(double);

template <class V>
concept Register = requires(V v) { v[0]; };  // not Two

// Loads, stores and constants.

template <Register V>
RIATA_INLINE void load(V& v, const double* p) noexcept {
  std::memcpy(&v, p, sizeof v);
}
template <class H>
RIATA_INLINE void load(Two<H>& v, const double* p) noexcept {
  load(v.low, p), load(v.high, p + kSize<H>);
}
template <Register V>
RIATA_INLINE void store(double* p, const V& v) noexcept {
  std::memcpy(p, &v, sizeof v);
}
template <class H>
RIATA_INLINE void store(double* p, const Two<H>& v) noexcept {
  store(p, v.low), store(p + kSize<H>, v.high);
}
RIATA_INLINE void load(double& v, const double* p) noexcept { v = *p; }
RIATA_INLINE void store(double* p, double v) noexcept { *p = v; }
template <Register V>
RIATA_INLINE void fill(V& v, double x) noexcept {
  v = x - V{};
}
template <class H>
RIATA_INLINE void fill(Two<H>& v, double x) noexcept {
  fill(v.low, x), fill(v.high, x);
}
RIATA_INLINE void fill(double& v, double x) noexcept { v = x; }

template <class V>
RIATA_INLINE V loaded(const double* p) noexcept {
  V v;
  load(v, p);
  return v;
}
template <class V>
RIATA_INLINE V all(double x) noexcept {  // x everywhere
  V v;
  fill(v, x);
  return v;
}
RIATA_INLINE Eight eight(double x) noexcept { return all<Eight>(x); }
RIATA_INLINE Eight eight(const double* p) noexcept { return loaded<Eight>(p); }

// Floats as doubles: one load and one conversion, which compilers do not find by themselves.
RIATA_INLINE void load(Double2& v, const float* p) noexcept {
#ifdef __SSE2__
  double both;
  std::memcpy(&both, p, sizeof both);
  v = _mm_cvtps_pd(_mm_castpd_ps(_mm_set_sd(both)));
#else
  v = Double2{static_cast<double>(p[0]), static_cast<double>(p[1])};
#endif
}
RIATA_INLINE void load(double& v, const float* p) noexcept { v = static_cast<double>(*p); }
#ifdef __AVX2__
RIATA_INLINE void load(Double4& v, const float* p) noexcept { v = _mm256_cvtps_pd(_mm_loadu_ps(p)); }
#endif
#ifdef __AVX512F__
RIATA_INLINE void load(Double8& v, const float* p) noexcept { v = _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
#endif
template <class H>
RIATA_INLINE void load(Two<H>& v, const float* p) noexcept {
  load(v.low, p), load(v.high, p + kSize<H>);
}
template <class V>
RIATA_INLINE V loaded(const float* p) noexcept {
  V v;
  load(v, p);
  return v;
}
// And back, rounded.
RIATA_INLINE void store(float* p, double v) noexcept { *p = static_cast<float>(v); }
RIATA_INLINE void store(float* p, const Double2& v) noexcept { store(p, v[0]), store(p + 1, v[1]); }
#ifdef __AVX2__
RIATA_INLINE void store(float* p, const Double4& v) noexcept { _mm_storeu_ps(p, _mm256_cvtpd_ps(v)); }
#endif
#ifdef __AVX512F__
RIATA_INLINE void store(float* p, const Double8& v) noexcept { _mm256_storeu_ps(p, _mm512_cvtpd_ps(v)); }
#endif
template <class H>
RIATA_INLINE void store(float* p, const Two<H>& v) noexcept {
  store(p, v.low), store(p + kSize<H>, v.high);
}

// Arithmetic and comparisons of two halves; compilers know them for registers.
#define RIATA_OPERATOR(op)                                                                         \
  template <class H>                                                                               \
  RIATA_INLINE auto operator op(const Two<H>& x, const Two<H>& y) noexcept                         \
      -> Two<decltype(x.low op y.low)> {                                                           \
    return {x.low op y.low, x.high op y.high};                                                     \
  }                                                                                                \
  template <class H>                                                                               \
  RIATA_INLINE auto operator op(const Two<H>& x, double y) noexcept -> Two<decltype(x.low op y)> { \
    return {x.low op y, x.high op y};                                                              \
  }                                                                                                \
  template <class H>                                                                               \
  RIATA_INLINE auto operator op(double x, const Two<H>& y) noexcept -> Two<decltype(x op y.low)> { \
    return {x op y.low, x op y.high};                                                              \
  }
RIATA_OPERATOR(+)
RIATA_OPERATOR(-)
RIATA_OPERATOR(*)
RIATA_OPERATOR(/)
RIATA_OPERATOR(<)
RIATA_OPERATOR(>)
RIATA_OPERATOR(<=)
RIATA_OPERATOR(!=)
#undef RIATA_OPERATOR
template <class M>
RIATA_INLINE Two<M> operator&(const Two<M>& x, const Two<M>& y) noexcept {
  return {x.low & y.low, x.high & y.high};
}

// Functions of one register.

RIATA_INLINE double abs(double v) noexcept { return __builtin_fabs(v); }
template <Register V>
RIATA_INLINE V abs(V v) noexcept {
  using Bits = decltype(v < v);
  return (V)((Bits)v & (Bits{} + INT64_MAX));
}

RIATA_INLINE double select(bool which, double yes, double no) noexcept { return which ? yes : no; }
template <class Mask, Register V>
RIATA_INLINE V select(Mask which, V yes, V no) noexcept {
  return which ? yes : no;
}

// The second one where the first is NaN.
RIATA_INLINE double min(double a, double b) noexcept { return a < b ? a : b; }
RIATA_INLINE double max(double a, double b) noexcept { return a > b ? a : b; }
#ifdef __SSE2__
RIATA_INLINE Double2 min(Double2 a, Double2 b) noexcept { return _mm_min_pd(a, b); }
RIATA_INLINE Double2 max(Double2 a, Double2 b) noexcept { return _mm_max_pd(a, b); }
RIATA_INLINE Double2 sqrt(Double2 v) noexcept { return _mm_sqrt_pd(v); }
#else
RIATA_INLINE Double2 min(Double2 a, Double2 b) noexcept { return a < b ? a : b; }
RIATA_INLINE Double2 max(Double2 a, Double2 b) noexcept { return a > b ? a : b; }
RIATA_INLINE Double2 sqrt(Double2 v) noexcept { return Double2{__builtin_sqrt(v[0]), __builtin_sqrt(v[1])}; }
#endif
#ifdef __AVX2__
RIATA_INLINE Double4 min(Double4 a, Double4 b) noexcept { return _mm256_min_pd(a, b); }
RIATA_INLINE Double4 max(Double4 a, Double4 b) noexcept { return _mm256_max_pd(a, b); }
RIATA_INLINE Double4 sqrt(Double4 v) noexcept { return _mm256_sqrt_pd(v); }
#endif
#ifdef __AVX512F__
RIATA_INLINE Double8 min(Double8 a, Double8 b) noexcept { return _mm512_min_pd(a, b); }
RIATA_INLINE Double8 max(Double8 a, Double8 b) noexcept { return _mm512_max_pd(a, b); }
RIATA_INLINE Double8 sqrt(Double8 v) noexcept { return _mm512_sqrt_pd(v); }
#endif

// The sign of `sign` on v >= 0.
template <Register V>
RIATA_INLINE V copy_sign(V v, V sign) noexcept {
  using Bits = decltype(v < v);
  return (V)((Bits)v | ((Bits)sign & (Bits{} + INT64_MIN)));
}
RIATA_INLINE double copy_sign(double v, double sign) noexcept { return __builtin_copysign(v, sign); }

// Which are not below the limit, NaN included: a bit each.
RIATA_INLINE unsigned not_below(Double2 v, double limit) noexcept {
#ifdef __SSE2__
  return static_cast<unsigned>(_mm_movemask_pd(_mm_cmpnlt_pd(v, limit - Double2{})));
#else
  return static_cast<unsigned>(!(v[0] < limit)) | static_cast<unsigned>(!(v[1] < limit)) << 1;
#endif
}
RIATA_INLINE unsigned nonzero(Double2 v) noexcept {
#ifdef __SSE2__
  return static_cast<unsigned>(_mm_movemask_pd(_mm_cmpneq_pd(v, Double2{})));
#else
  return static_cast<unsigned>(v[0] != 0) | static_cast<unsigned>(v[1] != 0) << 1;
#endif
}
#ifdef __AVX2__
RIATA_INLINE unsigned not_below(Double4 v, double limit) noexcept {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(v, limit - Double4{}, _CMP_NLT_UQ)));
}
RIATA_INLINE unsigned nonzero(Double4 v) noexcept {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(v, Double4{}, _CMP_NEQ_UQ)));
}
#endif
#ifdef __AVX512F__
RIATA_INLINE unsigned not_below(Double8 v, double limit) noexcept {
  return _mm512_cmp_pd_mask(v, limit - Double8{}, _CMP_NLT_UQ);
}
#endif

// v times 2^n, with n in the low bits of `scale`, as adding 1.5 * 2^52 leaves it.
template <Register V>
RIATA_INLINE V scaled(V v, V scale) noexcept {
  using Bits = decltype(v < v);
  return (V)((Bits)v + ((Bits)scale << 52));
}
RIATA_INLINE double scaled(double v, double scale) noexcept {
  std::uint64_t bits, n;
  std::memcpy(&bits, &v, sizeof v);
  std::memcpy(&n, &scale, sizeof n);
  bits += n << 52;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

// A positive, normal number is 2^k times a mantissa from sqrt(1/2) to sqrt(2).
inline constexpr std::int64_t kRootHalfBits = 0x3FE6A09E667F3BCD;
template <Register V>
RIATA_INLINE void split(V v, V& k, V& mantissa) noexcept {
  using Bits = decltype(v < v);
  const Bits above = (Bits)v - kRootHalfBits;
  // The exponent lies in the low bits of 2^52 for a moment: there is no conversion of wide integers.
  const Bits shifted = (above + (INT64_C(1023) << 52)) >> 52;
  k = (V)(shifted | INT64_C(0x4330000000000000)) - (0x1p52 + 1023);
  mantissa = (V)((Bits)v - (above & INT64_C(-0x10000000000000)));
}
RIATA_INLINE void split(double v, double& k, double& mantissa) noexcept {
  Double2 both_k, both;
  split(Double2{v, v}, both_k, both);
  k = both_k[0], mantissa = both[0];
}
template <class H>
RIATA_INLINE void split(const Two<H>& v, Two<H>& k, Two<H>& mantissa) noexcept {
  split(v.low, k.low, mantissa.low), split(v.high, k.high, mantissa.high);
}

// A hint: computed here, not where it is needed. Without it compilers undo what was put side by side.
template <Register V>
RIATA_INLINE void keep_order(V& v) noexcept {
#if defined(__AVX512F__)
  asm("" : "+v"(v));
#elif defined(__SSE2__)
  asm("" : "+x"(v));
#else
  (void)v;
#endif
}

// The same functions of two halves.
#define RIATA_FUNCTION(name)                           \
  template <class H>                                   \
  RIATA_INLINE Two<H> name(const Two<H>& x) noexcept { \
    return {name(x.low), name(x.high)};                \
  }
RIATA_FUNCTION(abs)
RIATA_FUNCTION(sqrt)
#undef RIATA_FUNCTION
#define RIATA_FUNCTION(name)                                            \
  template <class H>                                                    \
  RIATA_INLINE Two<H> name(const Two<H>& x, const Two<H>& y) noexcept { \
    return {name(x.low, y.low), name(x.high, y.high)};                  \
  }
RIATA_FUNCTION(min)
RIATA_FUNCTION(max)
RIATA_FUNCTION(scaled)
RIATA_FUNCTION(copy_sign)
#undef RIATA_FUNCTION
template <class M, class H>
RIATA_INLINE Two<H> select(const Two<M>& which, const Two<H>& yes, const Two<H>& no) noexcept {
  return {select(which.low, yes.low, no.low), select(which.high, yes.high, no.high)};
}
template <class H>
RIATA_INLINE unsigned not_below(const Two<H>& v, double limit) noexcept {
  return not_below(v.low, limit) | not_below(v.high, limit) << kSize<H>;
}
template <class H>
RIATA_INLINE unsigned nonzero(const Two<H>& v) noexcept {
  return nonzero(v.low) | nonzero(v.high) << kSize<H>;
}
template <class H>
RIATA_INLINE void keep_order(Two<H>& v) noexcept {
  keep_order(v.low), keep_order(v.high);
}

// Always in this order, whether numbers are added up or vectors.
template <class T>
RIATA_INLINE T sum_of(const T (&x)[8]) noexcept {
  return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}
RIATA_INLINE double sum(const Eight& v) noexcept {
  double x[8];
  store(x, v);
  return sum_of(x);
}
RIATA_INLINE double square_root(double v) noexcept { return __builtin_sqrt(v); }
template <class T>
RIATA_INLINE T square_root(const T& v) noexcept {
  return sqrt(v);
}

// Towards zero, by >= 0. No branch: whether a weight survives cannot be predicted.
template <class T>
RIATA_INLINE T shrink(const T& v, const T& by) noexcept {
  return copy_sign(max(abs(v) - by, all<T>(0)), v);
}

}  // namespace riata::RIATA_TARGET
