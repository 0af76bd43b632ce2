# SPDX-License-Identifier: Apache-2.0
#
# The file of a delegate's recorded calls, for the layer that records, the command and the tests.
file(GLOB record_sources CONFIGURE_DEPENDS bridges/layers/record/record_*.cc)
add_library(deputy_record STATIC ${record_sources})
target_include_directories(deputy_record PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_options(deputy_record PRIVATE ${host_flags})
target_precompile_headers(deputy_record REUSE_FROM ${host_headers})
