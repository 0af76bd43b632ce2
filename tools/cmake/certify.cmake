# SPDX-License-Identifier: Apache-2.0
#
# deputy-certify, which `deputy certify` executes: the conformance kit as a separate program. Its
# cases take longer to compile than the command, so it is part of `all` but not of `command`, which
# `make run` builds. Included by tests.cmake, which defines the kit.
if(TARGET deputy_tool)
  file(GLOB certify_sources CONFIGURE_DEPENDS tools/certify/*.cc)
  add_executable(deputy-certify ${certify_sources} tools/escape.cc tools/json.cc tools/text.cc
                 tools/user_file.cc)
  target_link_libraries(deputy-certify PRIVATE deputy_conformance deputy nlohmann_json::nlohmann_json)
  target_compile_options(deputy-certify PRIVATE ${test_flags})
  deputy_compile_together(deputy-certify 10 tools/certify)
  get_target_property(certify_rpath deputy_tool INSTALL_RPATH)
  if(certify_rpath)
    set_target_properties(deputy-certify PROPERTIES INSTALL_RPATH "${certify_rpath}")
  endif()
  add_dependencies(all_tests deputy-certify)
  install(TARGETS deputy-certify RUNTIME)
endif()
