// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/groups.h"
#include "kernels/vector/loops.inc"

namespace deputy {

constexpr VectorKernels kVectorGeneric = TableNamed("generic");

}  // namespace deputy
