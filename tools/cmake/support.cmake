# SPDX-License-Identifier: Apache-2.0
#
# core/support: an archive for the libraries, delegates and tools. Users link the members that they
# need and hide their symbols. The files are not compiled together, so that each is a member.
file(GLOB support_code CONFIGURE_DEPENDS core/support/*.cc)
add_library(deputy_support STATIC ${support_code})
target_include_directories(deputy_support PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(deputy_support PRIVATE deputy_schema)
target_compile_options(deputy_support PRIVATE ${host_flags} ${without_gaps})
target_precompile_headers(deputy_support REUSE_FROM ${host_headers})
