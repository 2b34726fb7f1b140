# The clang, libc++ and C libraries of the PyPI package ziglang, for one of its targets:
#
#   cmake ... -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/zig.cmake -DRIATA_ZIG=FOLDER -DRIATA_TARGET=x86_64-linux-musl
#
# FOLDER holds zig-c++, zig-ar and zig-ranlib, which ci/portability writes: CMake wants each tool to be one program.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RIATA_ZIG RIATA_TARGET)
string(REGEX MATCH "^([^-]+)-([a-z]+)" RIATA_IGNORED "${RIATA_TARGET}")
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_1})
if(CMAKE_MATCH_2 STREQUAL "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
elseif(CMAKE_MATCH_2 STREQUAL "windows")
  set(CMAKE_SYSTEM_NAME Windows)
else()
  set(CMAKE_SYSTEM_NAME Linux)
endif()
set(CMAKE_CXX_COMPILER ${RIATA_ZIG}/zig-c++)
set(CMAKE_CXX_COMPILER_TARGET ${RIATA_TARGET})
set(CMAKE_AR ${RIATA_ZIG}/zig-ar CACHE FILEPATH "" FORCE)
set(CMAKE_RANLIB ${RIATA_ZIG}/zig-ranlib CACHE FILEPATH "" FORCE)
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # nothing here can be linked with Apple's or Microsoft's libraries
endif()
