# SPDX-License-Identifier: Apache-2.0
#
# Tests of MindSpore's API. They are clients: the process contains only the shared copy of Deputy.
# One test defines the function that makes a program a plug-in, one calls all accessors of the
# schema, and one is in C; these are separate programs. mindspore_thread_tests is also built for the
# thread sanitizer (target threaded_tests).
set(mindspore_links deputy_mindspore deputy deputy_ms deputy_schema deputy_conformance GTest::gmock)
list(REMOVE_ITEM mindspore_test_sources
     ${PROJECT_SOURCE_DIR}/tests/mindspore/mindspore_plugin_test.cc
     ${PROJECT_SOURCE_DIR}/tests/mindspore/mindspore_schema_test.cc)
set(mindspore_thread_test_sources ${mindspore_test_sources})
list(FILTER mindspore_thread_test_sources INCLUDE REGEX "/mindspore_runner_test\\.cc$")
list(REMOVE_ITEM mindspore_test_sources ${mindspore_thread_test_sources})
deputy_add_tests(mindspore_tests SOURCES ${mindspore_test_sources} LINKS ${mindspore_links})
deputy_add_tests(mindspore_thread_tests SOURCES ${mindspore_thread_test_sources}
                 LINKS ${mindspore_links})
foreach(program mindspore_tests mindspore_thread_tests)
  target_sources(${program} PRIVATE tests/mindspore/ms/ms_writer.cc tests/support/paths.cc)
endforeach()
add_dependencies(mindspore_tests mindspore_plugin softmax_delegate)  # opened by path

add_executable(mindspore_plugin_test tests/mindspore/mindspore_plugin_test.cc)
target_link_libraries(mindspore_plugin_test PRIVATE ${mindspore_links} GTest::gtest_main)
target_compile_options(mindspore_plugin_test PRIVATE ${test_flags} -fPIC)
target_precompile_headers(mindspore_plugin_test REUSE_FROM precompiled_for_tests)

# MindSpore's schema in another namespace and with static reflection, by which the test calls the
# accessors of all attributes.
set(reflected_dir ${generated_dir}/reflected)
file(READ ${PROJECT_SOURCE_DIR}/mindspore/ms/ms.fbs content)
string(REPLACE "namespace mindspore.schema;" "namespace mindspore.reflected;" content "${content}")
file(CONFIGURE OUTPUT ${reflected_dir}/reflected.fbs CONTENT "${content}" @ONLY)
add_custom_command(
  OUTPUT ${reflected_dir}/reflected_generated.h
  COMMAND ${DEPUTY_FLATC} --cpp --cpp-std c++17 --cpp-static-reflection --no-warnings
          -o ${reflected_dir} ${reflected_dir}/reflected.fbs
  DEPENDS ${reflected_dir}/reflected.fbs
  COMMENT "Generating reflected_generated.h"
  VERBATIM)
add_executable(mindspore_schema_test tests/mindspore/mindspore_schema_test.cc
               tests/mindspore/ms/ms_writer.cc ${reflected_dir}/reflected_generated.h)
target_include_directories(mindspore_schema_test SYSTEM PRIVATE ${reflected_dir})
target_link_libraries(mindspore_schema_test PRIVATE ${mindspore_links} GTest::gtest_main)
target_compile_options(mindspore_schema_test PRIVATE ${test_flags} -fPIC)
add_dependencies(mindspore_schema_test deputy_ms_schema)

# ctest passes the path of a model to mindspore_c_test.
set(mindspore_c_test "")
if(CMOCKA_FOUND)
  set(mindspore_c_test mindspore_c_test)
  add_executable(mindspore_c_test tests/mindspore/mindspore_c_test.c)
  target_include_directories(mindspore_c_test PRIVATE ${client_include_dir})
  target_link_libraries(mindspore_c_test PRIVATE deputy_mindspore deputy PkgConfig::CMOCKA m)
  target_compile_definitions(mindspore_c_test PRIVATE _GNU_SOURCE)
endif()
foreach(name mindspore_plugin_test mindspore_schema_test ${mindspore_c_test})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  deputy_register_test(${name} ${name} ${PROJECT_SOURCE_DIR}/examples/conv_mean.tflite)
endforeach()

# Writes the models of tests/mindspore/others, which compile public programs.
add_executable(mindspore_sample_models tests/mindspore/others/sample_models.cc
               tests/mindspore/ms/ms_writer.cc)
target_include_directories(mindspore_sample_models PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(mindspore_sample_models PRIVATE deputy_mindspore)
target_compile_options(mindspore_sample_models PRIVATE ${test_flags})
set_target_properties(mindspore_sample_models PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                      ${PROJECT_BINARY_DIR}/tests)
