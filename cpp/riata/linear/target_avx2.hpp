// What is included between this header and target_end.hpp is compiled once more, for processors with AVX2, in
// the namespace riata_avx2: the same templates, four doubles at once instead of two.
//
// The shared faces come first, so that both worlds have one Linear, and one place where pages are kept.
// Standard headers come before the pragma, so that whatever they instantiate runs on any processor: the
// linker keeps one copy of it for everyone.
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "riata/base/hash.hpp"
#include "riata/base/kept_pages.hpp"
#include "riata/linear/linear.hpp"
#include "riata/simd/instructions.hpp"

#ifdef RIATA_TWICE
#include <immintrin.h>

namespace riata_avx2 {
using namespace riata;
}
#pragma GCC push_options
#pragma GCC target("avx2")
#define riata riata_avx2
#define RIATA_WIDE_AVX2
#endif
