// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/groups.h"
#include "kernels/vector/loops.inc"

namespace deputy {

constexpr VectorKernels kVectorAvx2 = TableNamed("avx2");

}  // namespace deputy
