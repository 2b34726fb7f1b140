#include "riata/target_avx2.hpp"
#ifdef RIATA_TWICE
#include "riata/elastic_net.cpp"
#endif
#include "riata/target_end.hpp"
