# SPDX-License-Identifier: Apache-2.0
#
# The back end of Triton Inference Server. The server defines the TRITON* functions that it calls.
# In the build directory it is in triton/deputy, so that triton is a folder for --backend-directory.
find_package(nlohmann_json QUIET)
if(NOT nlohmann_json_FOUND)
  message(STATUS "No back end of Triton: nlohmann_json not found")
  return()
endif()
file(GLOB triton_sources CONFIGURE_DEPENDS bridges/triton/*.cc)
add_library(triton_deputy MODULE ${triton_sources})
target_include_directories(triton_deputy PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(triton_deputy PRIVATE deputy deputy_support nlohmann_json::nlohmann_json
                      ${CMAKE_DL_LIBS})
target_compile_options(triton_deputy PRIVATE ${host_flags})
target_precompile_headers(triton_deputy REUSE_FROM ${host_headers})
deputy_compile_together(triton_deputy)
set(triton_map ${PROJECT_BINARY_DIR}/generated/delegates/triton_deputy.map)
file(WRITE ${triton_map} "{ global: TRITONBACKEND_*; local: *; };\n")
target_link_options(triton_deputy PRIVATE -Wl,--version-script=${triton_map})
set_target_properties(triton_deputy PROPERTIES
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/triton/deputy)
deputy_find_libraries_from(triton_deputy ${CMAKE_INSTALL_FULL_LIBDIR}/deputy/triton/deputy)
add_dependencies(command triton_deputy)
