# SPDX-License-Identifier: Apache-2.0
#
# Optimisation at link time of host code and of operators that are compiled for size: functions with
# equal code are merged, also those of different files, and unused ones omitted. The limits of growth
# keep the linker from copying functions into their callers or for constant arguments. Other operators
# and vector code are excluded: with them the library would be larger (docs/benchmarks.md, Size).
#
# deputy_optimize_objects(<target>...): prepares object libraries. The objects also contain machine
# code, which tests and the CPU delegate link, so that only the shared libraries take longer to link.
# deputy_optimize_library(<target>): links a library of such objects.
set(lto_default OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND
   CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT DEPUTY_SANITIZE)
  set(lto_default ON)
endif()
option(DEPUTY_LTO "Optimise host code at link time, by g++: 0.15 MB smaller" ${lto_default})

function(deputy_optimize_objects)
  if(DEPUTY_LTO)
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE -flto -ffat-lto-objects)
    endforeach()
  endif()
endfunction()

function(deputy_optimize_library target)
  if(DEPUTY_LTO)
    target_link_options(${target} PRIVATE -flto=1 -flto-partition=one --param=inline-unit-growth=0
                        --param=ipa-cp-unit-growth=0)
  endif()
endfunction()
