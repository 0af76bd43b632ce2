# SPDX-License-Identifier: Apache-2.0
#
# Toolchain file for 32-bit ARM with hardware floating point, Debian's armhf (docs/platforms.md):
#
#   cmake -S . -B build/armv7 --toolchain tools/cmake/armv7.cmake -DDEPUTY_PORT_ROOT=DIR
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(port_triple arm-linux-gnueabihf)
set(port_emulator qemu-arm -cpu max)
include(${CMAKE_CURRENT_LIST_DIR}/debian_port.cmake)
