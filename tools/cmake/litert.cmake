# SPDX-License-Identifier: Apache-2.0
#
# drop-in/libLiteRt.so: LiteRT's C API on top of libdeputy's public API.
file(GLOB litert_sources CONFIGURE_DEPENDS litert/src/*.cc)
add_library(deputy_litert SHARED ${litert_sources})
set_target_properties(deputy_litert PROPERTIES OUTPUT_NAME LiteRt
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/drop-in)
target_include_directories(deputy_litert PRIVATE ${PROJECT_SOURCE_DIR} ${client_include_dir}
                           PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/litert/include>)
target_link_libraries(deputy_litert PRIVATE deputy deputy_schema)
target_compile_options(deputy_litert PRIVATE ${host_flags})
deputy_compile_together(deputy_litert)
target_link_options(deputy_litert PRIVATE -Wl,-Bsymbolic -Wl,--as-needed -Wl,-z,relro -Wl,-z,now
                    -Wl,--version-script=${PROJECT_SOURCE_DIR}/litert/litert.map)
if(NOT (DEPUTY_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
  target_link_options(deputy_litert PRIVATE -Wl,-z,defs)
endif()
set_property(TARGET deputy_litert APPEND PROPERTY
             LINK_DEPENDS ${PROJECT_SOURCE_DIR}/litert/litert.map)
deputy_find_libraries_from(deputy_litert ${CMAKE_INSTALL_FULL_LIBDIR}/deputy/drop-in)
