# SPDX-License-Identifier: Apache-2.0
#
# Tests and benchmarks, included by the top CMakeLists.txt. Found by glob:
#   tests/*_test.cc     googletest, one executable each, linked to all of Deputy as an archive
#   tests/*_test.c      cmocka, likewise
#   tests/cases/*.cc    the operator cases, and
#   tests/conformance/*.cc  what runs and judges them: one library without googletest, for any program
#   tests/bench_*.cc    google-benchmark, together the executable deputy_bench
#   tests/*_test.py     scripts that get the build folder as argument
#   tests/*.{cc,c}, else  helpers shared by all of the above
#   tests/gpu_*_test.cc, tests/gpu_*.cc  those of the OpenCL delegate, where OpenCL's headers are
#   tests/mindspore_*_test.{cc,c}  those of MindSpore's API, linked to the shared libraries as clients are
#   tests/plugins/*       delegate libraries, see plugins.cmake
#   tests/fuzz/*          one executable of all, see fuzz.cmake
#   tests/conformance_client/*  a program that links the shared library and the conformance kit
# Executables whose name contains "pool", "thread" or "sweep" carry the ctest label
# `threads`.
find_package(GTest REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

file(GLOB test_sources CONFIGURE_DEPENDS tests/*_test.cc)
file(GLOB c_test_sources CONFIGURE_DEPENDS tests/*_test.c)
file(GLOB conformance_sources CONFIGURE_DEPENDS tests/cases/*.cc tests/conformance/*.cc)
file(GLOB bench_sources CONFIGURE_DEPENDS tests/bench_*.cc)
file(GLOB support_sources CONFIGURE_DEPENDS tests/*.cc tests/*.c)
if(support_sources)
  list(FILTER support_sources EXCLUDE REGEX "(_test\\.cc?$|/bench_[^/]*$|/model_builder.cc$)")
endif()
list(FILTER test_sources EXCLUDE REGEX "/mindspore_[^/]*$")
list(FILTER c_test_sources EXCLUDE REGEX "/mindspore_[^/]*$")

# Tests of the OpenCL delegate and their helpers, which know its headers.
set(gpu_support_sources ${support_sources})
list(FILTER gpu_support_sources INCLUDE REGEX "/gpu_[^/]*$")
list(FILTER support_sources EXCLUDE REGEX "/gpu_[^/]*$")
if(NOT TARGET deputy_gpu_objects)
  list(FILTER test_sources EXCLUDE REGEX "/gpu_[^/]*$")
endif()

# What every test is compiled with. No absolute path is among it: what is built in one folder may
# come from a compiler cache in another. The paths are those of tests/paths.cc alone.
add_library(deputy_test_settings INTERFACE)
target_include_directories(deputy_test_settings INTERFACE ${client_include_dir})
target_link_libraries(deputy_test_settings INTERFACE deputy_static)

# Most of a test is calls of googletest, a template each: without optimising they compile in two thirds
# of the time, and what takes long to run is in the libraries.
set(test_flags "")
if(DEPUTY_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  set(test_flags -O0)
endif()
# Watching what tests themselves compute, and the scopes of their thousands of temporaries, would be
# two thirds of the time to compile them. What they test is watched.
if(DEPUTY_SANITIZE MATCHES "undefined")
  list(APPEND test_flags -fno-sanitize=undefined)
endif()
if(DEPUTY_SANITIZE MATCHES "address")
  list(APPEND test_flags -fno-sanitize-address-use-after-scope)
endif()

# The conformance kit: cases, golden rows, targets, and one comparison. It is compiled like a client
# but for its targets on the CPU, and links neither googletest nor Deputy: a program that links
# libdeputy takes what it needs of this archive.
add_library(deputy_conformance STATIC ${conformance_sources} tests/model_builder.cc)
target_include_directories(deputy_conformance PUBLIC ${PROJECT_SOURCE_DIR} ${client_include_dir})
target_link_libraries(deputy_conformance PUBLIC deputy_schema)
target_compile_options(deputy_conformance PRIVATE ${test_flags})

# Half of what a file of cases takes is reading the schema's header.
target_precompile_headers(deputy_conformance PRIVATE <algorithm> <functional> <random> <span> <string>
                          <vector> <schema_generated.h>)

# googletest's headers and the schema's take longer to read than most tests: they are precompiled, once,
# so that programs are compiled with -fPIC, too.
add_library(precompiled_for_tests OBJECT ${generated_dir}/precompiled.cc)
target_link_libraries(precompiled_for_tests PRIVATE deputy_test_settings GTest::gmock)
target_compile_options(precompiled_for_tests PRIVATE ${test_flags})
target_precompile_headers(precompiled_for_tests PRIVATE <gmock/gmock.h> <gtest/gtest.h> <random>
                          <schema_generated.h>)

if(support_sources)
  add_library(deputy_test_support STATIC ${support_sources})
  set_property(SOURCE tests/paths.cc APPEND PROPERTY COMPILE_DEFINITIONS
               DEPUTY_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
               DEPUTY_BINARY_DIR="${PROJECT_BINARY_DIR}"
               DEPUTY_LIBRARY_PATH="$<TARGET_FILE:deputy>"
               DEPUTY_DROP_IN_PATH="$<TARGET_FILE:tensorflowlite_c>")
  target_link_libraries(deputy_test_support PUBLIC deputy_conformance deputy_ms deputy_test_settings
                        GTest::gmock)
  target_compile_options(deputy_test_support PRIVATE ${test_flags})
  target_precompile_headers(deputy_test_support REUSE_FROM precompiled_for_tests)
  set(without_precompiled ${support_sources})
  list(FILTER without_precompiled INCLUDE REGEX "(\\.c|/paths\\.cc)$")
  set_property(SOURCE ${without_precompiled} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
endif()
if(TARGET deputy_gpu_objects AND gpu_support_sources)
  add_library(deputy_gpu_test_support STATIC ${gpu_support_sources})
  target_link_libraries(deputy_gpu_test_support PUBLIC deputy_gpu_objects deputy_test_support)
  target_compile_options(deputy_gpu_test_support PRIVATE ${test_flags})
  target_precompile_headers(deputy_gpu_test_support REUSE_FROM precompiled_for_tests)
endif()
# Links what every test program needs. The kit names no library of ours, so that it may be linked to
# the shared one; whoever links it puts ours behind it.
function(deputy_link_test target)
  target_link_libraries(${target} PRIVATE deputy_test_support deputy_conformance deputy_compiler
                        deputy_test_settings)
endfunction()

include(tools/cmake/plugins.cmake)

# What the sanitizer runs build: every test, or the ones labelled `threads`.
add_custom_target(all_tests)
add_dependencies(all_tests test_plugins)
add_custom_target(threaded_tests)

function(deputy_add_test source)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  deputy_link_test(${name})
  target_link_libraries(${name} PRIVATE ${ARGN})
  target_compile_options(${name} PRIVATE ${test_flags} -fPIC)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  # Tests open the shared libraries and run the command by path.
  add_dependencies(${name} deputy tensorflowlite_c)
  add_dependencies(${name} test_plugins)
  if(TARGET deputy_tool AND NOT DEPUTY_SANITIZE STREQUAL "thread")
    add_dependencies(${name} deputy_tool)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77)
  add_dependencies(all_tests ${name})
  if(name MATCHES "pool|thread|sweep")
    add_dependencies(threaded_tests ${name})
    set_tests_properties(${name} PROPERTIES LABELS threads)
  endif()
endfunction()

foreach(source IN LISTS test_sources)
  deputy_add_test(${source} GTest::gmock GTest::gtest_main)
  get_filename_component(name ${source} NAME_WE)
  if(NOT name STREQUAL "params_test")  # it reads the schema's header in a way of its own
    target_precompile_headers(${name} REUSE_FROM precompiled_for_tests)
  endif()
  if(name MATCHES "^npu_")
    target_link_libraries(${name} PRIVATE deputy_npu_objects)
  endif()
  if(name MATCHES "^gpu_")
    target_link_libraries(${name} PRIVATE deputy_gpu_test_support)
    add_dependencies(${name} deputy_gpu)  # opened by path
  endif()
endforeach()
# The command has no library; what is tested of it by itself is compiled into the test.
target_sources(text_test PRIVATE tools/text.cc)
foreach(source IN LISTS c_test_sources)
  deputy_add_test(${source} PkgConfig::CMOCKA)
  get_filename_component(name ${source} NAME_WE)
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
endforeach()

include(tools/cmake/mindspore_tests.cmake)

# By far the longest test: in two entries, which may run at a time.
set_tests_properties(conformance_test PROPERTIES TIMEOUT 1800 ENVIRONMENT
                     "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=0")
add_test(NAME conformance_test_2 COMMAND conformance_test)
set_tests_properties(conformance_test_2 PROPERTIES TIMEOUT 1800 ENVIRONMENT
                     "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=1")

# The kit as the command will have it, linked to libdeputy.so.
add_executable(conformance_client tests/conformance_client/main.cc)
target_link_libraries(conformance_client PRIVATE deputy_conformance deputy)
set_target_properties(conformance_client PROPERTIES
                      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
add_test(NAME conformance_client
         COMMAND conformance_client ${PROJECT_BINARY_DIR}/examples/libsoftmax_delegate.so)
set_tests_properties(conformance_client PROPERTIES TIMEOUT 900)
add_dependencies(all_tests conformance_client)

include(tools/cmake/certify.cmake)

# The kit's comparison for scripts: tests/golden holds fresh answers against TensorFlow Lite's.
deputy_add_delegate(agreement SOURCES tests/conformance/agreement.cc tests/conformance/agreement_c.cc
                    EXPORTS ConformanceAgree LINKS deputy_static)
set_target_properties(agreement PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
add_dependencies(all_tests agreement)

include(tools/cmake/fuzz.cmake)

if(bench_sources)
  find_package(benchmark REQUIRED)
  add_executable(deputy_bench ${bench_sources})
  deputy_link_test(deputy_bench)
  target_link_libraries(deputy_bench PRIVATE benchmark::benchmark benchmark::benchmark_main)
endif()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_dependencies(all_tests classify link_client conv_mean_delegate mindspore_delegate mindspore_plugin
                 softmax_delegate)

# Scripts: tests/*_test.py BUILD_FOLDER, with Python's own library only. 77 says "not here".
file(GLOB script_tests CONFIGURE_DEPENDS tests/*_test.py)
if(DEPUTY_SANITIZE)
  list(FILTER script_tests EXCLUDE REGEX "/headers_test\\.py$")  # asks compilers about headers
endif()
foreach(script IN LISTS script_tests)
  get_filename_component(name ${script} NAME_WE)
  add_test(NAME ${name} COMMAND Python3::Interpreter ${script} ${PROJECT_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77)
endforeach()

# Long, and no other on a bare Debian: `make fresh` leaves them to `make test`.
set(long_tests certify_test conformance_test conformance_test_2 gpu_every_fault_test gpu_faults_test
               headers_test large_graph_test model_fuzz operator_sweep thread_pool_test)
foreach(name IN LISTS long_tests)
  if(TEST ${name})
    set_property(TEST ${name} APPEND PROPERTY LABELS long)
  endif()
endforeach()
