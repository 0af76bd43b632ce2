# SPDX-License-Identifier: Apache-2.0
#
# Tests of MindSpore's API. They are clients: one copy of Deputy is in the process, the shared one.
# A test in C gets the path of a model.
file(GLOB mindspore_tests CONFIGURE_DEPENDS tests/mindspore_*_test.cc tests/mindspore_*_test.c)
foreach(source IN LISTS mindspore_tests)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE deputy_mindspore deputy)
  target_compile_options(${name} PRIVATE ${test_flags} -fPIC)
  if(source MATCHES "\\.c$")
    target_include_directories(${name} PRIVATE ${client_include_dir})
    target_link_libraries(${name} PRIVATE PkgConfig::CMOCKA m)
    target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
  else()
    target_link_libraries(${name} PRIVATE deputy_conformance GTest::gmock GTest::gtest_main)
    target_precompile_headers(${name} REUSE_FROM precompiled_for_tests)
  endif()
  add_test(NAME ${name} COMMAND ${name} ${PROJECT_SOURCE_DIR}/examples/conv_mean.tflite)
  set_tests_properties(${name} PROPERTIES TIMEOUT 900)
  add_dependencies(all_tests ${name})
endforeach()
add_dependencies(mindspore_engines_test test_plugins mindspore_plugin)  # opened by path
foreach(name mindspore_model_test mindspore_engines_test)
  target_sources(${name} PRIVATE tests/ms_writer.cc)
  target_link_libraries(${name} PRIVATE deputy_ms deputy_schema)
endforeach()
