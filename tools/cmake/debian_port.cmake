# SPDX-License-Identifier: Apache-2.0
#
# Common part of the toolchain files armv7.cmake and riscv64.cmake: Debian's cross compiler and QEMU
# (tools/packages-ports.txt). They set CMAKE_SYSTEM_PROCESSOR, port_triple, the prefix of the compiler,
# and port_emulator, the command that runs a program.
#
# DEPUTY_PORT_ROOT is a Debian of that architecture with the libraries that the tests link, as made by
# tools/arm_root.sh. Without it only the library, the command and the plug-ins without dependencies can
# be built (DEPUTY_BUILD_TESTS=OFF).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${port_triple}-gcc)
set(CMAKE_CXX_COMPILER ${port_triple}-g++)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DEPUTY_PORT_ROOT)

set(DEPUTY_PORT_ROOT "" CACHE PATH "Root of a Debian with the libraries of the tests")
if(DEPUTY_PORT_ROOT)
  set(CMAKE_SYSROOT ${DEPUTY_PORT_ROOT})
  set(port_libraries ${DEPUTY_PORT_ROOT})
  # Static libraries of the root require its C library, which may be newer than the compiler's.
  foreach(kind EXE SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT -L${DEPUTY_PORT_ROOT}/usr/lib/${port_triple})
  endforeach()
else()
  set(port_libraries /usr/${port_triple})
endif()
set(CMAKE_LIBRARY_ARCHITECTURE ${port_triple})
set(CMAKE_CROSSCOMPILING_EMULATOR ${port_emulator} -L ${port_libraries})
# Programs of the build come from this machine, libraries and headers from the other.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${DEPUTY_PORT_ROOT}")
set(ENV{PKG_CONFIG_LIBDIR}
    "${DEPUTY_PORT_ROOT}/usr/lib/${port_triple}/pkgconfig:${DEPUTY_PORT_ROOT}/usr/share/pkgconfig")
