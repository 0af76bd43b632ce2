# SPDX-License-Identifier: Apache-2.0
#
# What reads MindSpore's model files: an archive for whoever opens models. It sees the headers that
# clients see, and writes TensorFlow Lite's format by the generated schema.
set(ms_header ${generated_dir}/ms_generated.h)
add_custom_command(
  OUTPUT ${ms_header}
  COMMAND ${DEPUTY_FLATC} --cpp --scoped-enums -o ${generated_dir}
          ${PROJECT_SOURCE_DIR}/mindspore/ms/ms.fbs
  DEPENDS mindspore/ms/ms.fbs
  COMMENT "Generating ms_generated.h"
  VERBATIM)
add_custom_target(deputy_ms_header DEPENDS ${ms_header})

file(GLOB ms_sources CONFIGURE_DEPENDS mindspore/ms/*.cc)
add_library(deputy_ms STATIC ${ms_sources})
add_dependencies(deputy_ms deputy_ms_header)
target_include_directories(deputy_ms PUBLIC ${client_include_dir} ${PROJECT_SOURCE_DIR})
target_link_libraries(deputy_ms PRIVATE deputy_schema)
