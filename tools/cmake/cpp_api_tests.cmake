# SPDX-License-Identifier: Apache-2.0
#
# Tests of TensorFlow Lite's C++ API (bindings/cpp). They are clients: C++17, the installed headers and
# libdeputy. Each file is compiled on its own, because it may define macros before it includes
# headers.
if(cpp_api_test_sources)
  file(GLOB cpp_api_support_sources CONFIGURE_DEPENDS tests/bindings/cpp/*.cc)
  list(FILTER cpp_api_support_sources EXCLUDE REGEX "_test\\.cc$")
  deputy_add_tests(cpp_api_tests SOURCES ${cpp_api_test_sources} SEPARATE
                   LINKS deputy Threads::Threads ${CMAKE_DL_LIBS})
  target_sources(cpp_api_tests PRIVATE ${cpp_api_support_sources} tests/support/paths.cc)
  target_include_directories(cpp_api_tests PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(cpp_api_tests PROPERTIES CXX_STANDARD 17)
  add_dependencies(cpp_api_tests multiply_add_delegate)  # opened by path
  target_precompile_headers(cpp_api_tests PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
endif()
