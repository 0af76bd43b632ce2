# SPDX-License-Identifier: Apache-2.0
#
# libdeputy_delegate_support.a: the functions of common.h (TfLiteIntArrayCreate, TfLiteTensorRealloc,
# …) for delegates that are loaded into another runtime, which does not export them. A delegate that
# links it does not export them either.
add_library(deputy_delegate_support STATIC c_api/abi/common.cc c_api/abi/process_memory.cc)
set_target_properties(deputy_delegate_support PROPERTIES EXPORT_NAME delegate_support)
target_include_directories(deputy_delegate_support PRIVATE ${PROJECT_SOURCE_DIR}
                           INTERFACE $<BUILD_INTERFACE:${client_include_dir}>)
# Without the attribute of the header the functions have the hidden visibility of this build.
target_compile_definitions(deputy_delegate_support PRIVATE TFL_CAPI_EXPORT=)
target_compile_options(deputy_delegate_support PRIVATE ${host_flags} ${without_gaps})
add_dependencies(command deputy_delegate_support)
