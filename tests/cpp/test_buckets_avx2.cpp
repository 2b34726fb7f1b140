// test_buckets.cpp once more, compiled for processors with AVX2; nothing to do on others.
#include <random>
#include <string_view>
#include <unordered_map>

#include "check.hpp"
#include "riata/target_avx2.hpp"
#define main plain_main
#include "test_buckets.cpp"
#undef main
#include "riata/target_end.hpp"

int main() { return riata::available_instructions() == riata::Instructions::plain ? 0 : plain_main(); }
