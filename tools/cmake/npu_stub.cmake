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

# The device in LiteRT's dialect: a compiler plug-in and a dispatch plug-in. They are C99; LiteRT's
# headers have unnamed unions, which are C11, and are therefore system headers here.
set(extra_dispatch_sources npu_stub/litert/tasks.c)
foreach(kind compiler dispatch)
  deputy_add_delegate(npu_stub_litert_${kind} SOURCES npu_stub/litert/${kind}_plugin.c ${extra_${kind}_sources}
                      EXPORTS LiteRt* LINKS deputy_npu_objects)
  target_include_directories(npu_stub_litert_${kind} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(npu_stub_litert_${kind} SYSTEM PRIVATE
                             ${PROJECT_SOURCE_DIR}/litert/include)
  target_compile_options(npu_stub_litert_${kind} PRIVATE -Wconversion)
  target_compile_definitions(npu_stub_litert_${kind} PRIVATE _POSIX_C_SOURCE=200809L)
  set_target_properties(npu_stub_litert_${kind} PROPERTIES C_STANDARD 99
                        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/litert/npu_stub)
endforeach()
set_target_properties(npu_stub_litert_compiler PROPERTIES OUTPUT_NAME LiteRtCompilerPlugin_NpuStub)
set_target_properties(npu_stub_litert_dispatch PROPERTIES OUTPUT_NAME LiteRtDispatch_NpuStub)
