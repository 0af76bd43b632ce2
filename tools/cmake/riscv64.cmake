# SPDX-License-Identifier: Apache-2.0
#
# Toolchain file for 64-bit RISC-V, Debian's riscv64 (docs/platforms.md):
#
#   cmake -S . -B build/riscv64 --toolchain tools/cmake/riscv64.cmake -DDEPUTY_PORT_ROOT=DIR
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(port_triple riscv64-linux-gnu)
set(port_emulator qemu-riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/debian_port.cmake)
