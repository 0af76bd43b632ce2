# SPDX-License-Identifier: Apache-2.0
#
# Tests and benchmarks, included by the top CMakeLists.txt. The folders of tests/ mirror those of
# the sources; files are found by glob:
#   *_test.cc           googletest, many files per program (deputy_add_tests below), linked to the
#                       archive of Deputy
#   *_test.c            cmocka, one program per file, linked to the same archive
#   *_test.py           scripts that receive the build directory as argument
#   other *.{cc,c}      helpers, in tests/support and next to the tests that use them
#   tests/threads       multi-threaded tests, which carry the ctest label `threads`
#   tests/gpu_cl        tests of the OpenCL delegate and their helpers, if OpenCL's headers exist
#   tests/npu_stub      tests of the NPU stub
#   tests/bridges/triton  tests of Triton's back end
#   tests/litert        tests of LiteRT's API, linked to the objects of libLiteRt.so and to libdeputy
#   tests/mindspore     tests of MindSpore's API, linked to the shared libraries like clients
#   tests/bindings/cpp  tests of TensorFlow Lite's C++ API, likewise, in C++17
#   tests/cases         the operator cases
#   tests/conformance   runs and compares the cases: a library without googletest, for any program
#   tests/conformance_client  a program that links the shared library and the conformance kit
#   tests/bench         google-benchmark, linked into the executable deputy_bench
#   tests/plugins       delegate libraries, see plugins.cmake
#   tests/fuzz          one executable of all files, see fuzz.cmake
#   tests/arm           a program that writes the models of `make check-arm`
find_package(GTest REQUIRED)
find_package(PkgConfig REQUIRED)
if(NOT DEPUTY_ZIG)
  pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS tests/*_test.cc)
file(GLOB_RECURSE c_test_sources CONFIGURE_DEPENDS tests/*_test.c)
file(GLOB conformance_sources CONFIGURE_DEPENDS tests/cases/*.cc tests/conformance/*.cc)
file(GLOB bench_sources CONFIGURE_DEPENDS tests/bench/*.cc)
if(DEPUTY_ZIG)  # tools/musl_root.sh builds neither cmocka nor google-benchmark
  set(c_test_sources "")
  set(bench_sources "")
endif()
# Helpers that all test programs link, except those of MindSpore's API and of the C++ API. The
# helpers of the OpenCL delegate are separate, because they include its headers.
file(GLOB_RECURSE support_sources CONFIGURE_DEPENDS tests/support/*.cc tests/support/*.c
     tests/kernels/*.cc tests/mindspore/ms/*.cc tests/npu_stub/*.cc)
file(GLOB gpu_support_sources CONFIGURE_DEPENDS tests/gpu_cl/*.cc)
list(FILTER support_sources EXCLUDE REGEX "(_test|/model_builder|/test_main)\\.cc$")
list(FILTER gpu_support_sources EXCLUDE REGEX "_test\\.cc$")

# deputy_take_folder(<out> <folder>): moves the test files of a folder from `test_sources` to `out`.
macro(deputy_take_folder out folder)
  set(${out} ${test_sources})
  list(FILTER ${out} INCLUDE REGEX "/tests/${folder}/[^/]*$")
  list(REMOVE_ITEM test_sources ${${out}})
endmacro()
deputy_take_folder(litert_test_sources litert)
deputy_take_folder(mindspore_test_sources mindspore)
deputy_take_folder(cpp_api_test_sources bindings/cpp)
deputy_take_folder(gpu_test_sources gpu_cl)
deputy_take_folder(npu_test_sources npu_stub)
deputy_take_folder(thread_test_sources threads)
deputy_take_folder(triton_test_sources bridges/triton)
list(FILTER c_test_sources EXCLUDE REGEX "/tests/mindspore/[^/]*$")
if(CMAKE_SIZEOF_VOID_P EQUAL 4)  # this test computes with 128-bit integers
  list(REMOVE_ITEM test_sources ${PROJECT_SOURCE_DIR}/tests/kernels/vector/vector_types_test.cc)
endif()
if(NOT TARGET deputy_gpu_objects)
  list(REMOVE_ITEM thread_test_sources ${PROJECT_SOURCE_DIR}/tests/threads/gpu_threads_test.cc)
endif()

# Compile settings of every test. They contain no absolute path, so that the compiler cache works
# across build directories; only tests/support/paths.cc has such paths.
add_library(deputy_test_settings INTERFACE)
target_include_directories(deputy_test_settings INTERFACE ${client_include_dir})
target_link_libraries(deputy_test_settings INTERFACE deputy_static)

# Most of a test's code is calls of googletest templates: without optimisation they compile in two
# thirds of the time, and long-running code is in the libraries.
set(test_flags "")
if(DEPUTY_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  set(test_flags -O0)
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    set(test_flags -O1)  # an emulator would run the loops of the expected values for minutes
  endif()
endif()
# Instrumenting the tests themselves, and the scopes of their thousands of temporaries, would take
# two thirds of their compile time. The tested libraries are instrumented.
if(DEPUTY_SANITIZE MATCHES "undefined")
  list(APPEND test_flags -fno-sanitize=undefined)
endif()
if(DEPUTY_SANITIZE MATCHES "address")
  list(APPEND test_flags -fno-sanitize-address-use-after-scope)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Contents of precompiled headers are never garbage; g++ would spend a tenth of its time searching
  # them.
  list(APPEND test_flags --param=ggc-min-heapsize=1000000)
endif()

# The conformance kit: cases, golden rows, targets, and one comparison. It is compiled like a
# client, except for its targets on the CPU, and links neither googletest nor Deputy, only the archive
# of core/support: a program that links libdeputy gets the required objects of both archives.
add_library(deputy_conformance STATIC ${conformance_sources} tests/support/model_builder.cc)
target_include_directories(deputy_conformance PUBLIC ${PROJECT_SOURCE_DIR} ${client_include_dir})
target_link_libraries(deputy_conformance PUBLIC deputy_support deputy_schema)
target_compile_options(deputy_conformance PRIVATE ${test_flags})
if(DEPUTY_ZIG)  # musl has no strtoll_l, which FlatBuffers' flexbuffers.h calls by default
  target_compile_definitions(deputy_conformance PUBLIC FLATBUFFERS_LOCALE_INDEPENDENT=0)
endif()

# Half of the compile time of a file of cases is the schema's header. Files of the kit itself are
# compiled separately, so that a client links only those that it needs.
target_precompile_headers(deputy_conformance PRIVATE <algorithm> <functional> <random> <span> <string>
                          <vector> <schema_generated.h>)
deputy_compile_together(deputy_conformance 10 tests/cases)

# googletest's headers and the schema's take longer to parse than most tests: they are precompiled
# once, which requires -fPIC for programs, too.
add_library(precompiled_for_tests OBJECT ${generated_dir}/precompiled.cc)
target_link_libraries(precompiled_for_tests PRIVATE deputy_test_settings GTest::gmock)
target_compile_options(precompiled_for_tests PRIVATE ${test_flags})
target_precompile_headers(precompiled_for_tests PRIVATE <gmock/gmock.h> <gtest/gtest.h> <random>
                          <schema_generated.h>)

if(support_sources)
  add_library(deputy_test_support STATIC ${support_sources})
  set_property(SOURCE tests/support/paths.cc APPEND PROPERTY COMPILE_DEFINITIONS
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
  if(is_x86_64 AND DEPUTY_MAX_CPU STREQUAL "amx")
    set(tiles tests/kernels/cpu/tiles_in_memory)
    set_property(SOURCE ${tiles}.cc ${tiles}_int8.cc ${tiles}_bf16.cc APPEND PROPERTY
                 COMPILE_DEFINITIONS DEPUTY_HAS_AMX_TABLES)
    # The files tiles_in_memory_* include the files of kernels/cpu that they test, and are compiled
    # with the same flags.
    foreach(type int8 bf16)
      get_property(flags SOURCE ${PROJECT_SOURCE_DIR}/kernels/cpu/x86_64/amx/${type}.cc
                   PROPERTY COMPILE_OPTIONS)
      set_source_files_properties(${tiles}_${type}.cc PROPERTIES
                                  COMPILE_OPTIONS "${flags};-O1" SKIP_PRECOMPILE_HEADERS ON)
    endforeach()
  endif()
endif()
if(TARGET deputy_gpu_objects AND gpu_support_sources)
  add_library(deputy_gpu_test_support STATIC ${gpu_support_sources})
  target_link_libraries(deputy_gpu_test_support PUBLIC deputy_gpu_objects deputy_test_support)
  target_compile_options(deputy_gpu_test_support PRIVATE ${test_flags})
  target_precompile_headers(deputy_gpu_test_support REUSE_FROM precompiled_for_tests)
endif()
# Link libraries of test programs. The kit does not name libdeputy, so that it can be linked with
# the shared one; the linking target lists the archive after it.
set(test_links deputy_record deputy_sandbox_messages deputy_test_support deputy_conformance deputy_compiler deputy_test_settings)

include(tools/cmake/plugins.cmake)

# The targets of the sanitizer runs: every test, or those labelled `threads`.
add_custom_target(all_tests)
add_dependencies(all_tests test_plugins)
add_custom_target(threaded_tests)

# deputy_register_test(<name> <program> [<argument>...]): registers a test with ctest and adds its
# run-time dependencies, since tests open the shared libraries and run the command by path.
function(deputy_register_test name program)
  add_dependencies(${program} deputy tensorflowlite_c test_plugins)
  if(TARGET deputy_tool AND NOT DEPUTY_SANITIZE STREQUAL "thread")
    add_dependencies(${program} deputy_tool)
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} ${PROJECT_BINARY_DIR}/tests/${name} ${ARGN})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
  add_dependencies(all_tests ${program})
  if(program MATCHES "thread_tests$")
    add_dependencies(threaded_tests ${program})
    set_tests_properties(${name} PROPERTIES LABELS threads)
  endif()
endfunction()

# deputy_add_test(<source> <library>...): adds a test as a separate program.
function(deputy_add_test source)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${test_links} ${ARGN})
  target_compile_options(${name} PRIVATE ${test_flags} -fPIC)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  deputy_register_test(${name} ${name})
endfunction()

# deputy_add_test_program(<program> <arguments of deputy_add_tests>...): the program of deputy_add_tests, without
# entries of ctest.
function(deputy_add_test_program program)
  cmake_parse_arguments(TESTS "SEPARATE" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${program} ${TESTS_SOURCES} tests/support/test_main.cc)
  target_link_libraries(${program} PRIVATE ${TESTS_LINKS} GTest::gmock)
  target_compile_options(${program} PRIVATE ${test_flags} -fPIC)
  if(NOT TESTS_SEPARATE)
    target_precompile_headers(${program} REUSE_FROM precompiled_for_tests)
    deputy_compile_together(${program} 10)
  endif()
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()

# deputy_add_tests(<program> SOURCES <file>... LINKS <library>... [SEPARATE]): one program of many
# files. Two thirds of a test's compile time are common templates of googletest and the standard
# library: ten files are compiled together, each in its own namespace. SEPARATE disables that, and
# leaves precompiled headers to the caller. For ctest and for users each file appears as a program,
# which is a link to the common one (tests/support/test_main.cc).
function(deputy_add_tests program)
  cmake_parse_arguments(TESTS "SEPARATE" "" "SOURCES;LINKS" ${ARGN})
  deputy_add_test_program(${program} ${ARGN})
  set(names "")
  foreach(source IN LISTS TESTS_SOURCES)
    get_filename_component(name ${source} NAME_WE)
    list(APPEND names ${name})
    deputy_register_test(${name} ${program})
    add_custom_target(${name} DEPENDS ${program})
  endforeach()
  list(TRANSFORM names PREPEND ${PROJECT_BINARY_DIR}/tests/ OUTPUT_VARIABLE links)
  list(JOIN names " " names)
  add_custom_command(TARGET ${program} POST_BUILD BYPRODUCTS ${links}
                     WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests
                     COMMAND sh -c "for name in ${names}; do ln -sf ${program} $name; done"
                     VERBATIM)
endfunction()

# A process that sends damaged messages to the delegate `sandbox`, for sandbox_fuzz_test.
add_executable(damaged_process tests/bridges/damaged_process.cc)
target_link_libraries(damaged_process PRIVATE deputy_sandbox_messages)
target_compile_options(damaged_process PRIVATE ${test_flags})
set_target_properties(damaged_process PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
add_dependencies(test_plugins damaged_process)

# These tests are separate programs: two replace malloc or operator new, one includes the schema's
# header with different macros, and two are compiled with the code that they test, since the command
# has no library.
foreach(path c_api/allocation_failure_test tools/difference_test core/model/model_damage_test
             kernels/params_test tools/text_test)
  set(source ${PROJECT_SOURCE_DIR}/tests/${path}.cc)
  list(REMOVE_ITEM test_sources ${source})
  deputy_add_test(${source} GTest::gmock GTest::gtest_main)
  get_filename_component(name ${path} NAME)
  if(NOT name STREQUAL "params_test")
    target_precompile_headers(${name} REUSE_FROM precompiled_for_tests)
  endif()
endforeach()
target_sources(difference_test PRIVATE tools/difference.cc)
target_sources(text_test PRIVATE tools/text.cc)

# The multi-threaded tests are a separate program. It and cpp_thread_tests are the only ones built
# for the thread sanitizer.
set(gpu_links "")
if(TARGET deputy_gpu_objects)
  set(gpu_links deputy_gpu_test_support)
  deputy_add_tests(gpu_tests SOURCES ${gpu_test_sources} LINKS ${gpu_links} ${test_links})
endif()
deputy_add_tests(npu_tests SOURCES ${npu_test_sources} LINKS deputy_npu_objects ${test_links})
deputy_add_tests(thread_tests SOURCES ${thread_test_sources}
                 LINKS deputy_npu_objects ${gpu_links} ${test_links})
deputy_add_tests(unit_tests SOURCES ${test_sources} LINKS ${test_links})

# The double of Triton's server defines the functions that the back end calls. The tests open the
# back end's library by path.
if(TARGET triton_deputy)
  add_library(triton_double OBJECT tests/doubles/triton/server.cc tests/doubles/triton/host.cc)
  target_link_libraries(triton_double PUBLIC ${test_links})
  target_compile_options(triton_double PRIVATE ${test_flags} -fPIC -fvisibility=default)
  deputy_add_tests(triton_tests SOURCES ${triton_test_sources} LINKS triton_double ${test_links})
  target_link_options(triton_tests PRIVATE -Wl,--export-dynamic-symbol=TRITON*)
  add_dependencies(triton_tests triton_deputy deputy-delegate-host)
endif()

# kernel_tests is the part of unit_tests that depends on the processor: the tests of kernels and the
# conformance test. `make check-arm` builds it, and the program that writes the models it counts.
set(kernel_test_sources ${test_sources})
list(FILTER kernel_test_sources INCLUDE REGEX
     "/tests/(kernels/((common|conv|cpu|linalg|vector)/.*|precision_test\\.cc)|agreement/conformance_test\\.cc)$")
deputy_add_test_program(kernel_tests SOURCES ${kernel_test_sources} LINKS ${test_links})
add_executable(write_mobilenet_v2 tests/arm/write_mobilenet_v2.cc)
target_link_libraries(write_mobilenet_v2 PRIVATE ${test_links})
set_target_properties(kernel_tests write_mobilenet_v2 PROPERTIES EXCLUDE_FROM_ALL ON
                      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)

if(TARGET deputy_gpu_objects)  # opened by path
  add_dependencies(gpu_tests deputy_gpu)
  add_dependencies(thread_tests deputy_gpu)
endif()

foreach(source IN LISTS c_test_sources)
  deputy_add_test(${source} PkgConfig::CMOCKA)
  get_filename_component(name ${source} NAME_WE)
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
endforeach()

include(tools/cmake/mindspore_tests.cmake)
if(NOT TARGET opencl_counter)
  list(REMOVE_ITEM litert_test_sources ${PROJECT_SOURCE_DIR}/tests/litert/litert_opencl_test.cc)
endif()
deputy_add_tests(litert_tests SEPARATE SOURCES ${litert_test_sources} LINKS deputy_litert_objects deputy_support)
target_sources(litert_tests PRIVATE tests/support/model_builder.cc tests/support/paths.cc)
add_dependencies(litert_tests npu_stub_litert_compiler npu_stub_litert_dispatch)
include(tools/cmake/cpp_api_tests.cmake)

# The longest test is split into four entries that run in parallel; the first is already registered.
set_tests_properties(conformance_test PROPERTIES ENVIRONMENT
                     "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=0")
foreach(shard 1 2 3)
  math(EXPR number "${shard} + 1")
  add_test(NAME conformance_test_${number}
           COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} ${PROJECT_BINARY_DIR}/tests/conformance_test)
  set_tests_properties(conformance_test_${number} PROPERTIES ENVIRONMENT
                       "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${shard}")
endforeach()

# With `ctest -C all` (`make test-all`), these entries run every operator case and golden row on the
# targets of OpenCL; the entries of a normal run take a sample of them.
foreach(target gpu gpu_desktop gpu_mobile gpu_image_2d)
  foreach(part operator_case golden_row)
    set(name conformance_all_${target}_${part}s)
    set(filter "*every_${part}_agrees/${target}")
    add_test(NAME ${name} CONFIGURATIONS all COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} ${PROJECT_BINARY_DIR}/tests/conformance_test
             "--gtest_filter=${filter}:${filter}_?of4")
    set_tests_properties(${name} PROPERTIES TIMEOUT 7200 ENVIRONMENT DEPUTY_ALL_ROWS=1)
  endforeach()
endforeach()

# Likewise, 10^4 deaths of processes, 10^6 messages in each direction between processes, and 10^5
# damaged records, weight caches and compiled models.
foreach(name compiled_model_test replay_damage_test sandbox_deaths_test sandbox_fuzz_test
             weight_file_test)
  add_test(NAME ${name}_all CONFIGURATIONS all COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} ${PROJECT_BINARY_DIR}/tests/${name})
  set_tests_properties(${name}_all PROPERTIES TIMEOUT 7200 ENVIRONMENT DEPUTY_ALL_ROWS=1)
endforeach()

# conformance_client links the kit to libdeputy.so, as deputy-certify does.
add_executable(conformance_client tests/conformance_client/main.cc)
target_link_libraries(conformance_client PRIVATE deputy_conformance deputy)
set_target_properties(conformance_client PROPERTIES
                      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
add_test(NAME conformance_client
         COMMAND conformance_client ${PROJECT_BINARY_DIR}/examples/libsoftmax_delegate.so)
add_dependencies(all_tests conformance_client)

include(tools/cmake/certify.cmake)

# The library `agreement` has the kit's comparison for scripts: tests/golden compares new results
# with TensorFlow Lite's.
deputy_add_delegate(agreement SOURCES tests/conformance/agreement.cc tests/conformance/agreement_c.cc
                    EXPORTS ConformanceAgree LINKS deputy_static)
set_target_properties(agreement PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
add_dependencies(all_tests agreement)

include(tools/cmake/fuzz.cmake)

if(bench_sources)
  find_package(benchmark REQUIRED)
  add_executable(deputy_bench ${bench_sources})
  target_link_libraries(deputy_bench PRIVATE ${test_links} benchmark::benchmark benchmark::benchmark_main)
endif()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
get_property(example_targets DIRECTORY examples PROPERTY BUILDSYSTEM_TARGETS)
add_dependencies(all_tests ${example_targets})
add_dependencies(thread_tests mindspore_plugin deputy_nnapi deputy_onnxruntime)  # opened by path

# Scripts: *_test.py BUILD_FOLDER, with Python's standard library only. Exit code 77 means "skipped".
file(GLOB_RECURSE script_tests CONFIGURE_DEPENDS tests/*_test.py)
if(DEPUTY_SANITIZE)
  list(FILTER script_tests EXCLUDE REGEX "headers_test\\.py$")  # runs compilers on headers
endif()
foreach(script IN LISTS script_tests)
  get_filename_component(name ${script} NAME_WE)
  add_test(NAME ${name} COMMAND Python3::Interpreter ${script} ${PROJECT_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()

# Long tests that need no additional Debian package: `make fresh` skips them and `make test` runs
# them. Eight tests of the GPU compile hundreds of programs, half of all tests' time without a
# program cache; the other GPU tests need the same packages and are kept.
set(long_tests certify_test conformance_test conformance_test_2 conformance_test_3 conformance_test_4
               cpp_headers_test gpu_every_fault_test gpu_faults_test gpu_kernels_test gpu_products_test gpu_program_test
               gpu_storage_test gpu_tune_test gpu_windows_test headers_test large_graph_test model_fuzz
               operator_sweep fusion_groups_run_test thread_pool_test)
foreach(name IN LISTS long_tests)
  if(TEST ${name})
    set_property(TEST ${name} APPEND PROPERTY LABELS long)
  endif()
endforeach()

# Time limits: five times the duration of tests/durations.txt (seconds on two quiet cores, programs of OpenCL
# not cached), at least a minute; 60 times and half an hour in an emulator. ctest starts the longest tests first.
set(limit_factor 5)
set(min_limit 60)
set(default_limit 600)
if(DEPUTY_SANITIZE)
  set(limit_factor 30)
endif()
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(limit_factor 60)
  set(min_limit 1800)
  set(default_limit 1800)
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS tests/durations.txt)
file(STRINGS tests/durations.txt duration_rows REGEX "^[a-z]")
get_property(all_test_names DIRECTORY PROPERTY TESTS)
set(durations_unknown ${all_test_names})
foreach(row IN LISTS duration_rows)
  separate_arguments(row UNIX_COMMAND "${row}")
  list(GET row 0 name)
  list(GET row 1 seconds)
  if(TEST ${name})
    math(EXPR limit "${limit_factor} * ${seconds}")
    if(limit LESS min_limit)
      set(limit ${min_limit})
    endif()
    set_tests_properties(${name} PROPERTIES TIMEOUT ${limit} COST ${seconds})
    list(REMOVE_ITEM durations_unknown ${name})
  endif()
endforeach()
foreach(name IN LISTS durations_unknown)
  get_property(limit TEST ${name} PROPERTY TIMEOUT)
  if(NOT limit)
    message(STATUS "tests/durations.txt does not list ${name}: its limit is ${default_limit} s")
    set_tests_properties(${name} PROPERTIES TIMEOUT ${default_limit})
  endif()
endforeach()
