// Back to every processor: see target_avx2.hpp.
#ifdef RIATA_TWICE
#undef riata
#undef RIATA_WIDE_AVX2
#pragma GCC pop_options
#endif
