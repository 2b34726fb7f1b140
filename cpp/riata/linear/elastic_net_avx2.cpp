#include "riata/linear/target_avx2.hpp"
#ifdef RIATA_TWICE
#include "riata/linear/elastic_net.cpp"
#endif
#include "riata/linear/target_end.hpp"
