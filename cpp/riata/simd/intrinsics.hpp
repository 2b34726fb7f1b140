// The compiler's intrinsics of the instruction set that is compiled for. Where that is the one that every processor has, a
// small header will do: the large one is 58,000 lines, which took a third of the time that a small kernel takes to compile.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif
