# SPDX-License-Identifier: Apache-2.0
#
# Generated headers in <build>/generated: schema_generated.h, from core/model/schema.fbs, included by few files; and
# deputy_version.h.
find_program(DEPUTY_FLATC flatc REQUIRED)
set(generated_dir ${PROJECT_BINARY_DIR}/generated)
add_library(deputy_schema INTERFACE)
target_include_directories(deputy_schema SYSTEM INTERFACE ${generated_dir})
file(CONFIGURE OUTPUT ${generated_dir}/deputy_version.h CONTENT "#define DEPUTY_VERSION \"@PROJECT_VERSION@\"\n" @ONLY)
if(DEPUTY_ZIG_ROOT)  # FlatBuffers' headers; other compilers find them in /usr/include
  target_include_directories(deputy_schema SYSTEM INTERFACE ${DEPUTY_ZIG_ROOT}/include)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/core/model/schema.fbs)
  add_custom_command(
    OUTPUT ${generated_dir}/schema_generated.h
    COMMAND ${DEPUTY_FLATC} --cpp --scoped-enums -o ${generated_dir}
            ${PROJECT_SOURCE_DIR}/core/model/schema.fbs
    # An enumerator of the schema is named ARG_MAX, a macro of some C libraries' <limits.h>.
    COMMAND sed -i -e "1i #include <limits.h>" -e "1i #undef ARG_MAX" ${generated_dir}/schema_generated.h
    DEPENDS core/model/schema.fbs
    COMMENT "Generating schema_generated.h"
    VERBATIM)
  add_custom_target(deputy_schema_header DEPENDS ${generated_dir}/schema_generated.h)
  add_dependencies(deputy_schema deputy_schema_header)
endif()
