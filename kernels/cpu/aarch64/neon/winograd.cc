// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/common/winograd.inc"

namespace deputy {

constexpr WinogradF32Kernels kWinogradF32Neon = WinogradNamed("neon");

}  // namespace deputy
