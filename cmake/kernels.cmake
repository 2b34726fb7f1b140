# riata_add_kernels(target source...): compiles every source once for each instruction set, and links all of them into the
# target. See cpp/riata/simd/instructions.hpp for how a kernel is written, declared and chosen.
#
# Each compilation defines RIATA_TARGET, the namespace for all that the file defines: plain, avx2 or avx512. Without a wide
# set (another processor than x86-64, another compiler than GCC and Clang) there is only `plain`.
set(RIATA_KERNEL_FLAGS_plain "")
set(RIATA_KERNEL_FLAGS_avx2 -mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt)
set(RIATA_KERNEL_FLAGS_avx512 ${RIATA_KERNEL_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi
                              -mavx512vbmi2)

function(riata_add_kernels target)
  set(sets plain)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    list(APPEND sets avx2 avx512)
    # Everyone who includes instructions.hpp must know that the wide sets are there.
    target_compile_definitions(${target} PUBLIC RIATA_WIDE_KERNELS)
    set(wide RIATA_WIDE_KERNELS)
  endif()
  get_target_property(options ${target} COMPILE_OPTIONS)
  foreach(set ${sets})
    set(objects ${target}_kernels_${set})
    add_library(${objects} OBJECT ${ARGN})
    target_include_directories(${objects} PRIVATE ${PROJECT_SOURCE_DIR}/cpp)
    target_compile_definitions(${objects} PRIVATE RIATA_TARGET=${set} ${wide})
    # Nobody reads errno or floating-point traps, and without them square roots and selections become vector code. The
    # loops are few and hot: where the compiler happens to put them made a difference of a tenth. Neither changes bits.
    target_compile_options(${objects} PRIVATE ${options} ${RIATA_KERNEL_FLAGS_${set}} -fno-math-errno
                                              -fno-trapping-math -fno-exceptions)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC finds its own intrinsics uninitialised.
      target_compile_options(${objects} PRIVATE -falign-functions=64 -falign-loops=64 -Wno-maybe-uninitialized
                                                -Wno-uninitialized)
    endif()
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()
