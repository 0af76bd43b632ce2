# SPDX-License-Identifier: Apache-2.0
#
# The `deputy` command. It uses the clients' headers, and the reader of MindSpore's models.
file(GLOB tool_sources CONFIGURE_DEPENDS tools/*.cc tools/bench/*.cc tools/explain/*.cc)
# The sources of tools/ that include CLI11 are adjacent in the list, so that they are compiled
# together.
file(GLOB option_sources CONFIGURE_DEPENDS tools/*_options.cc tools/command_line.cc)
list(REMOVE_ITEM tool_sources ${option_sources})
list(PREPEND tool_sources ${option_sources})
if(DEPUTY_BUILD_TOOLS AND tool_sources)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_path(DEPUTY_STB_INCLUDE stb/stb_image.h REQUIRED)
  add_executable(deputy_tool ${tool_sources})
  set_target_properties(deputy_tool PROPERTIES OUTPUT_NAME deputy)
  target_include_directories(deputy_tool PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(deputy_tool SYSTEM PRIVATE ${DEPUTY_STB_INCLUDE})
  target_link_libraries(deputy_tool PRIVATE deputy deputy_litert_objects deputy_ms deputy_interposer deputy_record CLI11::CLI11 nlohmann_json::nlohmann_json)
  deputy_compile_together(deputy_tool)
  # The command is not optimised for speed, because performance-critical code is in the library.
  # -fPIC matches the targets that share the precompiled headers.
  if(DEPUTY_SANITIZE)
    target_compile_options(deputy_tool PRIVATE -O0)
    target_precompile_headers(deputy_tool PRIVATE ${standard_headers})
  else()
    target_compile_options(deputy_tool PRIVATE ${host_flags} -fPIC)
    target_precompile_headers(deputy_tool REUSE_FROM ${host_headers})
  endif()
  deputy_find_libraries_from(deputy_tool ${CMAKE_INSTALL_FULL_BINDIR})
endif()
