# SPDX-License-Identifier: Apache-2.0
#
# The reader of MindSpore's model files, an archive for code that opens models. It uses the clients'
# headers, among them that of the .ms format, and writes TensorFlow Lite's format through the
# generated schema. The library contains the binary schema of the .ms format.
set(ms_schema_header ${generated_dir}/ms_bfbs_generated.h)
add_custom_command(
  OUTPUT ${ms_schema_header}
  COMMAND ${DEPUTY_FLATC} --cpp --bfbs-gen-embed --no-warnings -o ${generated_dir}
          ${PROJECT_SOURCE_DIR}/mindspore/ms/ms.fbs
  DEPENDS mindspore/ms/ms.fbs
  COMMENT "Generating ms_bfbs_generated.h"
  VERBATIM)
add_custom_target(deputy_ms_schema DEPENDS ${ms_schema_header})

file(GLOB ms_sources CONFIGURE_DEPENDS mindspore/ms/*.cc)
add_library(deputy_ms STATIC ${ms_sources})
add_dependencies(deputy_ms deputy_ms_schema)
target_include_directories(deputy_ms PUBLIC ${client_include_dir} ${PROJECT_SOURCE_DIR})
target_link_libraries(deputy_ms PUBLIC deputy_support PRIVATE deputy_schema)
target_compile_options(deputy_ms PRIVATE ${host_flags})
# Almost all files of the reader include both formats' headers.
target_precompile_headers(deputy_ms PRIVATE ${standard_headers} <schema_generated.h>
                          <mindspore/schema/model_generated.h>)
deputy_compile_together(deputy_ms)

# libdeputy_mindspore.so.1: MindSpore Lite's C API on top of libdeputy's public API. Its headers are
# installed as mindspore/<name>. Headers under the names of MindSpore's own tree, for example
# mindspore/include/c_api/<name>, forward to them (client_headers.cmake).
file(GLOB mindspore_sources CONFIGURE_DEPENDS mindspore/src/*.cc)
add_library(deputy_mindspore SHARED ${mindspore_sources})
set_target_properties(deputy_mindspore PROPERTIES SOVERSION 1)
target_include_directories(deputy_mindspore PRIVATE ${PROJECT_SOURCE_DIR}
                           INTERFACE $<BUILD_INTERFACE:${client_include_dir}>)
target_link_libraries(deputy_mindspore PRIVATE deputy deputy_ms)
target_compile_options(deputy_mindspore PRIVATE ${host_flags})
target_precompile_headers(deputy_mindspore REUSE_FROM ${host_headers})
deputy_compile_together(deputy_mindspore)
target_link_options(deputy_mindspore PRIVATE -Wl,-Bsymbolic -Wl,--as-needed -Wl,-z,relro -Wl,-z,now
                    -Wl,--version-script=${PROJECT_SOURCE_DIR}/mindspore/mindspore.map)
if(NOT (DEPUTY_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
  target_link_options(deputy_mindspore PRIVATE -Wl,-z,defs)
endif()
set_property(TARGET deputy_mindspore APPEND PROPERTY
             LINK_DEPENDS ${PROJECT_SOURCE_DIR}/mindspore/mindspore.map)
deputy_find_libraries_from(deputy_mindspore ${CMAKE_INSTALL_FULL_LIBDIR})
