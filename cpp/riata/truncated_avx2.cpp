#include "riata/target_avx2.hpp"
#ifdef RIATA_AVX2
#include "riata/truncated.cpp"
#endif
#include "riata/target_end.hpp"
