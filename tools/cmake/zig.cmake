# SPDX-License-Identifier: Apache-2.0
#
# Toolchain file for the compiler of Zig: clang, with libc++ linked statically, for musl. Used by `make check-musl`,
# which makes the prefix with the libraries of the tests (tools/musl_root.sh):
#
#   cmake -S . -B build/musl -G Ninja --toolchain tools/cmake/zig.cmake -DDEPUTY_ZIG=PROGRAM -DDEPUTY_ZIG_ROOT=DIR
#
# DEPUTY_ZIG is the program `zig`, which PyPI has in the package ziglang. DEPUTY_ZIG_TARGET is its name of the
# processor and the C library.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DEPUTY_ZIG DEPUTY_ZIG_TARGET DEPUTY_ZIG_ROOT)
set(DEPUTY_ZIG zig CACHE FILEPATH "The program zig")
set(DEPUTY_ZIG_TARGET x86_64-linux-musl CACHE STRING "Zig's name of the processor and the C library")
set(DEPUTY_ZIG_ROOT "" CACHE PATH "Prefix of the libraries that the tests link")

string(REGEX MATCH "^[^-]+" processor ${DEPUTY_ZIG_TARGET})
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${processor})
set(CMAKE_C_COMPILER ${DEPUTY_ZIG} cc -target ${DEPUTY_ZIG_TARGET})
set(CMAKE_CXX_COMPILER ${DEPUTY_ZIG} c++ -target ${DEPUTY_ZIG_TARGET})
# Without optimisation zig checks for undefined behaviour by default.
set(CMAKE_C_FLAGS_INIT -fno-sanitize=undefined)
set(CMAKE_CXX_FLAGS_INIT -fno-sanitize=undefined)
# zig links programs for musl statically by default; such programs cannot load plug-ins.
set(CMAKE_EXE_LINKER_FLAGS_INIT -dynamic)
# Version scripts name symbols that only some plug-ins have.
set(CMAKE_MODULE_LINKER_FLAGS_INIT -Wl,--undefined-version)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -Wl,--undefined-version)
set(DEPUTY_CCACHE OFF CACHE STRING "Zig has a cache of its own")
# zig rejects the options by which CMake makes clang precompile a header.
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)

# Programs of the build come from this machine, libraries and headers from the prefix.
set(CMAKE_FIND_ROOT_PATH ${DEPUTY_ZIG_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${DEPUTY_ZIG_ROOT}/lib/pkgconfig)
