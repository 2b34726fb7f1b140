#include "riata/target_avx2.hpp"
#ifdef RIATA_TWICE
#include "riata/truncated.cpp"
#endif
#include "riata/target_end.hpp"
