# SPDX-License-Identifier: Apache-2.0
#
# The bridge to ONNX Runtime, whose library is opened when a delegate is created, so that there is
# no link-time dependency.
file(GLOB onnxruntime_sources CONFIGURE_DEPENDS bridges/onnxruntime/*.cc)
deputy_add_delegate(deputy_onnxruntime SOURCES ${onnxruntime_sources} LINKS ${CMAKE_DL_LIBS}
                    DEFINITIONS DEPUTY_ONNXRUNTIME_VERSION="${PROJECT_VERSION}")
target_include_directories(deputy_onnxruntime PRIVATE ${PROJECT_SOURCE_DIR})
deputy_compile_together(deputy_onnxruntime)
