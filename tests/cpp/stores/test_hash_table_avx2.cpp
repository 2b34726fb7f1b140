// test_buckets.cpp once more, compiled for processors with AVX2; nothing to do on others.
#include <random>
#include <string_view>
#include <unordered_map>

#include "check.hpp"
#include "riata/linear/target_avx2.hpp"
#define main plain_main
#include "stores/test_hash_table.cpp"
#undef main
#include "riata/linear/target_end.hpp"

int main() { return riata::available_instructions() == riata::Instructions::plain ? 0 : plain_main(); }
