# SPDX-License-Identifier: Apache-2.0
#
# The delegate that passes the calls of another delegate through layers. It links nothing of
# libdeputy, so that it loads into TensorFlow Lite, too.
file(GLOB layers_sources CONFIGURE_DEPENDS bridges/layers/*.cc)
deputy_add_delegate(deputy_layers SOURCES ${layers_sources} core/base/delegate_call.cc
                            core/base/foreign_call.cc
                    EXPORTS DeputyLayers*
                    LINKS ${CMAKE_DL_LIBS} Threads::Threads
                    DEFINITIONS DEPUTY_LAYERS_VERSION="${PROJECT_VERSION}")
target_include_directories(deputy_layers PRIVATE ${PROJECT_SOURCE_DIR})
add_dependencies(deputy_layers deputy_sandbox)
add_dependencies(command deputy_layers)
