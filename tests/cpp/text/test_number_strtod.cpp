// The same with the C library where a libc++ without floating-point std::from_chars needs it.
#if !defined(_WIN32)
#define RIATA_STRTOD 1
#endif
#include "test_number.cpp"
