# SPDX-License-Identifier: Apache-2.0
#
# drop-in/libLiteRt.so: LiteRT's C API on top of libdeputy's public API.

# Models are written with flatc's object API. It is generated from the same schema into a namespace
# of its own, because the schema header of other sources is generated without it.
file(READ core/model/schema.fbs tables_schema)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS core/model/schema.fbs)
string(REPLACE "namespace deputy.schema;" "namespace deputy.tables;" tables_schema "${tables_schema}")
file(GENERATE OUTPUT ${generated_dir}/tables/tables.fbs CONTENT "${tables_schema}")
add_custom_command(
  OUTPUT ${generated_dir}/tables/tables_generated.h
  COMMAND ${DEPUTY_FLATC} --cpp --scoped-enums --gen-object-api -o ${generated_dir}/tables ${generated_dir}/tables/tables.fbs
  COMMAND sed -i -e "1i #include <limits.h>" -e "1i #undef ARG_MAX" ${generated_dir}/tables/tables_generated.h
  DEPENDS ${generated_dir}/tables/tables.fbs
  COMMENT "Generating tables_generated.h"
  VERBATIM)
add_custom_target(deputy_tables_header DEPENDS ${generated_dir}/tables/tables_generated.h)

file(GLOB litert_sources CONFIGURE_DEPENDS litert/src/*.cc)
# OpenCL's headers are needed for types only; its library is opened at run time.
find_path(DEPUTY_OPENCL_INCLUDE CL/cl.h)
mark_as_advanced(DEPUTY_OPENCL_INCLUDE)
if(DEPUTY_OPENCL_INCLUDE)
  list(FILTER litert_sources EXCLUDE REGEX "/opencl_absent.cc$")
  add_library(deputy_opencl_device STATIC gpu_cl/device/cl_api.cc gpu_cl/device/client_objects.cc
              gpu_cl/device/device.cc gpu_cl/device/half_probe.cc gpu_cl/device/process.cc
              gpu_cl/device/storage.cc)
  set_target_properties(deputy_opencl_device PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(deputy_opencl_device PUBLIC ${PROJECT_SOURCE_DIR} ${client_include_dir})
  target_include_directories(deputy_opencl_device SYSTEM PUBLIC ${DEPUTY_OPENCL_INCLUDE})
  target_compile_definitions(deputy_opencl_device PUBLIC CL_TARGET_OPENCL_VERSION=120)
  target_link_libraries(deputy_opencl_device PUBLIC ${CMAKE_DL_LIBS} Threads::Threads)
  target_compile_options(deputy_opencl_device PRIVATE ${host_flags})
else()
  list(FILTER litert_sources EXCLUDE REGEX "/opencl.cc$")
endif()
add_library(deputy_litert_objects OBJECT ${litert_sources})
target_include_directories(deputy_litert_objects PRIVATE ${client_include_dir}
                           PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/litert/include)
target_include_directories(deputy_litert_objects SYSTEM PRIVATE ${generated_dir}/tables)
add_dependencies(deputy_litert_objects deputy_tables_header)
target_link_libraries(deputy_litert_objects PUBLIC deputy deputy_schema deputy_support)
if(DEPUTY_OPENCL_INCLUDE)
  target_link_libraries(deputy_litert_objects PUBLIC deputy_opencl_device)
endif()
target_compile_options(deputy_litert_objects PRIVATE ${host_flags})
deputy_compile_together(deputy_litert_objects)

add_library(deputy_litert SHARED $<TARGET_OBJECTS:deputy_litert_objects>)
set_target_properties(deputy_litert PROPERTIES OUTPUT_NAME LiteRt LINKER_LANGUAGE CXX
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/drop-in)
target_include_directories(deputy_litert
                           INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/litert/include>)
target_link_libraries(deputy_litert PRIVATE deputy deputy_support)
if(DEPUTY_OPENCL_INCLUDE)
  target_link_libraries(deputy_litert PRIVATE deputy_opencl_device)
endif()
target_link_options(deputy_litert PRIVATE -Wl,-Bsymbolic -Wl,--as-needed -Wl,-z,relro -Wl,-z,now
                    -Wl,--version-script=${PROJECT_SOURCE_DIR}/litert/litert.map)
if(NOT (DEPUTY_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
  target_link_options(deputy_litert PRIVATE -Wl,-z,defs)
endif()
set_property(TARGET deputy_litert APPEND PROPERTY
             LINK_DEPENDS ${PROJECT_SOURCE_DIR}/litert/litert.map)
deputy_find_libraries_from(deputy_litert ${CMAKE_INSTALL_FULL_LIBDIR}/deputy/drop-in)

# libLiteRt_client.a: functions of the headers that programs link statically, as libLiteRt.so does not
# export them: options, loggers, names of statuses, layouts.
file(GLOB litert_client_sources CONFIGURE_DEPENDS litert/client/*.cc)
add_library(deputy_litert_client STATIC ${litert_client_sources} litert/src/layout.cc
            litert/src/status.cc)
set_target_properties(deputy_litert_client PROPERTIES OUTPUT_NAME LiteRt_client
                      POSITION_INDEPENDENT_CODE ON)
target_include_directories(deputy_litert_client PRIVATE ${PROJECT_SOURCE_DIR}
                           PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/litert/include>)
