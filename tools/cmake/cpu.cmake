# SPDX-License-Identifier: Apache-2.0
#
# Deputy's CPU kernels as a delegate, for programs that use another TensorFlow Lite. Unlike other
# delegates it contains the engine: it links the required objects of libdeputy and hides their
# symbols.
file(GLOB cpu_sources CONFIGURE_DEPENDS bridges/cpu/*.cc)
# A unity file may contain other functions of the C API whose names begin with DeputyCpu.
deputy_add_delegate(deputy_cpu SOURCES ${cpu_sources}
                    EXPORTS DeputyCpuDelegate* DeputyCpuLastError DeputyCpuOptionsDefault
                    LINKS deputy_static)
target_include_directories(deputy_cpu PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(deputy_cpu PRIVATE DEPUTY_CPU_VERSION="${PROJECT_VERSION}")
target_link_options(deputy_cpu PRIVATE -Wl,-Bsymbolic -Wl,--as-needed -Wl,-z,relro -Wl,-z,now)
