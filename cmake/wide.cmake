# Files of the core that are compiled for wider registers than every x86-64 has. They are used where the machine has
# them, and hold nothing but code of their own: see cpp/riata/simd/eight.hpp. Their loops are few and hot: where the compiler
# happens to put them made a difference of a tenth.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/cpp/riata/bayesian/taylor_avx2.cpp PROPERTIES COMPILE_OPTIONS
                                                                          "-mavx2;-falign-functions=64;-falign-loops=64")
  # GCC finds its own intrinsics uninitialised.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/cpp/riata/bayesian/taylor_avx512.cpp PROPERTIES COMPILE_OPTIONS
                                                                          "-mavx512f;-Wno-maybe-uninitialized;-falign-functions=64;-falign-loops=64")
endif()
