# SPDX-License-Identifier: Apache-2.0
#
# The bridge to NNAPI, whose library is opened when a delegate is created, so that there is no
# link-time dependency.
file(GLOB nnapi_sources CONFIGURE_DEPENDS bridges/nnapi/*.cc)
deputy_add_delegate(deputy_nnapi SOURCES ${nnapi_sources} LINKS ${CMAKE_DL_LIBS})
target_include_directories(deputy_nnapi PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(deputy_nnapi PRIVATE DEPUTY_NNAPI_VERSION="${PROJECT_VERSION}")
deputy_compile_together(deputy_nnapi)
