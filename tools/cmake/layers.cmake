# SPDX-License-Identifier: Apache-2.0
#
# The delegate that passes the calls of another delegate through layers, and the one that replays
# the record of the layer `record`. They do not link libdeputy, so that they load into TensorFlow
# Lite, too.
file(GLOB layers_sources CONFIGURE_DEPENDS bridges/layers/*.cc)
# The interposer, and the descriptions of calls; the command links them, too.
set(interposer_sources bridges/layers/async_kernel.cc bridges/layers/error_texts.cc
                       bridges/layers/graph_calls.cc bridges/layers/interposer.cc
                       bridges/layers/record_calls.cc bridges/layers/recording.cc)
list(TRANSFORM interposer_sources PREPEND ${PROJECT_SOURCE_DIR}/)
list(REMOVE_ITEM layers_sources ${interposer_sources})
add_library(deputy_interposer STATIC ${interposer_sources} core/base/delegate_call.cc
                                     core/base/foreign_call.cc)
target_include_directories(deputy_interposer PUBLIC ${PROJECT_SOURCE_DIR}
                           PRIVATE ${client_include_dir})
target_link_libraries(deputy_interposer PUBLIC deputy_record)
target_compile_options(deputy_interposer PRIVATE ${host_flags})
target_precompile_headers(deputy_interposer REUSE_FROM ${host_headers})

deputy_add_delegate(deputy_layers SOURCES ${layers_sources}
                    EXPORTS DeputyLayers*
                    LINKS deputy_interposer ${CMAKE_DL_LIBS} Threads::Threads
                    DEFINITIONS DEPUTY_LAYERS_VERSION="${PROJECT_VERSION}")
add_dependencies(deputy_layers deputy_sandbox)
add_dependencies(command deputy_layers)

file(GLOB replay_sources CONFIGURE_DEPENDS bridges/replay/*.cc)
deputy_add_delegate(deputy_replay SOURCES ${replay_sources} LINKS deputy_interposer
                    DEFINITIONS DEPUTY_REPLAY_VERSION="${PROJECT_VERSION}")
add_dependencies(command deputy_replay)
