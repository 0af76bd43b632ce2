# SPDX-License-Identifier: Apache-2.0
#
# Toolchain file for AArch64 with Debian's cross compiler and QEMU (tools/packages-arm.txt):
#
#   cmake -S . -B build/aarch64 --toolchain tools/cmake/aarch64.cmake -DDEPUTY_ARM_ROOT=DIR
#
# DEPUTY_ARM_ROOT is an arm64 Debian with the packages that the tests link, as made by
# tools/arm_root.sh. Without it only the library, the command and the plug-ins without dependencies
# can be built (DEPUTY_BUILD_TESTS=OFF). DEPUTY_ARM_CPU is the processor that QEMU emulates in tests.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DEPUTY_ARM_ROOT)

set(DEPUTY_ARM_CPU max CACHE STRING "QEMU's name of the processor that tests run on")
set(DEPUTY_ARM_ROOT "" CACHE PATH "Root of an arm64 Debian with the libraries of the tests")
if(DEPUTY_ARM_ROOT)
  set(CMAKE_SYSROOT ${DEPUTY_ARM_ROOT})
  set(arm_libraries ${DEPUTY_ARM_ROOT})
else()
  set(arm_libraries /usr/aarch64-linux-gnu)
endif()
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${arm_libraries} -cpu ${DEPUTY_ARM_CPU})
# Programs of the build come from this machine, libraries and headers from the other.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${DEPUTY_ARM_ROOT}")
set(ENV{PKG_CONFIG_LIBDIR}
    "${DEPUTY_ARM_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${DEPUTY_ARM_ROOT}/usr/share/pkgconfig")
