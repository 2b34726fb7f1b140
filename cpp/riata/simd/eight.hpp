// Eight doubles at a time, in registers as wide as the file that includes this is compiled for: one of 512
// bits, two of 256, or four of 128. Every width does the same operations in the same order, and nothing is
// fused, so all give the same bits.
//
// Files compiled for other machines than the rest must not leave code behind that the linker could choose for
// everyone: so all of this is inlined, and nothing else is included there.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#define RIATA_INLINE [[gnu::always_inline]] inline

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors pass through no call
#endif

namespace riata {
namespace {  // a type of its own in every file

#if defined(__AVX512F__)
inline constexpr int kLanes = 8;
#elif defined(__AVX2__)
inline constexpr int kLanes = 4;
#else
inline constexpr int kLanes = 2;
#endif

using Lanes = double __attribute__((vector_size(8 * kLanes)));
using Bits = std::uint64_t __attribute__((vector_size(8 * kLanes)));

template <class Half>
struct Two {
  Half a, b;
};

template <int kHave>
struct EightOf {
  using Type = Two<typename EightOf<2 * kHave>::Type>;
};
template <>
struct EightOf<8> {
  using Type = Lanes;
};
using Eight = EightOf<kLanes>::Type;

// What one register can do.
RIATA_INLINE void fill(Lanes& v, double x) noexcept { v = x - Lanes{}; }
RIATA_INLINE void load(Lanes& v, const double* p) noexcept { std::memcpy(&v, p, sizeof v); }
RIATA_INLINE void store(double* p, const Lanes& v) noexcept { std::memcpy(p, &v, sizeof v); }
RIATA_INLINE Lanes least(Lanes a, Lanes b) noexcept {  // b where a is NaN
#ifdef __AVX512F__
  return _mm512_min_pd(a, b);
#else
  return a < b ? a : b;
#endif
}
RIATA_INLINE Lanes most(Lanes a, Lanes b) noexcept {
#ifdef __AVX512F__
  return _mm512_max_pd(a, b);
#else
  return a > b ? a : b;
#endif
}
RIATA_INLINE Lanes size_of(Lanes v) noexcept { return (Lanes)((Bits)v & (~std::uint64_t{0} >> 1)); }
RIATA_INLINE Lanes if_positive(Lanes test, Lanes yes, Lanes no) noexcept { return test > 0 ? yes : no; }
// With 2^n in the low bits of `scale`, as adding 1.5 * 2^52 leaves it: v * 2^n.
RIATA_INLINE Lanes scaled(Lanes v, Lanes scale) noexcept { return (Lanes)((Bits)v + ((Bits)scale << 52)); }
RIATA_INLINE unsigned not_below(Lanes v, double limit) noexcept {  // a bit for each; NaN is not
#if defined(__AVX512F__)
  return _mm512_cmp_pd_mask(v, limit - Lanes{}, _CMP_NLT_UQ);
#elif defined(__AVX2__)
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(v, limit - Lanes{}, _CMP_NLT_UQ)));
#elif defined(__SSE2__)
  return static_cast<unsigned>(_mm_movemask_pd(_mm_cmpnlt_pd(v, limit - Lanes{})));
#else
  unsigned bits = 0;
  for (int i = 0; i < kLanes; ++i) bits |= static_cast<unsigned>(!(v[i] < limit)) << i;
  return bits;
#endif
}
RIATA_INLINE Lanes root(Lanes v) noexcept {
#if defined(__AVX512F__)
  return _mm512_sqrt_pd(v);
#elif defined(__AVX2__)
  return _mm256_sqrt_pd(v);
#elif defined(__SSE2__)
  return _mm_sqrt_pd(v);
#else
  for (int i = 0; i < kLanes; ++i) v[i] = __builtin_sqrt(v[i]);
  return v;
#endif
}

// Two numbers, whatever the width.
using Pair = double __attribute__((vector_size(16)));
#if defined(__SSE2__)
RIATA_INLINE Pair least_of(Pair a, Pair b) noexcept { return _mm_min_pd(a, b); }
RIATA_INLINE Pair most_of(Pair a, Pair b) noexcept { return _mm_max_pd(a, b); }
#else
RIATA_INLINE Pair least_of(Pair a, Pair b) noexcept { return a < b ? a : b; }
RIATA_INLINE Pair most_of(Pair a, Pair b) noexcept { return a > b ? a : b; }
#endif

// Of pairs that lie anywhere, the first numbers and the second ones.
RIATA_INLINE void load_pairs(const double* const* pairs, Lanes& first, Lanes& second) noexcept {
#if defined(__AVX512F__)
  const auto four = [&](int n) {
    const auto two = [&](int k) {
      return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(pairs[k])), _mm_loadu_pd(pairs[k + 2]),
                                  1);
    };
    return _mm512_insertf64x4(_mm512_castpd256_pd512(two(n)), two(n + 4), 1);
  };
  const __m512d even = four(0), odd = four(1);
  first = _mm512_unpacklo_pd(even, odd);
  second = _mm512_unpackhi_pd(even, odd);
#elif defined(__AVX2__)
  const auto two = [&](int n) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(pairs[n])), _mm_loadu_pd(pairs[n + 2]),
                                1);
  };
  const __m256d even = two(0), odd = two(1);
  first = _mm256_unpacklo_pd(even, odd);
  second = _mm256_unpackhi_pd(even, odd);
#else
  for (int i = 0; i < kLanes; ++i) first[i] = pairs[i][0], second[i] = pairs[i][1];
#endif
}

// Nothing but a hint: computed here, not where it is needed. Without it the compiler undoes what was put side
// by side.
RIATA_INLINE void in_turn(Lanes& v) noexcept {
#if defined(__AVX512F__)
  asm("" : "+v"(v));
#elif defined(__SSE2__)
  asm("" : "+x"(v));
#endif
}

// The same for two halves.
template <class H>
RIATA_INLINE void in_turn(Two<H>& v) noexcept {
  in_turn(v.a), in_turn(v.b);
}
template <class H>
RIATA_INLINE void fill(Two<H>& v, double x) noexcept {
  fill(v.a, x), fill(v.b, x);
}
template <class H>
RIATA_INLINE void load(Two<H>& v, const double* p) noexcept {
  load(v.a, p), load(v.b, p + sizeof(H) / sizeof(double));
}
template <class H>
RIATA_INLINE void store(double* p, const Two<H>& v) noexcept {
  store(p, v.a), store(p + sizeof(H) / sizeof(double), v.b);
}
template <class H>
RIATA_INLINE void load_pairs(const double* const* pairs, Two<H>& first, Two<H>& second) noexcept {
  load_pairs(pairs, first.a, second.a);
  load_pairs(pairs + sizeof(H) / sizeof(double), first.b, second.b);
}
#define RIATA_OPERATOR(op)                                                     \
  template <class H>                                                           \
  RIATA_INLINE Two<H> operator op(const Two<H>& x, const Two<H>& y) noexcept { \
    return {x.a op y.a, x.b op y.b};                                           \
  }                                                                            \
  template <class H>                                                           \
  RIATA_INLINE Two<H> operator op(const Two<H>& x, double y) noexcept {        \
    return {x.a op y, x.b op y};                                               \
  }                                                                            \
  template <class H>                                                           \
  RIATA_INLINE Two<H> operator op(double x, const Two<H>& y) noexcept {        \
    return {x op y.a, x op y.b};                                               \
  }
RIATA_OPERATOR(+)
RIATA_OPERATOR(-)
RIATA_OPERATOR(*)
RIATA_OPERATOR(/)
#undef RIATA_OPERATOR
#define RIATA_FUNCTION(name)                           \
  template <class H>                                   \
  RIATA_INLINE Two<H> name(const Two<H>& x) noexcept { \
    return {name(x.a), name(x.b)};                     \
  }
RIATA_FUNCTION(size_of)
RIATA_FUNCTION(root)
#undef RIATA_FUNCTION
#define RIATA_FUNCTION(name)                                            \
  template <class H>                                                    \
  RIATA_INLINE Two<H> name(const Two<H>& x, const Two<H>& y) noexcept { \
    return {name(x.a, y.a), name(x.b, y.b)};                            \
  }
RIATA_FUNCTION(least)
RIATA_FUNCTION(most)
RIATA_FUNCTION(scaled)
#undef RIATA_FUNCTION
template <class H>
RIATA_INLINE unsigned not_below(const Two<H>& v, double limit) noexcept {
  return not_below(v.a, limit) | not_below(v.b, limit) << sizeof(H) / sizeof(double);
}
template <class H>
RIATA_INLINE Two<H> if_positive(const Two<H>& test, const Two<H>& yes, const Two<H>& no) noexcept {
  return {if_positive(test.a, yes.a, no.a), if_positive(test.b, yes.b, no.b)};
}

RIATA_INLINE Eight eight(double x) noexcept {
  Eight v;
  fill(v, x);
  return v;
}
RIATA_INLINE Eight eight(const double* p) noexcept {
  Eight v;
  load(v, p);
  return v;
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
// The first few of eight; the others are `rest`, and are not stored.
RIATA_INLINE Eight few(const double* p, int have, double rest) noexcept {
  double x[8];
  for (int j = 0; j < 8; ++j) x[j] = j < have ? p[j] : rest;
  return eight(x);
}
RIATA_INLINE void store_few(double* p, int have, const Eight& v) noexcept {
  double x[8];
  store(x, v);
  for (int j = 0; j < have; ++j) p[j] = x[j];
}

}  // namespace
}  // namespace riata
