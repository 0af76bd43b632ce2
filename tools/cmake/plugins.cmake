# SPDX-License-Identifier: Apache-2.0
#
# Delegate libraries for the tests, included by tests.cmake: the sources of tests/plugins, each in
# one variant per list of definitions. They are built in <build>/tests/plugins.
set(plugin_dir ${PROJECT_BINARY_DIR}/tests/plugins)
add_custom_target(test_plugins)
add_dependencies(test_plugins deputy_cpu deputy_npu_stub npu_device)  # opened by path, like these
if(TARGET deputy_xnnpack)
  add_dependencies(test_plugins deputy_xnnpack)
endif()

# A test double of Qualcomm's library, which the tests of its delegate open by path.
file(GLOB hexagon_double_sources CONFIGURE_DEPENDS tests/doubles/hexagon/*.cc)
add_library(hexagon_double MODULE ${hexagon_double_sources})
target_include_directories(hexagon_double PRIVATE ${PROJECT_SOURCE_DIR})
set_target_properties(hexagon_double PROPERTIES OUTPUT_NAME hexagon_interface
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/doubles/hexagon)
add_dependencies(test_plugins hexagon_double deputy_hexagon)

# Test doubles of a dispatch plug-in and a compiler plug-in for LiteRT, in folders of their own.
add_library(litert_dispatch_double MODULE tests/doubles/litert/dispatch.c)
target_include_directories(litert_dispatch_double PRIVATE ${PROJECT_SOURCE_DIR}/litert/include)
set_target_properties(litert_dispatch_double PROPERTIES OUTPUT_NAME LiteRtDispatch_Double
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/doubles/litert)
add_library(litert_compiler_double MODULE tests/doubles/litert/compiler.c)
target_include_directories(litert_compiler_double PRIVATE ${PROJECT_SOURCE_DIR}/litert/include)
set_target_properties(litert_compiler_double PROPERTIES OUTPUT_NAME LiteRtCompilerPlugin_Double
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/doubles/litert_compiler)
add_dependencies(test_plugins litert_dispatch_double litert_compiler_double deputy_litert npu_stub_litert_compiler
                 npu_stub_litert_dispatch)

# A test double of ONNX Runtime's library for the tests of its bridge.
deputy_add_delegate(onnxruntime_double SOURCES tests/doubles/onnxruntime/double.c
                    EXPORTS OrtGetApiBase OrtDoubleAlive OrtDoubleFail OrtDoubleHide OrtDoubleModel
                            OrtDoubleReset OrtDoubleRuns OrtDoubleSetVersion OrtDoubleText
                    LINKS Threads::Threads m)
target_include_directories(onnxruntime_double PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(onnxruntime_double PRIVATE -fvisibility=default)
set_target_properties(onnxruntime_double PROPERTIES OUTPUT_NAME onnxruntime
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/doubles)
add_dependencies(test_plugins onnxruntime_double deputy_onnxruntime)

# deputy_add_plugin(<name> <source> [<definition>...] [SOURCES <more>...] [LINKS <library>...]
#                   [UNDEFINED_SYMBOLS])
function(deputy_add_plugin name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "UNDEFINED_SYMBOLS" "" "SOURCES;LINKS")
  set(undefined "")
  if(arg_UNDEFINED_SYMBOLS)
    set(undefined UNDEFINED_SYMBOLS)
  endif()
  deputy_add_delegate(plugin_${name} SOURCES tests/plugins/${source} ${arg_SOURCES}
                      DEFINITIONS ${arg_UNPARSED_ARGUMENTS} LINKS ${arg_LINKS} ${undefined})
  set_target_properties(plugin_${name} PROPERTIES OUTPUT_NAME ${name}
                        LIBRARY_OUTPUT_DIRECTORY ${plugin_dir})
  add_dependencies(test_plugins plugin_${name})
endfunction()

deputy_add_plugin(elementwise elementwise.c)
foreach(delta -8 0 8)
  deputy_add_plugin(described${delta} elementwise.c DESCRIBED_SIZE_DELTA=${delta})
endforeach()
deputy_add_plugin(described_wrong_major elementwise.c DESCRIBED_SIZE_DELTA=0
                  DESCRIBED_VERSION=0x20003)
deputy_add_plugin(described_newer_minor elementwise.c DESCRIBED_SIZE_DELTA=8
                  DESCRIBED_VERSION=0x10009)
deputy_add_plugin(described_first_release elementwise.c DESCRIBED_SIZE_DELTA=0
                  DESCRIBED_SIZE=offsetof\(DeputyDelegatePlugin,list_devices\))
deputy_add_plugin(described_too_small elementwise.c DESCRIBED_SIZE_DELTA=0 DESCRIBED_SIZE=64)
deputy_add_plugin(described_empty elementwise.c DESCRIBED_SIZE_DELTA=0 DESCRIBED_SIZE=0)
deputy_add_plugin(devices elementwise.c DESCRIBED_SIZE_DELTA=0 WITH_DEVICE_OPTION)
deputy_add_plugin(handles handles.c)
# The delegate of delegate_helper_test, which links nothing, so that it also loads elsewhere.
deputy_add_plugin(element element.c SOURCES tests/support/element_delegate.c)
target_include_directories(plugin_element PRIVATE ${PROJECT_SOURCE_DIR})
# `compiled` executes partitions through the reference code of the compiler.
deputy_add_plugin(compiled compiled.cc LINKS deputy_compiler)
deputy_add_plugin(compiled_copies compiled.cc COPIES_CONSTANTS LINKS deputy_compiler)
deputy_add_plugin(shared_texts shared_texts.cc)
deputy_add_plugin(node_events node_events.cc)
deputy_add_plugin(waiting waiting.cc)
deputy_add_plugin(hooks hooks.cc)
deputy_add_plugin(providing providing.cc)
deputy_add_plugin(nchw nchw.cc)
deputy_add_plugin(exchanging exchanging.cc _GNU_SOURCE)
deputy_add_plugin(relay relay.c)
deputy_add_plugin(mask mask.c)
deputy_add_plugin(recorder recorder.c _GNU_SOURCE LINKS ${CMAKE_DL_LIBS})
foreach(option frequency precision)
  deputy_add_plugin(described_${option} recorder.c _GNU_SOURCE DECLARES="${option}"
                    LINKS ${CMAKE_DL_LIBS})
endforeach()
deputy_add_plugin(throwing throwing.cc)
deputy_add_plugin(failing failing.c)
deputy_add_plugin(wrong wrong.c)
deputy_add_plugin(faulty faulty.c _GNU_SOURCE)
deputy_add_plugin(varying varying.c)
add_dependencies(plugin_faulty deputy_sandbox deputy_layers deputy_replay)
deputy_add_plugin(crashing crashing.c)
deputy_add_plugin(exiting crashing.c EXIT_CODE=3)
deputy_add_plugin(lingering_thread lingering.c THREAD _GNU_SOURCE LINKS Threads::Threads)
deputy_add_plugin(lingering_key lingering.c _GNU_SOURCE LINKS Threads::Threads)

# `all_tables` contains every kind of symbol table that the loader reads.
deputy_add_plugin(all_tables elementwise.c)
target_link_options(plugin_all_tables PRIVATE -Wl,--hash-style=both -Wl,-z,lazy)
if(NOT DEPUTY_ZIG)  # zig does not pass this option to its linker
  target_link_options(plugin_all_tables PRIVATE -Wl,-z,pack-relative-relocs)
endif()

# `large_pages` also loads on machines with pages of 64 KiB.
deputy_add_plugin(large_pages elementwise.c)
target_link_options(plugin_large_pages PRIVATE -Wl,-z,max-page-size=65536)

# `opaque` gets the runtime's functions from the library to which the plug-in is linked.
deputy_add_plugin(opaque opaque.c LINKS deputy)
foreach(version 1.0.0 1.7.2 2.0.0)
  deputy_add_plugin(stable_${version} opaque.c STABLE_VERSION="${version}" LINKS deputy)
endforeach()

# `npu_recorder` is not a delegate: it is the NPU stub's device, which records its calls.
deputy_add_delegate(plugin_npu_recorder SOURCES tests/plugins/npu_recorder.c
                    DEFINITIONS _POSIX_C_SOURCE=200809L EXPORTS npu_device_api LINKS deputy_npu_objects)
set_target_properties(plugin_npu_recorder PROPERTIES OUTPUT_NAME npu_recorder
                      LIBRARY_OUTPUT_DIRECTORY ${plugin_dir})
add_dependencies(test_plugins plugin_npu_recorder)

# `virtual_clock` is not a delegate: it is a clock for LD_PRELOAD.
deputy_add_delegate(plugin_virtual_clock SOURCES tests/plugins/virtual_clock.c DEFINITIONS _GNU_SOURCE
                    EXPORTS clock_gettime nanosleep clock_nanosleep)
target_compile_options(plugin_virtual_clock PRIVATE -fvisibility=default)
set_target_properties(plugin_virtual_clock PROPERTIES OUTPUT_NAME virtual_clock
                      LIBRARY_OUTPUT_DIRECTORY ${plugin_dir})
add_dependencies(test_plugins plugin_virtual_clock)

# `custom_ops` contains custom operators for the Python tests.
deputy_add_delegate(plugin_custom_ops SOURCES tests/plugins/custom_ops.c EXPORTS BusyDelegate
                    RegisterCallback RegisterDouble RegisterFailing SetDuringInvoke LINKS deputy)
set_target_properties(plugin_custom_ops PROPERTIES OUTPUT_NAME custom_ops
                      LIBRARY_OUTPUT_DIRECTORY ${plugin_dir})
add_dependencies(test_plugins plugin_custom_ops)

deputy_add_plugin(no_destroy broken.c)
deputy_add_plugin(no_create broken.c NO_CREATE)
deputy_add_plugin(null_result broken.c NULL_RESULT)
foreach(symbol __asan_init __tsan_init __msan_init __ubsan_handle_add_overflow)
  deputy_add_plugin(undefined${symbol} broken.c UNDEFINED=${symbol} UNDEFINED_SYMBOLS)
endforeach()
deputy_add_plugin(undefined_function broken.c UNDEFINED=nobody_has_this_function UNDEFINED_SYMBOLS)

# `needs_absent` needs a library that is outside of the loader's search path.
# An OpenCL library that counts calls, for tests of libLiteRt.so.
find_library(DEPUTY_OPENCL_LOADER NAMES OpenCL libOpenCL.so.1)
mark_as_advanced(DEPUTY_OPENCL_LOADER)
if(DEPUTY_OPENCL_INCLUDE AND DEPUTY_OPENCL_LOADER AND NOT CMAKE_CROSSCOMPILING)
  add_library(opencl_counter SHARED tests/litert/programs/opencl_counter.c)
  target_include_directories(opencl_counter SYSTEM PRIVATE ${DEPUTY_OPENCL_INCLUDE})
  target_link_libraries(opencl_counter PRIVATE -Wl,--no-as-needed ${DEPUTY_OPENCL_LOADER} ${CMAKE_DL_LIBS})
  set_target_properties(opencl_counter PROPERTIES C_VISIBILITY_PRESET default
                        LIBRARY_OUTPUT_DIRECTORY ${plugin_dir})
  add_dependencies(test_plugins opencl_counter)
endif()

add_library(plugin_absent SHARED tests/plugins/absent.c)
set_target_properties(plugin_absent PROPERTIES OUTPUT_NAME absent
                      LIBRARY_OUTPUT_DIRECTORY ${plugin_dir}/elsewhere)
deputy_add_plugin(needs_absent broken.c NEEDS=absent_function LINKS plugin_absent)
set_target_properties(plugin_needs_absent PROPERTIES SKIP_BUILD_RPATH ON)

# `needs_ubsan` depends on a library with the name and a function of a sanitizer's runtime.
add_library(plugin_ubsan_double SHARED tests/plugins/absent.c)
set_target_properties(plugin_ubsan_double PROPERTIES OUTPUT_NAME ubsan_double
                      LIBRARY_OUTPUT_DIRECTORY ${plugin_dir})
target_compile_definitions(plugin_ubsan_double PRIVATE
                           absent_function=__ubsan_handle_add_overflow)
deputy_add_plugin(needs_ubsan broken.c UNDEFINED=__ubsan_handle_add_overflow
                  LINKS plugin_ubsan_double)

# Each `wrong_` plug-in violates one rule, for `deputy certify` to detect.
foreach(wrong Nothing Nan Infinity Overwrite Leak LeakKernel Hang CrashResize Slow Exit EmptyHanded)
  string(TOLOWER ${wrong} name)
  deputy_add_plugin(wrong_${name} misbehaving.c WRONG=k${wrong} _DEFAULT_SOURCE)
endforeach()

# `nnapi_double` is not a delegate: it is a test double of NNAPI's library for the tests of its
# bridge.
add_library(nnapi_double MODULE tests/doubles/nnapi/double.cc tests/doubles/nnapi/kernels.cc
            tests/doubles/nnapi/check.cc)
target_include_directories(nnapi_double PRIVATE ${PROJECT_SOURCE_DIR})
file(WRITE ${PROJECT_BINARY_DIR}/generated/delegates/nnapi_double.map
     "{ global: ANeuralNetworks*; NnapiDouble*; local: *; };\n")
target_compile_options(nnapi_double PRIVATE -fvisibility=default)
target_link_options(nnapi_double PRIVATE
                    -Wl,--version-script=${PROJECT_BINARY_DIR}/generated/delegates/nnapi_double.map)
target_link_libraries(nnapi_double PRIVATE Threads::Threads)
set_target_properties(nnapi_double PROPERTIES OUTPUT_NAME neuralnetworks
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/doubles)
add_dependencies(test_plugins nnapi_double deputy_nnapi)
