# SPDX-License-Identifier: Apache-2.0
#
# deputy_add_shared(<target> <version script>): a shared library of all objects. Calls inside it are
# bound locally (-Bsymbolic: one process may contain two copies), and it exports the symbols of the
# script.

# Relative relocations in a compact form take 8 % of the usual size. Loaders support them from glibc 2.36 on;
# wheels are linked for an older one.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 AND NOT DEPUTY_GLIBC_STUBS)
  include(CheckCXXSourceCompiles)
  check_cxx_source_compiles("
    #include <features.h>
    #if !__GLIBC_PREREQ(2, 36)
    #error
    #endif
    int main() {}" DEPUTY_HAS_COMPACT_RELOCATIONS)
  if(DEPUTY_HAS_COMPACT_RELOCATIONS)
    set(compact_relocations -Wl,-z,pack-relative-relocs)
  endif()
endif()

function(deputy_add_shared target script)
  add_library(${target} SHARED $<TARGET_OBJECTS:deputy_objects> $<TARGET_OBJECTS:deputy_setup>
              $<TARGET_OBJECTS:deputy_kernels> $<TARGET_OBJECTS:deputy_small_kernels>)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${client_include_dir}>)
  target_link_libraries(${target} PRIVATE deputy_support Threads::Threads ${CMAKE_DL_LIBS} m)
  target_link_options(${target} PRIVATE -Wl,-Bsymbolic -Wl,--as-needed -Wl,-z,relro -Wl,-z,now)
  target_link_options(${target} PRIVATE ${compact_relocations})
  deputy_optimize_library(${target})
  # With clang the executable provides the sanitizer's symbols, so -z defs would fail.
  if(NOT (DEPUTY_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  if(EXISTS ${PROJECT_SOURCE_DIR}/${script})
    target_link_options(${target} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/${script})
    set_property(TARGET ${target} PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/${script})
  else()
    message(STATUS "${script} is missing: ${target} exports are limited by visibility only")
  endif()
endfunction()
