# SPDX-License-Identifier: Apache-2.0
#
# The delegate for Qualcomm's Hexagon, which uses public headers only. It opens the vendor's library
# at run time, so it is built on every system.
file(GLOB hexagon_sources CONFIGURE_DEPENDS bridges/hexagon/*.cc)
deputy_add_delegate(deputy_hexagon SOURCES ${hexagon_sources} LINKS ${CMAKE_DL_LIBS}
                    DEFINITIONS DEPUTY_HEXAGON_VERSION="${PROJECT_VERSION}")
target_include_directories(deputy_hexagon PRIVATE ${PROJECT_SOURCE_DIR})
