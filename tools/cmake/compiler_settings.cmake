# SPDX-License-Identifier: Apache-2.0
#
# Compiler settings common to all targets.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

find_program(DEPUTY_CCACHE ccache)
mark_as_advanced(DEPUTY_CCACHE)
if(DEPUTY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # pch_defines: ccache supports precompiled headers only with the assertion that no macro in them
  # changes. CCACHE_DEPEND: ccache takes the list of included files from the compiler, which saves a
  # preprocessor run per file.
  set(CMAKE_C_COMPILER_LAUNCHER ${DEPUTY_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER
      env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 ${DEPUTY_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 reports false overruns inside std::string (GCC bugs 105329 and 105651) as soon as the
  # header is precompiled.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overflow>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread>)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  # -g1 records functions and lines, for backtraces. Information about local variables, which
  # CMAKE_BUILD_TYPE=Debug includes, would take a quarter of the compile time.
  add_compile_options(-g1)
endif()
if(DEPUTY_WERROR)
  add_compile_options(-Werror)
endif()
if(DEPUTY_SANITIZE)
  # Asserts stay enabled (no NDEBUG), and the first finding ends the program.
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g")
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g")
  add_compile_options(-fsanitize=${DEPUTY_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DEPUTY_SANITIZE})
  if(DEPUTY_SANITIZE MATCHES "address.*undefined")
    # AddressSanitizer detects at run time what these checks announce; they take a third of the
    # compile time. `make ubsan` includes them.
    add_compile_options(-fno-sanitize=null,object-size,pointer-overflow,vptr)
  endif()
endif()

# g++ before 14 calls libatomic for atomic operations of one byte on RISC-V.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^riscv")
  include(CheckCXXSourceCompiles)
  check_cxx_source_compiles("#include <atomic>
                             std::atomic<bool> flag;
                             int main() { return flag.exchange(true); }" DEPUTY_INLINES_BYTE_ATOMICS)
  if(NOT DEPUTY_INLINES_BYTE_ATOMICS)
    string(APPEND CMAKE_C_STANDARD_LIBRARIES " -Wl,--push-state,--as-needed -latomic -Wl,--pop-state")
    string(APPEND CMAKE_CXX_STANDARD_LIBRARIES " -Wl,--push-state,--as-needed -latomic -Wl,--pop-state")
  endif()
endif()

# The compiler searches the headers of a sysroot after its own libc. CMake adds these directories before that libc,
# whose release may be another one, unless it finds them in the compiler's messages, which ccache may rewrite.
if(CMAKE_SYSROOT)
  foreach(language C CXX)
    list(APPEND CMAKE_${language}_IMPLICIT_INCLUDE_DIRECTORIES ${CMAKE_SYSROOT}/usr/include)
  endforeach()
endif()
