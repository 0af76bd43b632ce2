# SPDX-License-Identifier: Apache-2.0
#
# Tests of TensorFlow Lite's C++ API (bindings/cpp). They are clients: C++17, the installed headers and
# libdeputy. Each file is compiled on its own, because it may define macros before it includes
# headers.
# cpp_thread_tests is also built for the thread sanitizer (target threaded_tests).
if(cpp_api_test_sources)
  set(cpp_thread_test_sources ${cpp_api_test_sources})
  list(FILTER cpp_thread_test_sources INCLUDE REGEX "/cpp_threads_test\\.cc$")
  list(REMOVE_ITEM cpp_api_test_sources ${cpp_thread_test_sources})
  file(GLOB cpp_api_support_sources CONFIGURE_DEPENDS tests/bindings/cpp/*.cc)
  list(FILTER cpp_api_support_sources EXCLUDE REGEX "_test\\.cc$")
  deputy_add_tests(cpp_api_tests SOURCES ${cpp_api_test_sources} SEPARATE
                   LINKS deputy Threads::Threads ${CMAKE_DL_LIBS})
  target_sources(cpp_api_tests PRIVATE ${cpp_api_support_sources})
  target_precompile_headers(cpp_api_tests PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  deputy_add_tests(cpp_thread_tests SOURCES ${cpp_thread_test_sources} SEPARATE
                   LINKS deputy Threads::Threads ${CMAKE_DL_LIBS})
  foreach(program cpp_api_tests cpp_thread_tests)
    target_sources(${program} PRIVATE tests/support/paths.cc)
    target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR})
    set_target_properties(${program} PROPERTIES CXX_STANDARD 17)
    add_dependencies(${program} multiply_add_delegate)  # opened by path
  endforeach()
endif()
