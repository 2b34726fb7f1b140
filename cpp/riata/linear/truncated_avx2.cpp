#include "riata/linear/target_avx2.hpp"
#ifdef RIATA_TWICE
#include "riata/linear/truncated.cpp"
#endif
#include "riata/linear/target_end.hpp"
