# SPDX-License-Identifier: Apache-2.0
#
# The NPU stub, in C11: an archive for its tests, the delegate, and its device as a separate
# library, as a vendor would supply it.
file(GLOB npu_sources CONFIGURE_DEPENDS npu_stub/*.c)
list(FILTER npu_sources EXCLUDE REGEX "/plugin.c$")
add_library(deputy_npu_objects STATIC ${npu_sources})
target_include_directories(deputy_npu_objects PUBLIC ${PROJECT_SOURCE_DIR} ${client_include_dir})
target_compile_definitions(deputy_npu_objects PRIVATE _POSIX_C_SOURCE=200809L)
target_compile_options(deputy_npu_objects PRIVATE -Wconversion)
target_link_libraries(deputy_npu_objects PUBLIC Threads::Threads ${CMAKE_DL_LIBS} m)

deputy_add_delegate(deputy_npu_stub SOURCES npu_stub/plugin.c LINKS deputy_npu_objects)
target_compile_options(deputy_npu_stub PRIVATE -Wconversion)
add_dependencies(command deputy_npu_stub)

deputy_add_delegate(npu_device SOURCES npu_stub/device.c LINKS deputy_npu_objects
                    EXPORTS npu_device_api)
target_compile_definitions(npu_device PRIVATE _POSIX_C_SOURCE=200809L)
